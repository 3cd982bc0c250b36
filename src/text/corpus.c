/* corpus.c -- sentence pairs on disk: files are mapped, every line is looked at once, and the places
 * of the good ones are kept.
 *
 * All files of a side count as one long text with a byte between them, so that a place is one
 * number; of that the low 32 bits are kept for every pair, and the high ones follow from where the
 * low ones begin anew. A line's end is found again when it is asked for.
 * Invariant: places of a side ascend, and each is inside its file. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* madvise */
#endif
#include "text/corpus.h"

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "text/input.h"
#include "text/other_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utf8proc.h>

enum { PLACES_PER_BLOCK = 1 << 16 };

struct places {
    uint32_t **blocks; /* the low 32 bits, so many to a block */
    size_t n, n_blocks, block_capacity;
    size_t *turns; /* turns[k]: the first pair whose place is (k + 1) << 32 or more */
    size_t n_turns, turn_capacity;
};

struct file {
    char *name;
    struct hd_map map;
    const char *text; /* after the byte order mark */
    size_t size;
    uint64_t base; /* the place of its first byte */
};

struct side {
    struct file *files;
    int n_files;
    struct places places;
};

struct hd_corpus {
    struct side source, target; /* of TSV the source alone */
    bool is_tsv;
    size_t n;
    struct hd_corpus_counts counts;
    uint64_t fingerprint;
};

/* ---- places ---------------------------------------------------------------------------------- */

static bool add_place(struct places *p, uint64_t place, heed_error *err)
{
    for (; p->n_turns < place >> 32; p->n_turns++) {
        size_t *turns = hd_grow(p->turns, &p->turn_capacity, p->n_turns + 1, sizeof *turns, err);
        if (!turns)
            return false;
        p->turns = turns;
        turns[p->n_turns] = p->n;
    }
    if (p->n == p->n_blocks * PLACES_PER_BLOCK) {
        uint32_t **blocks =
            hd_grow(p->blocks, &p->block_capacity, p->n_blocks + 1, sizeof *blocks, err);
        if (!blocks)
            return false;
        p->blocks = blocks;
        blocks[p->n_blocks] = hd_alloc(PLACES_PER_BLOCK, sizeof **blocks, err);
        if (!blocks[p->n_blocks])
            return false;
        p->n_blocks++;
    }
    p->blocks[p->n / PLACES_PER_BLOCK][p->n % PLACES_PER_BLOCK] = (uint32_t)place;
    p->n++;
    return true;
}

static uint64_t place_at(const struct places *p, size_t i)
{
    uint64_t high = 0;
    while (high < p->n_turns && p->turns[high] <= i)
        high++;
    return high << 32 | p->blocks[i / PLACES_PER_BLOCK][i % PLACES_PER_BLOCK];
}

static void release_places(struct places *p)
{
    for (size_t i = 0; i < p->n_blocks; i++)
        hd_free(p->blocks[i]);
    hd_free(p->blocks);
    hd_free(p->turns);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Must the file be unpacked before it can be mapped? What is wrong with it is found then. */
static bool needs_unpacking(const char *path)
{
    struct stat st;
    if (hd_is_stdin(path))
        return true;
    if (stat(path, &st) != 0 || S_ISDIR(st.st_mode))
        return false;
    if (!S_ISREG(st.st_mode))
        return true;
    unsigned char magic[2] = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool is_gzip = fd >= 0 && read(fd, magic, 2) == 2 && magic[0] == 0x1F && magic[1] == 0x8B;
    if (fd >= 0)
        close(fd);
    return is_gzip;
}

static bool ask(const struct hd_corpus_options *options, double share, heed_error *err)
{
    return !options->progress || options->progress(options->context, share) ||
           hd_fail(err, HEED_CANCELLED, "stopped while reading the text");
}

/* A file that has lost its name already: -1 with the reason in `err`. */
static int open_spool(const char *prefix, char *name, size_t size, heed_error *err)
{
    enum { N_TRIES = 1000 };
    int fd = -1;
    for (int i = 1; i <= N_TRIES && fd < 0; i++) {
        snprintf(name, size, "%s.spool-%d", prefix, i);
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST && errno != EINTR)
            break;
    }
    if (fd < 0)
        hd_fail_to_write(name, errno, err);
    else
        unlink(name);
    return fd;
}

static bool copy_input(int fd, const char *spool, struct hd_input *input,
                       const struct hd_corpus_options *options, heed_error *err)
{
    enum { SIZE = 1 << 20 };
    char *buffer = hd_alloc(SIZE, 1, err);
    bool ok = buffer != NULL;
    for (size_t n = 1; ok && n > 0;) {
        ok = hd_input_read(input, buffer, SIZE, &n, err) && ask(options, 0, err);
        for (size_t done = 0; ok && done < n;) {
            const ssize_t written = write(fd, buffer + done, n - done);
            if (written < 0 && errno == EINTR)
                continue;
            ok = written > 0 || hd_fail_to_write(spool, written < 0 ? errno : EIO, err);
            done += ok ? (size_t)written : 0;
        }
    }
    hd_free(buffer);
    return ok;
}

static bool fail_empty(const char *name, heed_error *err)
{
    return hd_fail(err, HEED_BAD_TEXT, "%s: there is no text in it, not even a line", name);
}

static bool map_spooled(struct file *file, const char *path,
                        const struct hd_corpus_options *options, heed_error *err)
{
    if (!options->spool)
        return hd_fail(err, HEED_BAD_OPTION,
                       "%s: this must be unpacked first, and there is no place for that; give a "
                       "plain file",
                       file->name);
    struct hd_input input;
    if (!hd_input_open(&input, path, err))
        return false;
    const size_t size = strlen(options->spool) + 24;
    char *name = hd_alloc(size, 1, err);
    const int fd = name ? open_spool(options->spool, name, size, err) : -1;
    bool ok = fd >= 0 && copy_input(fd, name, &input, options, err);
    if (ok)
        ok = lseek(fd, 0, SEEK_END) != 0 ? hd_map_fd(&file->map, fd, file->name, err)
                                         : fail_empty(file->name, err);
    if (fd >= 0)
        close(fd);
    hd_free(name);
    hd_input_close(&input);
    return ok;
}

static bool open_file(struct file *file, const char *path, bool is_tsv,
                      const struct hd_corpus_options *options, heed_error *err)
{
    struct stat st;
    file->name = hd_copy_string(hd_input_name(path), err);
    if (!file->name)
        return false;
    if (needs_unpacking(path)) {
        if (!map_spooled(file, path, options, err))
            return false;
    } else if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        return fail_empty(path, err);
    else if (!hd_map_open(&file->map, path, err))
        return false;
    const bool has_mark = file->map.size >= 3 && memcmp(file->map.data, "\xEF\xBB\xBF", 3) == 0;
    file->text = (const char *)file->map.data + (has_mark ? 3 : 0);
    file->size = file->map.size - (has_mark ? 3 : 0);
    return file->size > 0 ? hd_check_kind(file->name, file->text, file->size, is_tsv, err)
                          : fail_empty(file->name, err);
}

static bool open_side(struct side *side, const char *const *paths, int n, bool is_tsv,
                      const struct hd_corpus_options *options, heed_error *err)
{
    uint64_t base = 0;
    side->files = hd_alloc((size_t)n, sizeof *side->files, err);
    if (!side->files)
        return false;
    for (; side->n_files < n; side->n_files++) {
        struct file *file = &side->files[side->n_files];
        if (!open_file(file, paths[side->n_files], is_tsv, options, err)) {
            side->n_files++; /* half made */
            return false;
        }
        file->base = base;
        base += file->size + 1;
    }
    return true;
}

static void release_side(struct side *side)
{
    for (int i = 0; i < side->n_files; i++) {
        hd_map_close(&side->files[i].map);
        hd_free(side->files[i].name);
    }
    hd_free(side->files);
    release_places(&side->places);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The line at `at`, without its end; *next is where the one after it begins. */
static struct hd_text line_at(const char *at, const char *end, const char **next)
{
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    *next = line_end ? line_end + 1 : end;
    size_t n = (size_t)((line_end ? line_end : end) - at);
    if (n > 0 && at[n - 1] == '\r')
        n--;
    return (struct hd_text){at, n};
}

/* Going through a file. */
struct cursor {
    const struct file *file;
    const char *at, *end;
    size_t n_lines; /* read so far */
};

static struct cursor start_of(const struct file *file)
{
    return (struct cursor){file, file->text, file->text + file->size, 0};
}

static struct hd_text next_line(struct cursor *c)
{
    c->n_lines++;
    return line_at(c->at, c->end, &c->at);
}

static size_t count_lines(struct cursor c)
{
    while (c.at < c.end)
        next_line(&c);
    return c.n_lines;
}

/* Is there anything to see? Not spaces of any kind, controls, marks of direction and the like. */
static bool is_visible(struct hd_text text)
{
    uint32_t cp;
    for (size_t i = 0; i < text.n;) {
        i += (size_t)hd_utf8_decode(text.at + i, text.n - i, &cp);
        switch (utf8proc_category((utf8proc_int32_t)cp)) {
        case UTF8PROC_CATEGORY_ZS:
        case UTF8PROC_CATEGORY_ZL:
        case UTF8PROC_CATEGORY_ZP:
        case UTF8PROC_CATEGORY_CC:
        case UTF8PROC_CATEGORY_CF:
            break;
        default:
            return true;
        }
    }
    return false;
}

/* What is wrong with a line, HD_N_BAD_PAIRS for nothing. */
static enum hd_bad_pair check_bytes(struct hd_text line, size_t longest)
{
    if (line.n > longest)
        return HD_BAD_LONG;
    if (line.n > 0 && memchr(line.at, '\0', line.n))
        return HD_BAD_NUL;
    return hd_utf8_valid(line.at, line.n, NULL) ? HD_N_BAD_PAIRS : HD_BAD_UTF8;
}

/* Cut a line of TSV at its one TAB. */
static bool cut_columns(struct hd_text line, struct hd_text *source, struct hd_text *target)
{
    const char *tab = line.n > 0 ? memchr(line.at, '\t', line.n) : NULL;
    if (!tab)
        return false;
    *source = (struct hd_text){line.at, (size_t)(tab - line.at)};
    *target = (struct hd_text){tab + 1, line.n - source->n - 1};
    return !memchr(target->at, '\t', target->n);
}

static bool fail_bad(const struct cursor *c, struct hd_text line, enum hd_bad_pair bad,
                     size_t longest, heed_error *err)
{
    static const char *const reasons[] = {
        [HD_BAD_NUL] = "there is a byte 0 in this line, which is no text",
        [HD_BAD_COLUMNS] = "this line is not two columns, source TAB target (try cut -f1,2)",
        [HD_BAD_EMPTY] = "this sentence is empty or has nothing but spaces",
    };
    const char *name = c->file->name;
    size_t bad_at = 0;
    if (bad == HD_BAD_LONG)
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s:%zu: this line has %zu bytes, more than %zu; --skip-bad leaves such "
                       "pairs out",
                       name, c->n_lines, line.n, longest);
    if (bad == HD_BAD_UTF8) {
        hd_utf8_valid(line.at, line.n, &bad_at);
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s:%zu: not UTF-8 at byte %zu of the line; convert the file first, for "
                       "example with iconv -t UTF-8, or --skip-bad leaves such pairs out",
                       name, c->n_lines, bad_at + 1);
    }
    return hd_fail(err, HEED_BAD_TEXT, "%s:%zu: %s; --skip-bad leaves such pairs out", name,
                   c->n_lines, reasons[bad]);
}

/* ---- scanning -------------------------------------------------------------------------------- */

struct scan {
    struct hd_corpus *corpus;
    const struct hd_corpus_options *options;
    size_t longest;
    size_t n_bytes, n_done; /* of all files; so far, those before this one */
    const char *asked[2];   /* per side: how far we were when the caller was last asked */
};

/* A bad line is a failure, or counted. */
static bool note_bad(struct scan *s, const struct cursor *c, struct hd_text line,
                     enum hd_bad_pair bad, heed_error *err)
{
    if (!s->options->skip_bad)
        return fail_bad(c, line, bad, s->longest, err);
    struct hd_corpus_counts *counts = &s->corpus->counts;
    counts->n_bad++;
    if (counts->bad[bad].n++ == 0) {
        counts->bad[bad].file = c->file->name;
        counts->bad[bad].line = c->n_lines;
    }
    return true;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Eight bytes at a time; the first is the lowest on every machine. */
static uint64_t hash_text(uint64_t hash, struct hd_text text)
{
    size_t i = 0;
    for (; i + 8 <= text.n; i += 8) {
        uint64_t word;
        memcpy(&word, text.at + i, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        hash = mix(hash ^ word, 0x9E3779B97F4A7C15U);
    }
    uint64_t rest = 0;
    for (int shift = 0; i < text.n; i++, shift += 8)
        rest |= (uint64_t)(unsigned char)text.at[i] << shift;
    hash = mix(hash ^ rest, 0xD1B54A32D192ED03U);
    return mix(hash ^ text.n, 0x8CB92BA72F3D8DD7U) + 1; /* never stuck at 0 */
}

static bool add_pair(struct hd_corpus *corpus, const struct cursor *at, struct hd_text source,
                     struct hd_text target, heed_error *err)
{
    const struct file *file = at[0].file;
    if (!add_place(&corpus->source.places, file->base + (uint64_t)(source.at - file->text), err))
        return false;
    file = at[1].file; /* none of TSV */
    if (file &&
        !add_place(&corpus->target.places, file->base + (uint64_t)(target.at - file->text), err))
        return false;
    corpus->fingerprint = hash_text(hash_text(corpus->fingerprint, source), target);
    corpus->n++;
    return true;
}

/* One line of TSV. */
static bool scan_row(struct scan *s, struct cursor *at, heed_error *err)
{
    struct hd_text source, target;
    const struct hd_text line = next_line(at);
    enum hd_bad_pair bad = check_bytes(line, s->longest);
    if (bad == HD_N_BAD_PAIRS && !cut_columns(line, &source, &target))
        bad = HD_BAD_COLUMNS;
    if (bad == HD_N_BAD_PAIRS && !(is_visible(source) && is_visible(target)))
        bad = HD_BAD_EMPTY;
    return bad == HD_N_BAD_PAIRS ? add_pair(s->corpus, at, source, target, err)
                                 : note_bad(s, at, line, bad, err);
}

/* A line of either file. */
static bool scan_lines(struct scan *s, struct cursor *at, heed_error *err)
{
    const struct hd_text lines[2] = {next_line(&at[0]), next_line(&at[1])};
    for (int i = 0; i < 2; i++) {
        enum hd_bad_pair bad = check_bytes(lines[i], s->longest);
        if (bad == HD_N_BAD_PAIRS && !is_visible(lines[i]))
            bad = HD_BAD_EMPTY;
        if (bad != HD_N_BAD_PAIRS)
            return note_bad(s, &at[i], lines[i], bad, err);
    }
    return add_pair(s->corpus, at, lines[0], lines[1], err);
}

/* The pages behind us need not stay resident: the system has them in its cache, and drops them
 * when it wants to. */
static void let_go(const char *from, const char *to)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)from + page - 1) / page * page;
    const uintptr_t end = (uintptr_t)to / page * page;
    if (end > begin)
        madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/* Every few megabytes, and at the end of a file. */
static bool look_up(struct scan *s, const struct cursor *at, int n, heed_error *err)
{
    enum { STEP = 8 << 20 };
    bool is_time = false;
    size_t n_done = s->n_done;
    for (int i = 0; i < n; i++) {
        is_time |= at[i].at - s->asked[i] >= STEP || at[i].at == at[i].end;
        n_done += (size_t)(at[i].at - at[i].file->text);
    }
    if (!is_time)
        return true;
    for (int i = 0; i < n; i++) {
        let_go(s->asked[i], at[i].at);
        s->asked[i] = at[i].at;
    }
    return ask(s->options, (double)n_done / (double)s->n_bytes, err);
}

/* A file, or two that go together. */
static bool scan_files(struct scan *s, const struct file *source, const struct file *target,
                       heed_error *err)
{
    const int n = target ? 2 : 1;
    struct cursor at[2] = {start_of(source), target ? start_of(target) : (struct cursor){0}};
    s->asked[0] = at[0].at;
    s->asked[1] = at[1].at;
    while (at[0].at < at[0].end && (n == 1 || at[1].at < at[1].end)) {
        s->corpus->counts.n_lines++;
        if (!(n == 1 ? scan_row(s, at, err) : scan_lines(s, at, err)) || !look_up(s, at, n, err))
            return false;
    }
    s->n_done += source->size + (target ? target->size : 0);
    const size_t n_source = count_lines(at[0]), n_target = target ? count_lines(at[1]) : n_source;
    return n_source == n_target ||
           hd_fail(err, HEED_BAD_TEXT,
                   "%s has %zu line%s and %s has %zu; line by line, one must be the translation "
                   "of the other",
                   source->name, n_source, n_source == 1 ? "" : "s", target->name, n_target);
}

static bool scan_all(struct hd_corpus *corpus, const struct hd_corpus_options *options,
                     heed_error *err)
{
    struct scan s = {.corpus = corpus,
                     .options = options,
                     .longest =
                         options->longest_line ? options->longest_line : HD_CORPUS_LONGEST_LINE};
    for (int i = 0; i < corpus->source.n_files; i++)
        s.n_bytes += corpus->source.files[i].size;
    for (int i = 0; i < corpus->target.n_files; i++)
        s.n_bytes += corpus->target.files[i].size;
    for (int i = 0; i < corpus->source.n_files; i++)
        if (!scan_files(&s, &corpus->source.files[i],
                        corpus->is_tsv ? NULL : &corpus->target.files[i], err))
            return false;
    return corpus->n > 0 ||
           hd_fail(err, HEED_BAD_TEXT,
                   "%s: no pair is left of %zu, all of them are bad; without --skip-bad the first "
                   "one is explained",
                   corpus->source.files[0].name, corpus->counts.n_lines);
}

/* ---- the corpus ------------------------------------------------------------------------------ */

static bool check_names(const struct hd_corpus_files *files, heed_error *err)
{
    int n_stdin = 0;
    if (files->n_source < 1)
        return hd_fail(err, HEED_BAD_OPTION, "there is no file to read text from; name one");
    if (files->is_tsv ? files->n_target != 0 : files->n_source != files->n_target)
        return hd_fail(err, HEED_BAD_OPTION,
                       "%d source file%s and %d target file%s do not go together; %s",
                       files->n_source, files->n_source == 1 ? "" : "s", files->n_target,
                       files->n_target == 1 ? "" : "s",
                       files->is_tsv ? "TSV has both in one"
                                     : "name as many of one as of the other, in the same order");
    for (int i = 0; i < files->n_source; i++)
        n_stdin += hd_is_stdin(files->source[i]);
    for (int i = 0; i < files->n_target; i++)
        n_stdin += hd_is_stdin(files->target[i]);
    return n_stdin <= 1 ||
           hd_fail(err, HEED_BAD_OPTION,
                   "standard input (-) is named %d times, but can be read only once; give files, "
                   "or both languages in one as TSV",
                   n_stdin);
}

struct hd_corpus *hd_corpus_open(const struct hd_corpus_files *files,
                                 const struct hd_corpus_options *options, heed_error *err)
{
    if (!check_names(files, err))
        return NULL;
    struct hd_corpus *corpus = hd_new(struct hd_corpus, err);
    if (!corpus)
        return NULL;
    corpus->is_tsv = files->is_tsv;
    if (!open_side(&corpus->source, files->source, files->n_source, files->is_tsv, options, err) ||
        !open_side(&corpus->target, files->target, files->n_target, false, options, err) ||
        !scan_all(corpus, options, err)) {
        hd_corpus_free(corpus);
        return NULL;
    }
    return corpus;
}

void hd_corpus_free(struct hd_corpus *corpus)
{
    if (!corpus)
        return;
    release_side(&corpus->source);
    release_side(&corpus->target);
    hd_free(corpus);
}

size_t hd_corpus_size(const struct hd_corpus *corpus)
{
    return corpus->n;
}

/* The line of a side that pair i is in. */
static struct hd_text side_line(const struct side *side, size_t i)
{
    const uint64_t place = place_at(&side->places, i);
    int low = 0, high = side->n_files;
    while (high - low > 1) { /* the file is in [low, high) */
        const int middle = low + (high - low) / 2;
        if (side->files[middle].base <= place)
            low = middle;
        else
            high = middle;
    }
    const struct file *file = &side->files[low];
    const char *next;
    return line_at(file->text + (place - file->base), file->text + file->size, &next);
}

struct hd_text_pair hd_corpus_pair(const struct hd_corpus *corpus, size_t i)
{
    struct hd_text source = side_line(&corpus->source, i), target = {0};
    if (corpus->is_tsv)
        cut_columns(source, &source, &target);
    else
        target = side_line(&corpus->target, i);
    return (struct hd_text_pair){source.at, source.n, target.at, target.n};
}

const struct hd_corpus_counts *hd_corpus_counts(const struct hd_corpus *corpus)
{
    return &corpus->counts;
}

char *hd_corpus_left_out(const struct hd_corpus *corpus, heed_error *err)
{
    static const char *const names[][2] = {
        [HD_BAD_LONG] = {"is too long", "are too long"},
        [HD_BAD_NUL] = {"has a byte 0", "have a byte 0"},
        [HD_BAD_UTF8] = {"is not UTF-8", "are not UTF-8"},
        [HD_BAD_COLUMNS] = {"is not two columns", "are not two columns"},
        [HD_BAD_EMPTY] = {"has an empty side", "have an empty side"},
    };
    const struct hd_corpus_counts *counts = &corpus->counts;
    size_t size = 100;
    for (int i = 0; i < HD_N_BAD_PAIRS; i++)
        size += counts->bad[i].file ? strlen(counts->bad[i].file) + 100 : 0;
    char *text = hd_alloc(size, 1, err), *at = text;
    if (!text || counts->n_bad == 0)
        return text;
    at += sprintf(at, "%zu of %zu pairs %s left out", counts->n_bad, counts->n_lines,
                  counts->n_bad == 1 ? "is" : "are");
    const char *between = ": ";
    for (int i = 0; i < HD_N_BAD_PAIRS; i++) {
        const size_t n = counts->bad[i].n;
        if (n == 0)
            continue;
        at += sprintf(at, "%s%zu %s (%s%s:%zu)", between, n, names[i][n != 1],
                      n == 1 ? "" : "the first is ", counts->bad[i].file, counts->bad[i].line);
        between = ", ";
    }
    return text;
}

uint64_t hd_corpus_fingerprint(const struct hd_corpus *corpus)
{
    return corpus->fingerprint;
}
