/* document.c -- a text with markup becomes blocks of plain text, and a result about these becomes one about the text. */
#include "translate/document.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "text/character.h"
#include "text/placeholder.h"
#include "translate/result.h"

#include <string.h>

/* ---- blocks ------------------------------------------------------------------------------------------- */

static bool is_space(const char *text, size_t n, size_t i, size_t *length)
{
    const uint32_t cp = hd_char_at(text, n, i, length);
    return *length > 0 && hd_char_is_space(cp);
}

static bool is_space_entity(const struct hd_markup_mark *mark)
{
    size_t length, n = strlen(mark->text);
    return mark->kind == HD_MARK_ENTITY && n > 0 && is_space(mark->text, n, 0, &length) &&
           length == n;
}

/* May a mark be left of all words of a block, or right of them? */
static bool is_at_edge(const struct hd_markup_mark *mark, bool has_symbols)
{
    return (mark->kind == HD_MARK_OBJECT && !(has_symbols && mark->has_content)) ||
           mark->kind == HD_MARK_DROP || is_space_entity(mark);
}

/* Without white space and marks that are for no word, at the beginning, */
static void strip_begin(const struct hd_document *d, struct hd_block *b, bool has_symbols)
{
    for (size_t length; b->given.begin < b->given.end;) {
        const struct hd_markup_mark *mark =
            b->first_mark < b->end_mark ? &d->marks.at[b->first_mark] : NULL;
        if (mark && mark->begin == b->given.begin) {
            if (!is_at_edge(mark, has_symbols))
                return;
            b->given.begin = mark->end;
            b->first_mark++;
        } else if (is_space(d->given, b->given.end, b->given.begin, &length))
            b->given.begin += length;
        else
            return;
    }
}

/* and at the end. */
static void strip_end(const struct hd_document *d, struct hd_block *b, bool has_symbols)
{
    while (b->given.end > b->given.begin) {
        const struct hd_markup_mark *mark = b->end_mark > 0 ? &d->marks.at[b->end_mark - 1] : NULL;
        size_t length;
        if (b->end_mark > b->first_mark && mark->end == b->given.end) {
            if (!is_at_edge(mark, has_symbols))
                return;
            b->given.end = mark->begin;
            b->end_mark--;
            continue;
        }
        const uint32_t cp =
            hd_char_before(d->given + b->given.begin, b->given.end - b->given.begin, &length);
        if (!hd_char_is_space(cp))
            return;
        b->given.end -= length;
    }
}

/* Elements around the whole of a block are no affair of its words. */
static void strip_block(const struct hd_document *d, struct hd_block *b, bool has_symbols)
{
    for (;;) {
        strip_begin(d, b, has_symbols);
        strip_end(d, b, has_symbols);
        if (b->end_mark < b->first_mark + 2)
            return;
        const struct hd_markup_mark *first = &d->marks.at[b->first_mark],
                                    *last = &d->marks.at[b->end_mark - 1];
        if (first->kind != HD_MARK_OPEN || first->begin != b->given.begin ||
            first->other != b->end_mark - 1 || last->end != b->given.end)
            return;
        b->given = (struct hd_span){first->end, last->begin};
        b->first_mark++;
        b->end_mark--;
    }
}

/* ---- plain text ----------------------------------------------------------------------------------------- */

static bool add_piece(struct hd_document *d, struct hd_bytes *plain, const char *text, size_t n,
                      struct hd_span given, heed_error *err)
{
    struct hd_document_piece *grown =
        hd_grow(d->pieces, &d->pieces_capacity, d->n_pieces + 1, sizeof *grown, err);
    if (!grown)
        return false;
    d->pieces = grown;
    grown[d->n_pieces++] = (struct hd_document_piece){{plain->n, plain->n + n}, given};
    hd_bytes_add(plain, text, n);
    return true;
}

/* Text as it is, but line ends and tabs are spaces: in markup they part no sentences. */
static bool add_text(struct hd_document *d, struct hd_bytes *plain, size_t from, size_t to,
                     heed_error *err)
{
    const size_t begin = plain->n;
    if (from == to)
        return true;
    if (!add_piece(d, plain, d->given + from, to - from, (struct hd_span){from, to}, err))
        return false;
    for (size_t i = begin; plain->at && i < plain->n; i++)
        if (plain->at[i] >= '\t' && plain->at[i] <= '\r')
            plain->at[i] = ' ';
    return true;
}

/* Words on both sides of an object stay two words. */
static bool add_object(struct hd_document *d, struct hd_bytes *plain, size_t m, bool is_glued,
                       heed_error *err)
{
    const struct hd_markup_mark *mark = &d->marks.at[m];
    const struct hd_span given = {mark->begin, mark->end};
    if (d->symbols[m] >= 0)
        return add_piece(d, plain, hd_placeholder(d->symbols[m]), HD_PLACEHOLDER_SIZE, given, err);
    return !(is_glued && mark->has_content) || add_piece(d, plain, " ", 1, given, err);
}

static bool add_mark(struct hd_document *d, struct hd_bytes *plain, size_t m, heed_error *err)
{
    const struct hd_markup_mark *mark = &d->marks.at[m];
    d->places[m] = plain->n;
    if (mark->kind == HD_MARK_ENTITY)
        return add_piece(d, plain, is_space_entity(mark) ? " " : mark->text,
                         is_space_entity(mark) ? 1 : strlen(mark->text),
                         (struct hd_span){mark->begin, mark->end}, err);
    size_t length;
    const bool is_glued = mark->kind == HD_MARK_OBJECT && plain->n > 0 &&
                          plain->at[plain->n - 1] != ' ' &&
                          !is_space(d->given, d->n_given, mark->end, &length);
    return mark->kind != HD_MARK_OBJECT || add_object(d, plain, m, is_glued, err);
}

/* Which placeholder stands for which object of a block. */
static void choose_symbols(struct hd_document *d, const struct hd_block *b, bool has_symbols)
{
    int n = 0;
    for (size_t m = b->first_mark; m < b->end_mark; m++)
        d->symbols[m] = -1;
    for (size_t i = b->given.begin; i + 2 < b->given.end; i++)
        has_symbols = has_symbols && memcmp(d->given + i, "\xE2\x9F\xA8", 3) != 0;
    for (size_t m = b->first_mark; has_symbols && m < b->end_mark && n < HD_N_PLACEHOLDERS; m++)
        if (d->marks.at[m].kind == HD_MARK_OBJECT && d->marks.at[m].has_content)
            d->symbols[m] = n++;
}

static bool add_block(struct hd_document *d, struct hd_bytes *plain, struct hd_block *b,
                      bool has_symbols, heed_error *err)
{
    strip_block(d, b, has_symbols);
    if (b->given.begin >= b->given.end)
        return true;
    if (plain->n > 0)
        hd_bytes_add(plain, "\n", 1);
    b->plain.begin = plain->n;
    b->first_piece = d->n_pieces;
    choose_symbols(d, b, has_symbols);
    size_t at = b->given.begin;
    for (size_t m = b->first_mark; m < b->end_mark; m++) {
        if (!add_text(d, plain, at, d->marks.at[m].begin, err) || !add_mark(d, plain, m, err))
            return false;
        at = d->marks.at[m].end;
    }
    if (!add_text(d, plain, at, b->given.end, err))
        return false;
    b->plain.end = plain->n;
    b->end_piece = d->n_pieces;
    struct hd_block *grown =
        hd_grow(d->blocks, &d->blocks_capacity, d->n_blocks + 1, sizeof *grown, err);
    if (!grown)
        return false;
    d->blocks = grown;
    grown[d->n_blocks++] = *b;
    return true;
}

static bool add_blocks(struct hd_document *d, bool has_symbols, heed_error *err)
{
    struct hd_bytes plain = {0};
    bool ok = true;
    size_t at = 0, first = 0;
    for (size_t m = 0; ok && m <= d->marks.n; m++) {
        const bool is_end = m == d->marks.n;
        if (!is_end && d->marks.at[m].kind != HD_MARK_BREAK)
            continue;
        struct hd_block block = {.given = {at, is_end ? d->n_given : d->marks.at[m].begin},
                                 .first_mark = first,
                                 .end_mark = m};
        ok = add_block(d, &plain, &block, has_symbols, err);
        at = is_end ? at : d->marks.at[m].end;
        first = m + 1;
    }
    hd_bytes_add(&plain, "", 1);
    d->plain = plain.at;
    d->n_plain = plain.n > 0 ? plain.n - 1 : 0;
    return ok &&
           (!plain.has_failed || hd_fail(err, HEED_NO_MEMORY, "there is no memory for the text"));
}

/* ---- a document ------------------------------------------------------------------------------------------ */

static void warn(const struct hd_document *d, heed_result *result)
{
    if (d->marks.n_missing > 0)
        hd_result_warn(result, "%zu tag%s never closed; the end was added", d->marks.n_missing,
                       d->marks.n_missing == 1 ? " was" : "s were");
    if (d->marks.n_dropped > 0)
        hd_result_warn(result, "%zu end tag%s nothing had opened %s left out", d->marks.n_dropped,
                       d->marks.n_dropped == 1 ? " that" : "s that",
                       d->marks.n_dropped == 1 ? "was" : "were");
}

static bool read_given(struct hd_document *d, bool has_symbols, heed_result *result,
                       heed_error *err)
{
    heed_error why = {0};
    const bool is_read = d->module->read(&d->marks, d->kind, d->given, d->n_given, &why);
    d->is_verbatim = !is_read && why.code == HEED_BAD_TEXT;
    if (d->is_verbatim) {
        hd_result_warn(result, "not translated: %s", why.message);
        d->marks.n = 0;
        d->plain = hd_alloc(1, 1, err);
        return d->plain != NULL;
    }
    if (!is_read)
        return hd_fail(err, why.code, "%s", why.message);
    d->places = hd_alloc(d->marks.n, sizeof *d->places, err);
    d->symbols = hd_alloc(d->marks.n, sizeof *d->symbols, err);
    if (!d->places || !d->symbols || !add_blocks(d, has_symbols, err))
        return false;
    warn(d, result);
    return true;
}

struct hd_document *hd_document_new(const struct hd_markup_module *module, enum hd_markup_kind kind,
                                    const char *given, size_t n, bool has_symbols,
                                    heed_result *result, heed_error *err)
{
    struct hd_document *d = hd_new(struct hd_document, err);
    if (!d)
        return NULL;
    d->given = given;
    d->n_given = n;
    d->module = module;
    d->kind = kind;
    if (read_given(d, has_symbols, result, err))
        return d;
    hd_document_free(d);
    return NULL;
}

void hd_document_free(struct hd_document *d)
{
    if (!d)
        return;
    for (size_t k = 0; k < d->n_written; k++) {
        hd_free(d->written[k].text);
        hd_free(d->written[k].begin);
        hd_free(d->written[k].end);
    }
    hd_free(d->written);
    d->module->free(d->marks.at);
    hd_free(d->places);
    hd_free(d->symbols);
    hd_free(d->plain);
    hd_free(d->pieces);
    hd_free(d->blocks);
    hd_free(d);
}

/* ---- a result about the text with its tags ------------------------------------------------------------------ */

/* From characters of one text to characters of another, for places that ascend. */
struct crossing {
    const char *from, *to;
    size_t n_from;
    const size_t *begin, *end; /* of each byte */
    size_t at, n_chars;        /* in `from` */
    size_t to_at, n_to_chars;
};

static size_t cross_to(struct crossing *c, size_t place)
{
    if (place < c->to_at) { /* words may overlap by a tag */
        c->to_at = 0;
        c->n_to_chars = 0;
    }
    c->n_to_chars += hd_utf8_count(c->to + c->to_at, place - c->to_at);
    c->to_at = place;
    return c->n_to_chars;
}

static size_t byte_of(struct crossing *c, size_t n_chars)
{
    if (n_chars < c->n_chars)
        c->at = c->n_chars = 0;
    for (size_t length; c->n_chars < n_chars && c->at < c->n_from; c->n_chars++) {
        hd_char_at(c->from, c->n_from, c->at, &length);
        c->at += length;
    }
    return c->at;
}

static void cross(struct crossing *c, size_t *start, size_t *end)
{
    const size_t from = byte_of(c, *start), to = byte_of(c, *end);
    *start = cross_to(c, c->begin[from]);
    *end = cross_to(c, to > from ? c->end[to - 1] : c->begin[from]);
}

/* Places of bytes of the plain text in the text that was given. */
static bool place_source(const struct hd_document *d, size_t **begin, size_t **end, heed_error *err)
{
    *begin = hd_alloc(d->n_plain + 1, sizeof **begin, err);
    *end = hd_alloc(d->n_plain + 1, sizeof **end, err);
    if (!*begin || !*end)
        return false;
    for (size_t p = 0; p < d->n_pieces; p++) {
        const struct hd_span plain = d->pieces[p].plain, given = d->pieces[p].given;
        const bool is_same = plain.end - plain.begin == given.end - given.begin;
        for (size_t i = plain.begin; i < plain.end; i++) {
            (*begin)[i] = is_same ? given.begin + (i - plain.begin) : given.begin;
            (*end)[i] = is_same ? (*begin)[i] + 1 : given.end;
        }
    }
    (*begin)[d->n_plain] = d->n_given;
    return true;
}

static void cross_result(struct crossing *source, struct crossing *target, heed_translation *tr)
{
    for (size_t i = 0; i < tr->n_words; i++)
        cross(target, &tr->words[i].start, &tr->words[i].end);
    for (size_t i = 0; i < tr->n_sentences; i++) {
        cross(source, &tr->sentences[i].source_start, &tr->sentences[i].source_end);
        cross(target, &tr->sentences[i].target_start, &tr->sentences[i].target_end);
    }
}

static bool finish_translation(const struct hd_document *d, heed_result *r, size_t k,
                               struct crossing *source, heed_error *err)
{
    heed_translation *tr = r->translations[k];
    const struct hd_marked_text *w = &d->written[k];
    const size_t n = strlen(w->text);
    char *copy = hd_result_keep(r, n + 1, 1, err);
    if (!copy)
        return false;
    memcpy(copy, w->text, n);
    struct crossing target = {
        .from = tr->text, .n_from = strlen(tr->text), .to = copy, .begin = w->begin, .end = w->end};
    cross_result(source, &target, tr);
    tr->text = copy;
    return true;
}

bool hd_document_finish(struct hd_document *d, heed_result *r, heed_error *err)
{
    size_t *begin = NULL, *end = NULL;
    bool ok = place_source(d, &begin, &end, err);
    struct crossing source = {
        .from = d->plain, .n_from = d->n_plain, .to = d->given, .begin = begin, .end = end};
    for (size_t i = 0; ok && i < r->n_words; i++)
        cross(&source, &r->words[i].start, &r->words[i].end);
    for (size_t k = 0; ok && k < r->n_translations; k++)
        ok = finish_translation(d, r, k, &source, err);
    r->source = d->given;
    hd_free(begin);
    hd_free(end);
    return ok;
}
