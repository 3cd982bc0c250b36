/* page.c -- the page's files are read-only data of the module, packed once when it starts. */
#include "serve/page.h"

#include "base/file.h"
#include "base/memory.h"
#include "serve/service.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#ifdef __APPLE__
#define SECTION      ".const_data"
#define SYMBOL(name) "_" #name
#else
#define SECTION      ".section .rodata,\"a\""
#define SYMBOL(name) #name
#endif

/* Where the files are when this is compiled: the Makefile takes comments and indentation out first. */
#ifndef HD_WEB
#define HD_WEB "web/"
#endif

/* The assembler reads the file. */
#define EMBED(name, file)                                                                   \
    __asm__(SECTION "\n.globl " SYMBOL(name) "\n.globl " SYMBOL(name##_end) "\n" SYMBOL(    \
        name) ":\n.incbin \"" HD_WEB file "\"\n" SYMBOL(name##_end) ":\n.byte 0\n.text\n"); \
    extern const char name[] __attribute__((visibility("hidden"))),                         \
        name##_end[] __attribute__((visibility("hidden")))

EMBED(hd_web_index, "index.html");
EMBED(hd_web_style, "page.css");
EMBED(hd_web_icon, "icon.svg");
EMBED(hd_web_spec, "spec.json");
#define SCRIPT(name) EMBED(hd_web_##name, #name ".js")
SCRIPT(page);
SCRIPT(ask);
SCRIPT(choices);
SCRIPT(compare);
SCRIPT(dom);
SCRIPT(formulas);
SCRIPT(heads);
SCRIPT(lines);
SCRIPT(matrix);
SCRIPT(memory);
SCRIPT(panes);
SCRIPT(past);
SCRIPT(save);
SCRIPT(sentence);
SCRIPT(state);
SCRIPT(steps);
SCRIPT(table);
SCRIPT(tree);
SCRIPT(views);

#define HTML "text/html; charset=utf-8"
#define CSS  "text/css; charset=utf-8"
#define JS   "text/javascript; charset=utf-8"
#define SVG  "image/svg+xml"

#define ROW(path, file, type, name)                          \
    {                                                        \
        path, file, type, hd_web_##name, hd_web_##name##_end \
    }
#define SCRIPT_ROW(name) ROW("/web/" #name ".js", #name ".js", JS, name)

static const struct {
    const char *path, *file, *type, *begin, *end;
} files[] = {
    ROW("/", "index.html", HTML, index),
    ROW("/web/page.css", "page.css", CSS, style),
    ROW("/web/icon.svg", "icon.svg", SVG, icon),
    SCRIPT_ROW(page),
    SCRIPT_ROW(ask),
    SCRIPT_ROW(choices),
    SCRIPT_ROW(compare),
    SCRIPT_ROW(dom),
    SCRIPT_ROW(formulas),
    SCRIPT_ROW(heads),
    SCRIPT_ROW(lines),
    SCRIPT_ROW(matrix),
    SCRIPT_ROW(memory),
    SCRIPT_ROW(panes),
    SCRIPT_ROW(past),
    SCRIPT_ROW(save),
    SCRIPT_ROW(sentence),
    SCRIPT_ROW(state),
    SCRIPT_ROW(steps),
    SCRIPT_ROW(table),
    SCRIPT_ROW(tree),
    SCRIPT_ROW(views),
};

_Static_assert(sizeof files / sizeof *files == HD_PAGE_FILES,
               "each file of the page has its place");

static void pack(struct hd_bytes *out, const char *data, size_t n)
{
    z_stream z = {0};
    if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    const size_t most = deflateBound(&z, n);
    out->at = hd_alloc(most, 1, NULL);
    z.next_in = (z_const Bytef *)data;
    z.avail_in = (uInt)n;
    z.next_out = (Bytef *)out->at;
    z.avail_out = (uInt)most;
    if (out->at && deflate(&z, Z_FINISH) == Z_STREAM_END)
        out->n = z.total_out;
    deflateEnd(&z);
}

void hd_page_init(struct hd_page *p)
{
    *p = (struct hd_page){0};
    for (int i = 0; i < HD_PAGE_FILES; i++) {
        const size_t n = (size_t)(files[i].end - files[i].begin);
        pack(&p->packed[i], files[i].begin, n);
        snprintf(p->etags[i], sizeof p->etags[i], "\"%08lx-%zx\"",
                 crc32(0, (const Bytef *)files[i].begin, (uInt)n), n);
    }
}

void hd_page_release(struct hd_page *p)
{
    for (int i = 0; i < HD_PAGE_FILES; i++)
        hd_free(p->packed[i].at);
}

/* From a folder it is read each time, so that whoever changes the page sees it at once. */
static void serve_from_folder(struct hd_http *http, const char *folder, int i)
{
    char path[4096];
    heed_error err = {0};
    struct hd_map map = {0};
    snprintf(path, sizeof path, "%s/%s", folder, files[i].file);
    if (hd_map_open(&map, path, &err)) {
        hd_bytes_add(&http->answer, map.data, map.size);
        http->status = MHD_HTTP_OK;
        http->type = files[i].type;
        http->is_page = true;
        hd_map_close(&map);
    } else
        hd_http_refuse(http, MHD_HTTP_NOT_FOUND, "%s", err.message);
}

void hd_page_serve(struct hd_http *http)
{
    const struct hd_serve_settings *s = http->service->settings;
    const struct hd_page *p = &http->service->page;
    int i = 0;
    while (i < HD_PAGE_FILES && strcmp(files[i].path, http->path) != 0)
        i++;
    if (!s->has_page || i == HD_PAGE_FILES) {
        hd_http_refuse(http, MHD_HTTP_NOT_FOUND,
                       s->has_page ? "the page has no such file" : "this server has no page");
        return;
    }
    if (s->page) {
        serve_from_folder(http, s->page, i);
        return;
    }
    const char *known = hd_http_header(http, MHD_HTTP_HEADER_IF_NONE_MATCH),
               *accepted = hd_http_header(http, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    const bool is_packed = accepted && strstr(accepted, "gzip") && p->packed[i].n > 0,
               is_known = known && strstr(known, p->etags[i]);
    if (is_packed && !is_known)
        hd_bytes_add(&http->answer, p->packed[i].at, p->packed[i].n);
    else if (!is_known)
        hd_bytes_add(&http->answer, files[i].begin, (size_t)(files[i].end - files[i].begin));
    http->status = is_known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK;
    http->type = files[i].type;
    http->encoding = is_packed && !is_known ? "gzip" : NULL;
    http->etag = p->etags[i];
    http->is_page = true;
}

void hd_page_spec(struct hd_http *http)
{
    hd_http_say(http, MHD_HTTP_OK, "application/json", hd_web_spec);
}
