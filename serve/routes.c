/* routes.c -- the table of addresses. */
#include "serve/routes.h"

#include "serve/service.h"

#include <string.h>

static const struct hd_route routes[] = {
    {"/translate", HD_ROUTE_POST | HD_ROUTE_KEY, hd_libre_translate},
    {"/detect", HD_ROUTE_POST | HD_ROUTE_KEY, hd_libre_detect},
    {"/languages", HD_ROUTE_GET, hd_libre_languages},
    {"/frontend/settings", HD_ROUTE_GET, hd_libre_settings},
    {"/suggest", HD_ROUTE_POST | HD_ROUTE_KEY, hd_libre_suggest},
    {"/health", HD_ROUTE_GET, hd_libre_health},
    {"/spec", HD_ROUTE_GET, hd_page_spec},
    {"/metrics", HD_ROUTE_GET | HD_ROUTE_KEY, hd_libre_metrics},
    {"/translate_file", HD_ROUTE_POST | HD_ROUTE_KEY, hd_files_translate},
    {"/download_file/", HD_ROUTE_GET | HD_ROUTE_BELOW, hd_files_download},
    {"/v2/translate", HD_ROUTE_POST | HD_ROUTE_KEY | HD_ROUTE_DEEPL, hd_deepl_translate},
    {"/v2/languages", HD_ROUTE_GET | HD_ROUTE_POST | HD_ROUTE_KEY | HD_ROUTE_DEEPL,
     hd_deepl_languages},
    {"/v2/usage", HD_ROUTE_GET | HD_ROUTE_POST | HD_ROUTE_KEY | HD_ROUTE_DEEPL, hd_deepl_usage},
    {"/heed/translate", HD_ROUTE_POST | HD_ROUTE_KEY, hd_own_translate},
    {"/heed/align", HD_ROUTE_POST | HD_ROUTE_KEY, hd_own_align},
    {"/heed/score", HD_ROUTE_POST | HD_ROUTE_KEY, hd_own_score},
    {"/heed/model", HD_ROUTE_GET, hd_own_model},
    {"/heed/memory", HD_ROUTE_GET | HD_ROUTE_DELETE | HD_ROUTE_KEY, hd_own_memory},
    {"/heed/plot", HD_ROUTE_POST | HD_ROUTE_KEY, hd_own_plot},
    {"/", HD_ROUTE_GET, hd_page_serve},
    {"/web/", HD_ROUTE_GET | HD_ROUTE_BELOW, hd_page_serve},
};

const struct hd_route *hd_route_find(const char *path)
{
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        const struct hd_route *r = &routes[i];
        const bool is_it = r->flags & HD_ROUTE_BELOW ? strncmp(path, r->path, strlen(r->path)) == 0
                                                     : strcmp(path, r->path) == 0;
        if (is_it)
            return r;
    }
    return NULL;
}
