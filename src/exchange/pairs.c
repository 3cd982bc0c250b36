/* pairs.c -- files of sentence pairs become TSV. A translation memory is read as it comes, since it may be large; the others are read whole. */
#include "exchange/pairs.h"

#include "base/error.h"
#include "base/file.h"
#include "base/language.h"
#include "base/memory.h"
#include "base/quote.h"
#include "exchange/markup_door.h"
#include "exchange/pair_writer.h"
#include "text/character.h"
#include "text/input.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what a file is -------------------------------------------------------------------------------- */

/* By the ending; HD_PAIRS_AUTO where it says nothing. */
static enum hd_pair_format by_ending(const char *path)
{
    static const struct {
        const char *ending;
        enum hd_pair_format format;
    } known[] = {{".tmx", HD_PAIRS_TMX},
                 {".csv", HD_PAIRS_CSV},
                 {".po", HD_PAIRS_PO},
                 {".tsv", HD_PAIRS_TSV}};
    const size_t all = strlen(path),
                 n = all > 3 && strcasecmp(path + all - 3, ".gz") == 0 ? all - 3 : all;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t m = strlen(known[i].ending);
        if (n > m && strncasecmp(path + n - m, known[i].ending, m) == 0)
            return known[i].format;
    }
    return HD_PAIRS_AUTO;
}

static bool is_tmx(const char *path)
{
    char bytes[2048];
    struct stat st;
    size_t n = 0;
    struct hd_input input;
    if (hd_is_stdin(path) || stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
        !hd_input_open(&input, path, NULL))
        return false;
    if (!hd_input_read(&input, bytes, sizeof bytes - 1, &n, NULL))
        n = 0;
    hd_input_close(&input);
    bytes[n] = '\0';
    return strncmp(bytes + (memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0), "<", 1) == 0 &&
           strstr(bytes, "<tmx") != NULL;
}

enum hd_pair_format hd_pairs_format(enum hd_pair_format said, const char *path)
{
    if (said != HD_PAIRS_AUTO)
        return said;
    const enum hd_pair_format format = by_ending(path);
    return format != HD_PAIRS_AUTO ? format : is_tmx(path) ? HD_PAIRS_TMX : HD_PAIRS_TSV;
}

/* ---- writing --------------------------------------------------------------------------------------- */

static bool flush(struct hd_pair_writer *w, heed_error *err)
{
    for (size_t done = 0; done < w->buffer.n;) {
        const ssize_t n = write(w->fd, w->buffer.at + done, w->buffer.n - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return hd_fail_to_write(w->name, n < 0 ? errno : EIO, err);
        done += (size_t)n;
    }
    w->buffer.n = 0;
    return true;
}

/* Append the text with single spaces; false without memory. */
static bool add_side(struct hd_buffer *out, struct hd_text text, heed_error *err)
{
    const size_t begin = out->n;
    bool is_apart = false, ok = true;
    for (size_t i = 0, length; ok && i < text.n; i += length) {
        const uint32_t cp = hd_char_at(text.at, text.n, i, &length);
        const bool is_space = cp < 0x20 || cp == 0x7F || cp == 0x85 || cp == 0x2028 || cp == 0x2029;
        if (is_space || cp == ' ') {
            is_apart = out->n > begin;
            continue;
        }
        ok = (!is_apart || hd_buffer_add(out, " ", 1, err)) &&
             hd_buffer_add(out, text.at + i, length, err);
        is_apart = false;
    }
    return ok;
}

bool hd_pair_writer_add(struct hd_pair_writer *w, struct hd_text source, struct hd_text target,
                        heed_error *err)
{
    enum { FULL = 1 << 20 };
    const size_t begin = w->buffer.n;
    if (!add_side(&w->buffer, source, err))
        return false;
    const size_t middle = w->buffer.n;
    if (!hd_buffer_add(&w->buffer, "\t", 1, err) || !add_side(&w->buffer, target, err))
        return false;
    if (middle == begin || w->buffer.n == middle + 1) {
        w->buffer.n = begin;
        w->counts.n_unpaired++;
        return true;
    }
    w->counts.n++;
    return hd_buffer_add(&w->buffer, "\n", 1, err) && (w->buffer.n < FULL || flush(w, err));
}

bool hd_pair_writer_end(struct hd_pair_writer *w, heed_error *err)
{
    const bool ok = flush(w, err);
    hd_buffer_release(&w->buffer);
    return ok;
}

/* ---- translation memories -------------------------------------------------------------------------- */

struct memory {
    struct hd_pair_writer *writer;
    struct hd_input input;
    char from[32], to[32]; /* "": not known yet */
};

static bool read_bytes(void *context, char *to, size_t room, size_t *n, heed_error *err)
{
    return hd_input_read(&((struct memory *)context)->input, to, room, n, err);
}

/* The variant of a language: the one that is called so, or the first that fits; NULL: there is none. */
static const struct hd_tmx_variant *find_variant(const struct hd_tmx_variant *variants, size_t n,
                                                 const char *language)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(variants[i].language, language) == 0)
            return &variants[i];
    for (size_t i = 0; i < n; i++)
        if (hd_language_fits(variants[i].language, strlen(variants[i].language), language))
            return &variants[i];
    return NULL;
}

/* The two languages of a memory that nobody has named: there must be two. */
static bool choose_languages(struct memory *m, const struct hd_tmx_variant *variants, size_t n,
                             const char *source, size_t line, heed_error *err)
{
    char all[200] = "";
    for (size_t i = 0, at = 0; i < n && at < sizeof all; i++)
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i > 0 ? ", " : "",
                               variants[i].language);
    if (n != 2)
        return hd_fail(err, HEED_BAD_OPTION,
                       "%s:%zu: there are %s in it; say which two, as in --pair en-fr=%s",
                       m->writer->name, line, all, m->writer->name);
    const bool is_second =
        source[0] && hd_language_fits(variants[1].language, strlen(variants[1].language), source);
    snprintf(m->from, sizeof m->from, "%s", variants[is_second].language);
    snprintf(m->to, sizeof m->to, "%s", variants[!is_second].language);
    return true;
}

static bool take_unit(void *context, const struct hd_tmx_variant *variants, size_t n,
                      const char *source, size_t line, heed_error *err)
{
    struct memory *m = context;
    if (!m->from[0] && n >= 2 && !choose_languages(m, variants, n, source, line, err))
        return false;
    const struct hd_tmx_variant *a = m->from[0] ? find_variant(variants, n, m->from) : NULL,
                                *b = m->from[0] ? find_variant(variants, n, m->to) : NULL;
    if (!a || !b || a == b) {
        m->writer->counts.n_unpaired++;
        return true;
    }
    return hd_pair_writer_add(m->writer, (struct hd_text){a->text, a->n},
                              (struct hd_text){b->text, b->n}, err);
}

static bool read_memory(struct hd_pair_writer *writer, const char *path,
                        const struct hd_direction *direction, heed_error *err)
{
    const struct hd_markup_module *module = hd_markup_open(err);
    struct memory m = {.writer = writer};
    if (!module || !hd_input_open(&m.input, path, err))
        return false;
    if (direction) {
        snprintf(m.from, sizeof m.from, "%s", direction->from);
        snprintf(m.to, sizeof m.to, "%s", direction->to);
    }
    const struct hd_tmx_reading reading = {writer->name, read_bytes, take_unit, &m};
    const bool ok = module->read_tmx(&reading, err);
    hd_input_close(&m.input);
    return ok;
}

/* ---- all ------------------------------------------------------------------------------------------- */

/* A file as a whole. */
static bool read_whole(struct hd_buffer *out, const char *path, heed_error *err)
{
    enum { SIZE = 1 << 16, MOST = 1 << 30 };
    struct hd_input input;
    if (!hd_input_open(&input, path, err))
        return false;
    char *bytes = hd_alloc(SIZE, 1, err);
    size_t n = 1;
    bool ok = bytes != NULL;
    while (ok && n > 0) {
        ok = hd_input_read(&input, bytes, SIZE, &n, err) && hd_buffer_add(out, bytes, n, err);
        if (ok && out->n > MOST)
            ok = hd_fail(err, HEED_BAD_TEXT, "%s: this has more than a gigabyte; write it as TSV",
                         hd_input_name(path));
    }
    hd_free(bytes);
    hd_input_close(&input);
    return ok;
}

bool hd_pairs_convert(enum hd_pair_format format, const char *path,
                      const struct hd_direction *direction, int fd, struct hd_pair_counts *counts,
                      heed_error *err)
{
    struct hd_pair_writer writer = {.fd = fd, .name = hd_input_name(path)};
    struct hd_buffer text = {0};
    bool ok;
    if (format == HD_PAIRS_TMX)
        ok = read_memory(&writer, path, direction, err);
    else {
        ok = read_whole(&text, path, err);
        const size_t mark = ok && text.n >= 3 && memcmp(text.at, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
        ok = ok && (format == HD_PAIRS_PO ? hd_po_pairs : hd_csv_read)(
                       &writer, text.at ? text.at + mark : "", text.n - mark, direction, err);
    }
    hd_buffer_release(&text);
    ok = hd_pair_writer_end(&writer, ok ? err : NULL) && ok;
    *counts = writer.counts;
    return ok;
}

/* ---- folders --------------------------------------------------------------------------------------- */

static bool add_path(struct hd_paths *paths, const char *path, heed_error *err)
{
    char **grown = hd_grow(paths->at, &paths->capacity, paths->n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    paths->at = grown;
    grown[paths->n] = hd_copy_string(path, err);
    return grown[paths->n] && ++paths->n;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return !hd_is_stdin(path) && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Files and folders that were met, by what they are: links may lead to one of them in many ways, and round in circles. */
struct met {
    struct place {
        dev_t device;
        ino_t inode;
    } * at;
    size_t n, capacity;
};

/* *is_new: it was not met before. What is not there is somebody else's to tell. */
static bool meet(struct met *met, const char *path, bool *is_new, heed_error *err)
{
    struct stat st;
    *is_new = true;
    if (stat(path, &st) != 0)
        return true;
    for (size_t i = 0; *is_new && i < met->n; i++)
        *is_new = met->at[i].inode != st.st_ino || met->at[i].device != st.st_dev;
    if (!*is_new)
        return true;
    struct place *grown = hd_grow(met->at, &met->capacity, met->n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    met->at = grown;
    grown[met->n++] = (struct place){st.st_dev, st.st_ino};
    return true;
}

/* What is in a folder, in the order of names, so that of two ways to a file the same is taken everywhere. */
static bool list_folder(struct hd_paths *paths, const char *folder, heed_error *err)
{
    DIR *all = opendir(folder);
    if (!all)
        return hd_fail_to_read(folder, errno, err);
    bool ok = true;
    for (const struct dirent *one; ok && (one = readdir(all));) {
        char path[4096];
        if (one->d_name[0] != '.' &&
            (size_t)snprintf(path, sizeof path, "%s/%s", folder, one->d_name) < sizeof path)
            ok = add_path(paths, path, err);
    }
    closedir(all);
    if (ok && paths->n > 0)
        qsort(paths->at, paths->n, sizeof *paths->at, by_name);
    return ok;
}

static bool add_folder(struct hd_paths *paths, struct met *met, const char *folder, int depth,
                       heed_error *err)
{
    enum { DEEPEST = 32, MOST_FILES = 100000 };
    struct hd_paths inside = {0};
    bool ok = list_folder(&inside, folder, err);
    for (size_t i = 0; ok && i < inside.n; i++) {
        const char *path = inside.at[i];
        const bool is_in = is_folder(path);
        bool is_new = false;
        if (is_in ? depth == DEEPEST : by_ending(path) == HD_PAIRS_AUTO)
            continue;
        ok = meet(met, path, &is_new, err);
        if (ok && is_new)
            ok = is_in ? add_folder(paths, met, path, depth + 1, err) : add_path(paths, path, err);
        if (ok && paths->n > MOST_FILES)
            ok = hd_fail(err, HEED_BAD_OPTION, "%s: there are more than %d files in it", folder,
                         MOST_FILES);
    }
    hd_paths_release(&inside);
    return ok;
}

bool hd_paths_add(struct hd_paths *paths, const char *path, heed_error *err)
{
    const size_t before = paths->n;
    if (!is_folder(path))
        return add_path(paths, path, err);
    struct met met = {0};
    bool is_new;
    const bool ok = meet(&met, path, &is_new, err) && add_folder(paths, &met, path, 0, err);
    hd_free(met.at);
    if (!ok)
        return false;
    if (paths->n == before)
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s: this is a folder without a file that ends in .tmx, .csv, .po or .tsv",
                       path);
    qsort(paths->at + before, paths->n - before, sizeof *paths->at, by_name);
    return true;
}

void hd_paths_release(struct hd_paths *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        hd_free(paths->at[i]);
    hd_free(paths->at);
    *paths = (struct hd_paths){0};
}
