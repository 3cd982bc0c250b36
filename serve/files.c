/* files.c -- files are translated as long texts, or text by text where there is more in them, and kept for a while to be fetched. */
#include "base/memory.h"
#include "serve/form.h"
#include "serve/order.h"
#include "serve/routes.h"
#include "serve/service.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n > m && strcasecmp(name + n - m, end) == 0;
}

/* A kind of file: text, text with tags, or texts among other things that stay. */
static const struct {
    const char *ending, *markup, *format;
} kinds[] = {
    {.ending = ".txt"},
    {.ending = ".html", .markup = "html"},
    {.ending = ".htm", .markup = "html"},
    {.ending = ".xhtml", .markup = "html"},
    {.ending = ".xml", .markup = "xml"},
    {.ending = ".srt", .format = "srt"},
    {.ending = ".vtt", .format = "vtt"},
    {.ending = ".po", .format = "po"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

const char *hd_files_ending(size_t i)
{
    return i < N_KINDS ? kinds[i].ending : NULL;
}

static void finish_file(struct hd_http *http, struct hd_work *w)
{
    const struct hd_order *o = w->data;
    struct hd_bytes bytes = {0};
    char name[HD_DOWNLOAD_NAME], url[HD_DOWNLOAD_NAME + 400];
    const char *host = hd_http_header(http, MHD_HTTP_HEADER_HOST),
               *proto = http->service->settings->trusts_proxy
                            ? hd_http_header(http, "X-Forwarded-Proto")
                            : NULL;
    if (!o->file)
        hd_order_write(&bytes, o, w, 0, 0);
    else if (!hd_order_write_file(&bytes, o, w, &w->err)) {
        hd_free(bytes.at);
        hd_http_refuse_for(http, &w->err);
        return;
    }
    if (bytes.has_failed || !hd_downloads_put(&http->service->downloads, o->extra, &bytes, name)) {
        hd_free(bytes.at);
        hd_http_refuse(http, MHD_HTTP_INTERNAL_SERVER_ERROR, "the file could not be kept");
        return;
    }
    if (host && strlen(host) < 300)
        snprintf(url, sizeof url, "%s://%s/download_file/%s",
                 proto && strcmp(proto, "https") == 0 ? "https" : "http", host, name);
    else
        snprintf(url, sizeof url, "%s/download_file/%s", http->service->address, name);
    hd_http_say_json(http, MHD_HTTP_OK, json_pack("{s: s}", "translatedFileUrl", url));
}

/* The order of a file, with its name. NULL with the request refused. */
static struct hd_order *order_of(struct hd_http *http)
{
    const json_t *file = json_object_get(http->form, "file");
    const char *name = hd_form_text(http->form, "file.filename");
    if (!json_is_string(file) || !name) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Invalid request: missing file parameter");
        return NULL;
    }
    const char *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    size_t kind = 0;
    while (kind < N_KINDS && !ends_in(name, kinds[kind].ending))
        kind++;
    const bool is_known = kind < N_KINDS;
    if (!*name || (is_known && json_string_length(file) == 0))
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Invalid request: empty file");
    else if (!is_known)
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Invalid request: file format not supported");
    if (http->status != 0)
        return NULL;
    struct hd_order *o = kinds[kind].format
                             ? hd_order_new_file(http, file, "file", kinds[kind].format)
                             : hd_order_new(http, file, "file", kinds[kind].markup);
    if (o && !(o->extra = hd_copy_string(name, NULL))) {
        hd_order_free(o);
        return NULL;
    }
    return o;
}

void hd_files_translate(struct hd_http *http)
{
    if (!http->service->settings->has_files) {
        hd_http_refuse(http, MHD_HTTP_FORBIDDEN, "Files translation are disabled on this server.");
        return;
    }
    const char *source = hd_form_text(http->form, "source"),
               *target = hd_form_text(http->form, "target");
    if (!source || !target) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Invalid request: missing %s parameter",
                       source ? "target" : "source");
        return;
    }
    struct hd_order *o = order_of(http);
    if (!o)
        return;
    struct hd_fleet *fleet = hd_fleets_use(&http->service->fleets);
    bool is_same;
    struct hd_served *d = hd_order_direction(http, o, fleet, source, target, &is_same);
    if (d || is_same)
        hd_order_submit(http, o, fleet, d, finish_file);
    else {
        hd_fleets_leave(&http->service->fleets, fleet);
        hd_order_free(o);
    }
}

void hd_files_download(struct hd_http *http)
{
    const char *name = http->path + strlen("/download_file/");
    if (strchr(name, '/') || strstr(name, "..")) {
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Invalid filename");
        return;
    }
    if (!hd_downloads_get(&http->service->downloads, name, &http->answer)) {
        hd_http_refuse(http, MHD_HTTP_NOT_FOUND, "there is no such file, or no more");
        return;
    }
    http->status = MHD_HTTP_OK;
    http->type = "application/octet-stream";
    const char *dot = strchr(name, '.');
    http->file_name = dot ? dot + 1 : name;
}
