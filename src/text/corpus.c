/* corpus.c -- sentence pairs on disk: files are mapped, every line is looked at once, and the places
 * of the good ones are kept.
 *
 * All files of a side count as one long text with a byte between them, so that a place is one
 * number. A line's end is found again when it is asked for.
 * Invariant: places of a side ascend, and each is inside its file. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* madvise */
#endif
#include "text/corpus.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "text/answer.h"
#include "text/corpus_file.h"
#include "text/input.h"
#include "text/places.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utf8proc.h>

struct side {
    struct hd_corpus_file *files;
    int n_files;
    struct hd_places places;
};

struct hd_corpus {
    struct side source, target; /* of TSV the source alone */
    bool is_tsv, has_questions;
    struct hd_direction *directions;
    int n_directions;
    size_t directions_capacity;
    size_t n;
    size_t *left_out; /* lines that are no pairs, counted through all files, ascending */
    size_t n_left_out, left_out_capacity;
    size_t *first_line; /* [files + 1]: lines before each file */
    struct hd_corpus_counts counts;
    uint64_t fingerprint;
};

/* ---- files ----------------------------------------------------------------------------------- */

static bool open_side(struct side *side, const char *const *paths, int n,
                      const struct hd_corpus_files *files, const struct hd_corpus_options *options,
                      heed_error *err)
{
    uint64_t base = 0;
    side->files = hd_alloc((size_t)n, sizeof *side->files, err);
    if (!side->files)
        return false;
    for (; side->n_files < n; side->n_files++) {
        struct hd_corpus_file *file = &side->files[side->n_files];
        const char *direction = files->directions ? files->directions[side->n_files] : NULL;
        if (!hd_corpus_file_open(file, paths[side->n_files], files->is_tsv, direction, options,
                                 err)) {
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
    for (int i = 0; i < side->n_files; i++)
        hd_corpus_file_close(&side->files[i]);
    hd_free(side->files);
    hd_places_release(&side->places);
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
    const struct hd_corpus_file *file;
    const char *at, *end;
    size_t n_lines; /* read so far */
};

static struct cursor start_of(const struct hd_corpus_file *file)
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

/* Why a line of a question is bad. */
static const char *why_no_question(struct hd_text line, enum hd_bad_pair bad)
{
    struct hd_question q;
    const int n = hd_question_cut(line, &q);
    if (bad == HD_BAD_COLUMNS)
        return n < 2
                   ? "this line is one column; lines are document, TAB, question, TAB, answer, and "
                     "for task label or translate say so with --task"
                   : "this line has no answer; lines are document, TAB, question, TAB, answer";
    if (bad == HD_BAD_ANSWER && q.number.n > 0)
        return "the answer does not stand at the token of the document that the fourth column "
               "numbers, from 0";
    if (bad == HD_BAD_ANSWER)
        return "the answer is not in the document, letter for letter";
    if (bad == HD_BAD_OUTSIDE)
        return "the fourth column is no number of a token of the document, counted from 0";
    return !is_visible(q.document)   ? "the document is empty"
           : !is_visible(q.question) ? "the question is missing"
                                     : "the answer is empty";
}

static bool fail_bad(const struct cursor *c, struct hd_text line, enum hd_bad_pair bad,
                     size_t longest, bool has_questions, heed_error *err)
{
    static const char *const reasons[] = {
        [HD_BAD_NUL] = "there is a byte 0 in this line, which is no text",
        [HD_BAD_COLUMNS] =
            ("this line is not two columns, source TAB target (try cut -f1,2, --task span for "
             "document, "
             "question and answer, or --format csv where the first line names its columns)"),
        [HD_BAD_EMPTY] = "this sentence is empty or has nothing but spaces",
        [HD_BAD_LANGUAGE] = "from and to must be two languages by names such as en or pt_BR",
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
    if (has_questions && bad >= HD_BAD_COLUMNS)
        return hd_fail(err, HEED_BAD_TEXT, "%s:%zu: %s; --skip-bad leaves such lines out", name,
                       c->n_lines, why_no_question(line, bad));
    return hd_fail(err, HEED_BAD_TEXT, "%s:%zu: %s; --skip-bad leaves such pairs out", name,
                   c->n_lines,
                   bad == HD_BAD_COLUMNS && c->file->columns.n != 2
                       ? "this line does not have the columns that the first line names"
                       : reasons[bad]);
}

/* ---- languages ------------------------------------------------------------------------------- */

/* Its number; -1 with the reason in `err`. */
static int add_direction(struct hd_corpus *corpus, const struct hd_direction *direction,
                         heed_error *err)
{
    enum { MOST = 1000 };
    for (int i = 0; i < corpus->n_directions; i++)
        if (hd_direction_is(direction, corpus->directions[i].from, corpus->directions[i].to))
            return i;
    if (corpus->n_directions == MOST) {
        hd_fail(err, HEED_BAD_TEXT,
                "the text has more than %d pairs of languages; are from and to the right columns?",
                MOST);
        return -1;
    }
    struct hd_direction *grown = hd_grow(corpus->directions, &corpus->directions_capacity,
                                         (size_t)corpus->n_directions + 1, sizeof *grown, err);
    if (!grown)
        return -1;
    corpus->directions = grown;
    grown[corpus->n_directions] = *direction;
    return corpus->n_directions++;
}

/* A file that was named before has the columns of then: turned round for the other direction. */
static bool recall_columns(const struct hd_corpus_files *files, int i, struct hd_corpus *corpus,
                           heed_error *err)
{
    struct hd_corpus_file *file = &corpus->source.files[i];
    const struct hd_direction *now = &corpus->directions[file->direction];
    for (int k = 0; k < i; k++) {
        const struct hd_corpus_file *before = &corpus->source.files[k];
        if (before->is_converted || strcmp(files->source[k], files->source[i]) != 0)
            continue;
        const struct hd_direction *then = &corpus->directions[before->direction];
        if (hd_direction_is(now, then->from, then->to))
            return hd_fail(err, HEED_BAD_OPTION, "%s is named twice as %s-%s; once is enough",
                           file->name, then->from, then->to);
        if (!hd_direction_is(now, then->to, then->from))
            return hd_fail(err, HEED_BAD_OPTION,
                           "%s is named as %s-%s and as %s-%s, but has two columns; only one of "
                           "the two can be right",
                           file->name, then->from, then->to, now->from, now->to);
        file->columns = before->columns;
        file->columns.source = before->columns.target;
        file->columns.target = before->columns.source;
        return true;
    }
    return true;
}

/* What the columns of all TSV files are. */
static bool find_columns(struct hd_corpus *corpus, const struct hd_corpus_files *files,
                         heed_error *err)
{
    for (int i = 0; i < corpus->source.n_files; i++) {
        struct hd_corpus_file *file = &corpus->source.files[i];
        struct hd_direction direction;
        const char *name = files->directions ? files->directions[i] : NULL, *next;
        file->columns = HD_TWO_COLUMNS;
        file->direction = -1;
        if (name && !hd_direction_read(&direction, (struct hd_text){name, strlen(name)}))
            return hd_fail(err, HEED_BAD_OPTION,
                           "%s are not the languages of %s; write them as en-fr, with names of "
                           "letters, digits and _",
                           hd_quote(name).text, file->name);
        if (name && (file->direction = add_direction(corpus, &direction, err)) < 0)
            return false;
        corpus->counts.n_unpaired += file->n_unpaired;
        if (file->is_converted)
            continue;
        if (name && !recall_columns(files, i, corpus, err))
            return false;
        const struct hd_text first = line_at(file->text, file->text + file->size, &next);
        file->has_header = !files->has_questions &&
                           hd_columns_of_header(&file->columns, first, name ? &direction : NULL);
        if (file->columns.from >= 0)
            file->direction = -1;
    }
    return true;
}

/* ---- scanning -------------------------------------------------------------------------------- */

struct scan {
    struct hd_corpus *corpus;
    const struct hd_corpus_options *options;
    size_t longest;
    size_t n_bytes, n_done; /* of all files; so far, those before this one */
    const char *asked[2];   /* per side: how far we were when the caller was last asked */
};

/* The line in work is no pair. */
static bool leave_out(struct hd_corpus *corpus, heed_error *err)
{
    size_t *lines = hd_grow(corpus->left_out, &corpus->left_out_capacity, corpus->n_left_out + 1,
                            sizeof *lines, err);
    if (!lines)
        return false;
    corpus->left_out = lines;
    lines[corpus->n_left_out++] = corpus->counts.n_lines - 1;
    return true;
}

/* A bad line is a failure, or counted. */
static bool note_bad(struct scan *s, const struct cursor *c, struct hd_text line,
                     enum hd_bad_pair bad, heed_error *err)
{
    if (!s->options->skip_bad)
        return fail_bad(c, line, bad, s->longest, s->corpus->has_questions, err);
    struct hd_corpus_counts *counts = &s->corpus->counts;
    counts->n_bad++;
    if (counts->bad[bad].n++ == 0) {
        counts->bad[bad].file = c->file->name;
        counts->bad[bad].line = c->n_lines;
    }
    return leave_out(s->corpus, err);
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

/* `line` is that of the source's file. */
static bool add_pair(struct hd_corpus *corpus, const struct cursor *at, struct hd_text line,
                     const struct hd_row *row, heed_error *err)
{
    const struct hd_corpus_file *file = at[0].file;
    if (!hd_places_add(&corpus->source.places, file->base + (uint64_t)(line.at - file->text), err))
        return false;
    const struct hd_direction *named =
        file->direction >= 0 ? &corpus->directions[file->direction] : NULL;
    file = at[1].file; /* none of TSV */
    if (file && !hd_places_add(&corpus->target.places,
                               file->base + (uint64_t)(row->target.at - file->text), err))
        return false;
    corpus->fingerprint = hash_text(hash_text(corpus->fingerprint, row->source), row->target);
    if (named || row->from.n > 0) {
        const struct hd_text to = named ? (struct hd_text){named->to, strlen(named->to)} : row->to;
        corpus->fingerprint = hash_text(corpus->fingerprint, to);
    }
    corpus->n++;
    return true;
}

/* Is one of the two a line that must not be learned? */
static bool is_excluded(struct scan *s, struct hd_text source, struct hd_text target)
{
    const struct hd_line_set *set = s->options->exclude;
    const bool is_in = set && (hd_line_set_has(set, source) || hd_line_set_has(set, target));
    s->corpus->counts.n_excluded += is_in;
    return is_in;
}

/* The languages of a line that names them: known, or new. */
static bool note_languages(struct hd_corpus *corpus, const struct hd_row *row,
                           enum hd_bad_pair *bad, heed_error *err)
{
    struct hd_direction direction;
    if (!hd_language_read(direction.from, row->from) || !hd_language_read(direction.to, row->to) ||
        strcmp(direction.from, direction.to) == 0) {
        *bad = HD_BAD_LANGUAGE;
        return true;
    }
    return add_direction(corpus, &direction, err) >= 0;
}

/* Document, TAB, question on one side, and the answer with its number on the other. */
static void cut_question(struct hd_text line, struct hd_row *row)
{
    struct hd_question q;
    hd_question_cut(line, &q);
    const size_t n = (size_t)(q.question.at + q.question.n - line.at);
    *row = (struct hd_row){.source = {line.at, n}, .target = {line.at + n + 1, line.n - n - 1}};
}

/* What is wrong with a question, HD_N_BAD_PAIRS for nothing. */
static enum hd_bad_pair check_question(struct hd_text line)
{
    struct hd_question q;
    struct hd_span place;
    if (hd_question_cut(line, &q) < 3)
        return HD_BAD_COLUMNS;
    if (!is_visible(q.document) || !is_visible(q.question) || !is_visible(q.answer))
        return HD_BAD_EMPTY;
    switch (hd_answer_find(&q, &place)) {
    case HD_ANSWER_MISSING:
        return HD_BAD_ANSWER;
    case HD_ANSWER_OUTSIDE:
        return HD_BAD_OUTSIDE;
    case HD_ANSWER_FOUND:
        break;
    }
    return HD_N_BAD_PAIRS;
}

static bool scan_question(struct scan *s, struct cursor *at, heed_error *err)
{
    const struct hd_text line = next_line(at);
    enum hd_bad_pair bad = check_bytes(line, s->longest);
    if (bad == HD_N_BAD_PAIRS)
        bad = check_question(line);
    if (bad != HD_N_BAD_PAIRS)
        return note_bad(s, at, line, bad, err);
    struct hd_row row;
    cut_question(line, &row);
    return is_excluded(s, row.source, row.target) ? leave_out(s->corpus, err)
                                                  : add_pair(s->corpus, at, line, &row, err);
}

/* One line of TSV. */
static bool scan_row(struct scan *s, struct cursor *at, heed_error *err)
{
    struct hd_row row;
    const struct hd_text line = next_line(at);
    enum hd_bad_pair bad = check_bytes(line, s->longest);
    if (bad == HD_N_BAD_PAIRS && !hd_columns_cut(&at->file->columns, line, &row))
        bad = HD_BAD_COLUMNS;
    if (bad == HD_N_BAD_PAIRS && !(is_visible(row.source) && is_visible(row.target)))
        bad = HD_BAD_EMPTY;
    if (bad == HD_N_BAD_PAIRS && is_excluded(s, row.source, row.target))
        return leave_out(s->corpus, err);
    if (bad == HD_N_BAD_PAIRS && at->file->columns.from >= 0 &&
        !note_languages(s->corpus, &row, &bad, err))
        return false;
    if (bad != HD_N_BAD_PAIRS)
        return note_bad(s, at, line, bad, err);
    /* The place of a pair is that of its line. */
    return add_pair(s->corpus, at, line, &row, err);
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
    const struct hd_row row = {.source = lines[0], .target = lines[1]};
    return is_excluded(s, lines[0], lines[1]) ? leave_out(s->corpus, err)
                                              : add_pair(s->corpus, at, lines[0], &row, err);
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
    return hd_corpus_ask(s->options, (double)n_done / (double)s->n_bytes, err);
}

/* A file, or two that go together. */
static bool scan_files(struct scan *s, const struct hd_corpus_file *source,
                       const struct hd_corpus_file *target, heed_error *err)
{
    const int n = target ? 2 : 1;
    struct cursor at[2] = {start_of(source), target ? start_of(target) : (struct cursor){0}};
    s->asked[0] = at[0].at;
    s->asked[1] = at[1].at;
    if (!target && source->has_header)
        next_line(&at[0]);
    while (at[0].at < at[0].end && (n == 1 || at[1].at < at[1].end)) {
        s->corpus->counts.n_lines++;
        const bool ok = s->corpus->has_questions ? scan_question(s, at, err)
                        : n == 1                 ? scan_row(s, at, err)
                                                 : scan_lines(s, at, err);
        if (!ok || !look_up(s, at, n, err))
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
    corpus->first_line = hd_alloc((size_t)corpus->source.n_files + 1, sizeof(size_t), err);
    if (!corpus->first_line)
        return false;
    for (int i = 0; i < corpus->source.n_files; i++) {
        if (!scan_files(&s, &corpus->source.files[i],
                        corpus->is_tsv ? NULL : &corpus->target.files[i], err))
            return false;
        corpus->first_line[i + 1] = corpus->counts.n_lines;
    }
    if (corpus->n == 0 && corpus->counts.n_excluded > 0)
        return hd_fail(
            err, HEED_BAD_TEXT,
            "%s: no pair is left of %zu: %zu have a side that is to be excluded; are these "
            "the right files?",
            corpus->source.files[0].name, corpus->counts.n_lines, corpus->counts.n_excluded);
    if (corpus->counts.n_lines == 0)
        return hd_fail(err, HEED_BAD_TEXT, "%s: none of %zu entries has both languages%s%s%s%s",
                       corpus->source.files[0].name, corpus->counts.n_unpaired,
                       corpus->n_directions > 0 ? ", " : "",
                       corpus->n_directions > 0 ? corpus->directions[0].from : "",
                       corpus->n_directions > 0 ? " and " : "",
                       corpus->n_directions > 0 ? corpus->directions[0].to : "");
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
    corpus->has_questions = files->has_questions;
    if (!open_side(&corpus->source, files->source, files->n_source, files, options, err) ||
        !open_side(&corpus->target, files->target, files->n_target, files, options, err) ||
        (files->is_tsv && !find_columns(corpus, files, err)) || !scan_all(corpus, options, err)) {
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
    hd_free(corpus->directions);
    hd_free(corpus->left_out);
    hd_free(corpus->first_line);
    hd_free(corpus);
}

size_t hd_corpus_line(const struct hd_corpus *corpus, size_t i, int *file)
{
    size_t low = 0, high = corpus->n_left_out; /* how many of those left out stand before pair i */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (corpus->left_out[middle] - middle <= i)
            low = middle + 1;
        else
            high = middle;
    }
    const size_t line = i + low;
    *file = 0;
    while (corpus->first_line[*file + 1] <= line)
        (*file)++;
    return line - corpus->first_line[*file];
}

size_t hd_corpus_file_lines(const struct hd_corpus *corpus, int file)
{
    return corpus->first_line[file + 1] - corpus->first_line[file];
}

const struct hd_direction *hd_corpus_direction(const struct hd_corpus *corpus, int i)
{
    return i >= 0 && i < corpus->n_directions ? &corpus->directions[i] : NULL;
}

int hd_corpus_n_directions(const struct hd_corpus *corpus)
{
    return corpus->n_directions;
}

size_t hd_corpus_size(const struct hd_corpus *corpus)
{
    return corpus->n;
}

/* The line of a side that pair i is in, and its file. */
static struct hd_text side_line(const struct side *side, size_t i, const struct hd_corpus_file **in)
{
    const uint64_t place = hd_places_at(&side->places, i);
    int low = 0, high = side->n_files;
    while (high - low > 1) { /* the file is in [low, high) */
        const int middle = low + (high - low) / 2;
        if (side->files[middle].base <= place)
            low = middle;
        else
            high = middle;
    }
    const struct hd_corpus_file *file = &side->files[low];
    const char *next;
    *in = file;
    return line_at(file->text + (place - file->base), file->text + file->size, &next);
}

struct hd_text_pair hd_corpus_pair(const struct hd_corpus *corpus, size_t i)
{
    const struct hd_corpus_file *file;
    struct hd_row row = {.source = side_line(&corpus->source, i, &file)};
    int direction = file->direction;
    if (corpus->has_questions)
        cut_question(row.source, &row);
    else if (corpus->is_tsv)
        hd_columns_cut(&file->columns, row.source, &row);
    else
        row.target = side_line(&corpus->target, i, &file);
    if (row.from.n > 0) {
        struct hd_direction named = {0};
        hd_language_read(named.from, row.from);
        hd_language_read(named.to, row.to);
        for (direction = 0; direction < corpus->n_directions; direction++)
            if (hd_direction_is(&corpus->directions[direction], named.from, named.to))
                break;
    }
    return (struct hd_text_pair){.source = row.source.at,
                                 .n_source = row.source.n,
                                 .target = row.target.at,
                                 .n_target = row.target.n,
                                 .direction = direction > 0 ? direction : 0};
}

/* ---- leaving out --------------------------------------------------------------------------------- */

/* What a corpus becomes. */
struct filtering {
    struct hd_places source, target;
    size_t *left_out;
    size_t n, n_left_out, capacity;
    uint64_t fingerprint;
};

static bool leave_line(struct filtering *f, size_t line, heed_error *err)
{
    size_t *lines = hd_grow(f->left_out, &f->capacity, f->n_left_out + 1, sizeof *lines, err);
    if (!lines)
        return false;
    f->left_out = lines;
    lines[f->n_left_out++] = line;
    return true;
}

static bool keep_pair(struct filtering *f, const struct hd_corpus *corpus, size_t i,
                      const struct hd_text_pair *p, heed_error *err)
{
    if (!hd_places_add(&f->source, hd_places_at(&corpus->source.places, i), err) ||
        (!corpus->is_tsv &&
         !hd_places_add(&f->target, hd_places_at(&corpus->target.places, i), err)))
        return false;
    f->fingerprint = hash_text(hash_text(f->fingerprint, (struct hd_text){p->source, p->n_source}),
                               (struct hd_text){p->target, p->n_target});
    if (corpus->n_directions > 0) {
        const char *to = corpus->directions[p->direction].to;
        f->fingerprint = hash_text(f->fingerprint, (struct hd_text){to, strlen(to)});
    }
    f->n++;
    return true;
}

bool hd_corpus_filter(struct hd_corpus *corpus,
                      bool (*keeps)(void *context, const struct hd_text_pair *pair), void *context,
                      heed_error *err)
{
    struct filtering f = {0};
    bool ok = true;
    for (size_t line = 0, i = 0, k = 0; ok && line < corpus->counts.n_lines; line++) {
        if (k < corpus->n_left_out && corpus->left_out[k] == line) {
            ok = leave_line(&f, line, err);
            k++;
            continue;
        }
        const struct hd_text_pair p = hd_corpus_pair(corpus, i);
        ok = keeps(context, &p) ? keep_pair(&f, corpus, i, &p, err) : leave_line(&f, line, err);
        i++;
    }
    if (ok) { /* what the corpus had is released in the place of what it gets */
        const struct filtering had = {
            corpus->source.places, corpus->target.places, corpus->left_out, 0, 0, 0, 0};
        corpus->source.places = f.source;
        corpus->target.places = f.target;
        corpus->left_out = f.left_out;
        corpus->n_left_out = f.n_left_out;
        corpus->left_out_capacity = f.capacity;
        corpus->n = f.n;
        corpus->fingerprint = f.fingerprint;
        f = had;
    }
    hd_places_release(&f.source);
    hd_places_release(&f.target);
    hd_free(f.left_out);
    return ok;
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
        [HD_BAD_LANGUAGE] = {"names no languages", "name no languages"},
        [HD_BAD_ANSWER] = {"has an answer that is not in its document",
                           "have answers that are not in their documents"},
        [HD_BAD_OUTSIDE] = {"has an answer outside of its document",
                            "have answers outside of their documents"},
    };
    const struct hd_corpus_counts *counts = &corpus->counts;
    static const char *const columns[] = {"is not three columns", "are not three columns"};
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
        at += sprintf(at, "%s%zu %s (%s%s:%zu)", between, n,
                      corpus->has_questions && i == HD_BAD_COLUMNS ? columns[n != 1]
                                                                   : names[i][n != 1],
                      n == 1 ? "" : "the first is ", counts->bad[i].file, counts->bad[i].line);
        between = ", ";
    }
    return text;
}

uint64_t hd_corpus_fingerprint(const struct hd_corpus *corpus)
{
    return corpus->fingerprint;
}
