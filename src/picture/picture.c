/* picture.c -- a picture is checked here, drawn by the module, and written here.
 *
 * The module is opened once, by the first picture, and stays. A failure is not remembered:
 * whoever installs what is missing need not start anew. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/module.h"
#include "base/quote.h"
#include "draw/draw.h"
#include "picture/picture.h"
#include "picture/picture_check.h"

#include <pthread.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const struct hd_module_name draw_module = {
    .file = "heed_draw.so",
    .environment = "HEED_DRAW_MODULE",
    .symbol = "hd_draw_module",
    .purpose = "pictures",
    .needs =
        "install cairo and pango (Debian, Ubuntu: apt-get install libcairo2-dev libpango1.0-dev)",
};

static const struct hd_draw_module *open_module(heed_error *err)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static const struct hd_draw_module *opened;
    pthread_mutex_lock(&mutex);
    if (!opened) {
        const struct hd_draw_module *module = hd_module_open(&draw_module, err);
        if (module && strcmp(module->version, HEED_VERSION) != 0)
            hd_fail(
                err, HEED_BAD_FILE,
                "the module heed_draw.so is of heed %s, but this is heed %s; install both together",
                module->version, HEED_VERSION);
        else
            opened = module;
    }
    const struct hd_draw_module *module = opened;
    pthread_mutex_unlock(&mutex);
    return module;
}

static const char *const formats[] = {
    [HD_DRAW_SVG] = "svg", [HD_DRAW_PNG] = "png", [HD_DRAW_PDF] = "pdf", [HD_DRAW_TIKZ] = "tex"};

static bool find_format(enum hd_draw_format *format, const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcasecmp(name, formats[i]) == 0) {
            *format = (enum hd_draw_format)i;
            return true;
        }
    return false;
}

char *heed_draw_bytes(const heed_picture *picture, const char *format, size_t *size,
                      heed_error *err)
{
    enum hd_draw_format wanted;
    if (!hd_is_given(picture, "picture", err) || !hd_is_given(format, "format", err) ||
        !hd_is_given(size, "room for the size", err))
        return NULL;
    if (!find_format(&wanted, format)) {
        hd_fail(err, HEED_BAD_OPTION, "pictures are svg, png, pdf or tex, not %s",
                hd_quote(format).text);
        return NULL;
    }
    const struct hd_draw_module *module = hd_picture_check(picture, err) ? open_module(err) : NULL;
    char *drawn = module ? module->render(picture, wanted, size, err) : NULL;
    if (!drawn)
        return NULL;
    char *bytes = hd_alloc(*size + 1, 1, err); /* the module's memory is the module's */
    if (bytes)
        memcpy(bytes, drawn, *size);
    module->free(drawn);
    return bytes;
}

/* ---- files --------------------------------------------------------------------------------------------- */

enum { BEGINNING = 1 << 16 }; /* bytes in which an SVG says what it is, whatever its title */

static bool begins(const char *bytes, size_t n, const void *with, size_t size)
{
    return n >= size && memcmp(bytes, with, size) == 0;
}

/* Has the module drawn this file? Each format has something that no other program writes. */
static bool is_drawn(const char *bytes, size_t n)
{
    static const char svg[] = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"heed\" ",
                      old_svg[] = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"",
                      paper[] = "<rect class=\"paper\" ", pdf[] = "%PDF-", png[] = "\x89PNG\r\n",
                      tikz[] = "% \\usepackage{tikz} and \\usepackage[T1]{fontenc}";
    const size_t n_png = sizeof HD_DRAW_PNG_MARK - 1, n_pdf = sizeof HD_DRAW_PDF_MARK - 1;
    if (begins(bytes, n, png, sizeof png - 1))
        return n > HD_DRAW_PNG_AT &&
               begins(bytes + HD_DRAW_PNG_AT, n - HD_DRAW_PNG_AT, HD_DRAW_PNG_MARK, n_png);
    if (begins(bytes, n, pdf, sizeof pdf - 1))
        return n > n_pdf && memcmp(bytes + n - n_pdf, HD_DRAW_PDF_MARK, n_pdf) == 0;
    return begins(bytes, n, tikz, sizeof tikz - 1) || begins(bytes, n, svg, sizeof svg - 1) ||
           (begins(bytes, n, old_svg, sizeof old_svg - 1) &&
            memmem(bytes, n < BEGINNING ? n : BEGINNING, paper, sizeof paper - 1));
}

bool hd_picture_is_own(bool *is_own, const char *path, heed_error *err)
{
    struct hd_map map;
    if (!hd_map_open(&map, path, err))
        return false;
    *is_own = is_drawn(map.data, map.size);
    hd_map_close(&map);
    return true;
}

bool heed_draw_may_write(const char *path, heed_error *err)
{
    bool is_ours;
    if (!hd_is_given(path, "path", err))
        return false;
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return true; /* where nothing can be written, writing says why */
    return hd_picture_is_own(&is_ours, path, err) &&
           (is_ours ||
            hd_fail(err, HEED_BAD_FILE,
                    "%s: there is a file of this name that heed has not drawn; move it away or "
                    "choose another name for the picture",
                    path));
}

bool heed_draw(const heed_picture *picture, const char *path, heed_error *err)
{
    if (!hd_is_given(picture, "picture", err) || !hd_is_given(path, "path", err))
        return false;
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    enum hd_draw_format format;
    if (!dot || !find_format(&format, dot + 1))
        return hd_fail(err, HEED_BAD_OPTION,
                       "%s: a picture's name ends in .svg, .png, .pdf or .tex", path);
    size_t size = 0;
    char *bytes = heed_draw_may_write(path, err)
                      ? heed_draw_bytes(picture, formats[format], &size, err)
                      : NULL;
    if (!bytes)
        return false;
    struct hd_writer w = {0};
    const bool is_written = hd_writer_open(&w, path, err) && hd_write(&w, bytes, size, err) &&
                            hd_writer_commit(&w, err);
    if (!is_written)
        hd_writer_abandon(&w);
    hd_free(bytes);
    return is_written;
}
