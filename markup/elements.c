/* elements.c -- tags become marks: beginnings find their ends, and what an element means is decided by its name.
 *
 * The order of the text is kept, so a tree is not needed, only the elements that are open. An end closes what is open inside
 * of it; an end of nothing is left out; what is never closed is closed where its parent ends. Invariant: without the marks that
 * are left out, elements that belong to words are nested, and none of them has a break inside. */
#include "markup/tag.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

enum {
    DEEPEST = 100,    /* elements within one another that still travel with words */
    MOST_CHANGES = 20 /* of mind within one another: translate="yes" inside of translate="no" */
};

/* ---- what names mean --------------------------------------------------------------------------------------- */

static const char voids[] = "area base basefont bgsound br col embed frame hr img input keygen "
                            "link meta param source track wbr";
static const char blocks[] =
    "address area article aside audio base blockquote body br button canvas caption center col "
    "colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frame "
    "frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe legend li link main menu meta "
    "nav noembed noframes noscript object ol optgroup option p param picture plaintext pre search "
    "section select source summary table tbody td template textarea tfoot th thead title tr track "
    "ul video xmp";
/* Elements whose content is for machines, or must come out as it went in. */
static const char untouched[] = "code kbd samp var script style pre textarea math svg xmp iframe "
                                "noembed noframes plaintext";
static const char hidden[] = "script style";
/* Of these not even those that ask for it are translated. */
static const char for_machines[] =
    "script style math svg xmp iframe noembed noframes plaintext textarea";
/* HTML lets these end where the next one begins. */
static const char open_ended[] = "body caption colgroup dd dt head html li optgroup option p rb rp "
                                 "rt rtc tbody td tfoot th thead tr";

/* ---- the state ---------------------------------------------------------------------------------------------- */

struct open_element {
    size_t tag, mark;
    bool is_block;
};

struct reading {
    enum hd_markup_kind kind;
    const struct hd_tags *tags;
    const char *text;
    size_t n;
    bool *is_inline; /* of XML: [tags], what is among text */
    struct hd_marks *marks;
    struct open_element *open;
    size_t n_open, open_capacity, n_inline;
    int n_changes; /* of mind, around what is being read */
    heed_error *err;
};

static bool add_mark(struct reading *r, struct hd_markup_mark mark)
{
    struct hd_markup_mark *grown =
        hd_grow(r->marks->at, &r->marks->capacity, r->marks->n + 1, sizeof *grown, r->err);
    if (!grown)
        return false;
    r->marks->at = grown;
    grown[r->marks->n++] = mark;
    return true;
}

static bool is_one_of(const struct reading *r, const struct hd_tag *tag, const char *names)
{
    return hd_tag_is_one_of(tag, r->kind, r->text, names);
}

static bool is_block(const struct reading *r, size_t i)
{
    return r->kind == HD_MARKUP_XML ? !r->is_inline[i] : is_one_of(r, &r->tags->at[i], blocks);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool has_text(const char *text, size_t from, size_t to)
{
    while (from < to && is_space(text[from]))
        from++;
    return from < to;
}

/* ---- XML: what is among text -------------------------------------------------------------------------------- */

/* An element belongs to words when its parent has text of its own. */
static bool find_inline(struct reading *r)
{
    const size_t n = r->tags->n;
    size_t *parent = hd_alloc(n + 1, sizeof *parent, r->err), at = 0, now = 0;
    bool *is_mixed = hd_alloc(n + 1, sizeof *is_mixed, r->err); /* [0]: of the text as a whole */
    r->is_inline = hd_alloc(n + 1, sizeof *r->is_inline, r->err);
    const bool ok = parent && is_mixed && r->is_inline;
    for (size_t i = 0; ok && i < n; i++) {
        const struct hd_tag *tag = &r->tags->at[i];
        is_mixed[now] = is_mixed[now] || has_text(r->text, at, tag->begin);
        at = tag->end;
        parent[i + 1] = now;
        if (tag->kind == HD_TAG_START)
            now = i + 1;
        else if (tag->kind == HD_TAG_END && now > 0) {
            parent[i + 1] = parent[now];
            now = parent[now];
        }
    }
    if (ok)
        is_mixed[now] = is_mixed[now] || has_text(r->text, at, r->n);
    for (size_t i = 0; ok && i < n; i++)
        r->is_inline[i] = is_mixed[parent[i + 1]];
    hd_free(parent);
    hd_free(is_mixed);
    return ok;
}

/* ---- elements begin and end ----------------------------------------------------------------------------------- */

/* The end of the element that was opened last: at a tag, or where there is none at `place`. */
static bool close_last(struct reading *r, const struct hd_tag *end, size_t place)
{
    const struct open_element e = r->open[--r->n_open];
    const struct hd_tag *begin = &r->tags->at[e.tag];
    /* Within an element of words it must be there, or that could not end. */
    const bool may_be_missing = e.is_block && r->kind == HD_MARKUP_HTML &&
                                is_one_of(r, begin, open_ended) &&
                                (r->n_open == 0 || r->open[r->n_open - 1].is_block);
    r->n_inline -= !e.is_block;
    if (!end && may_be_missing)
        return true;
    /* A missing one stands before white space. */
    while (!end && place > r->marks->at[r->marks->n - 1].end && is_space(r->text[place - 1]))
        place--;
    r->marks->n_missing += !end;
    r->marks->at[e.mark].other = r->marks->n;
    return add_mark(r, (struct hd_markup_mark){.kind = e.is_block ? HD_MARK_BREAK : HD_MARK_CLOSE,
                                               .begin = end ? end->begin : place,
                                               .end = end ? end->end : place,
                                               .other = e.mark,
                                               .is_missing = !end,
                                               .name = begin->name,
                                               .n_name = begin->n_name});
}

/* Which open element an end tag ends; n_open: none. One that belongs to words ends nothing around a block. */
static size_t find_open(const struct reading *r, size_t i)
{
    enum {
        FAR = 1000
    }; /* so many elements are looked through, or long texts would take for ever */
    const bool is_of_words = !is_block(r, i);
    for (size_t k = r->n_open; k-- > 0 && r->n_open - k <= FAR;) {
        if (hd_tag_same_name(&r->tags->at[r->open[k].tag], &r->tags->at[i], r->kind, r->text))
            return k;
        if (is_of_words && r->open[k].is_block)
            break;
    }
    return r->n_open;
}

static bool end_element(struct reading *r, size_t i)
{
    const struct hd_tag *tag = &r->tags->at[i];
    const size_t k = find_open(r, i);
    if (k == r->n_open) {
        r->marks->n_dropped++;
        return add_mark(
            r, (struct hd_markup_mark){.kind = HD_MARK_DROP, .begin = tag->begin, .end = tag->end});
    }
    while (r->n_open > k + 1)
        if (!close_last(r, NULL, tag->begin))
            return false;
    return close_last(r, tag, 0);
}

/* HTML: a paragraph ends where a block begins, an item where the next one does. */
static bool end_before(struct reading *r, size_t i)
{
    const struct hd_tag *tag = &r->tags->at[i];
    size_t k = r->n_open;
    while (k > 0 && !r->open[k - 1].is_block)
        k--;
    if (r->kind != HD_MARKUP_HTML || k == 0 || is_one_of(r, tag, "br button object"))
        return true;
    const struct hd_tag *before = &r->tags->at[r->open[k - 1].tag];
    const bool is_next = hd_tag_same_name(before, tag, r->kind, r->text) ||
                         (is_one_of(r, before, "td th") && is_one_of(r, tag, "td th tr")) ||
                         (is_one_of(r, before, "dt dd") && is_one_of(r, tag, "dt dd"));
    const bool ends =
        hd_tag_is(before, r->kind, r->text, "p") || (is_next && is_one_of(r, before, open_ended));
    while (ends && r->n_open >= k)
        if (!close_last(r, NULL, tag->begin))
            return false;
    return true;
}

static bool begin_element(struct reading *r, size_t i)
{
    const struct hd_tag *tag = &r->tags->at[i];
    const bool is_of_words = !is_block(r, i) && r->n_inline < DEEPEST;
    if (!is_of_words && !end_before(r, i))
        return false;
    struct open_element *grown =
        hd_grow(r->open, &r->open_capacity, r->n_open + 1, sizeof *grown, r->err);
    if (!grown)
        return false;
    r->open = grown;
    grown[r->n_open++] = (struct open_element){i, r->marks->n, !is_of_words};
    r->n_inline += is_of_words;
    return add_mark(r, (struct hd_markup_mark){.kind = is_of_words ? HD_MARK_OPEN : HD_MARK_BREAK,
                                               .begin = tag->begin,
                                               .end = tag->end});
}

/* ---- what is not touched ----------------------------------------------------------------------------------------- */

static bool is_whole(const struct reading *r, const struct hd_tag *tag)
{
    return tag->kind == HD_TAG_WHOLE ||
           (r->kind == HD_MARKUP_HTML && tag->kind == HD_TAG_START && is_one_of(r, tag, voids));
}

/* The end tag of the element that begins at tag i; where there is none the end of its parent, or n. */
static size_t find_end(const struct reading *r, size_t i, bool *is_missing)
{
    const struct hd_tag *begin = &r->tags->at[i];
    size_t depth = 0, n_same = 0, k = i + 1;
    *is_missing = false;
    for (; k < r->tags->n; k++) {
        const struct hd_tag *tag = &r->tags->at[k];
        const bool is_same = hd_tag_same_name(begin, tag, r->kind, r->text);
        if (tag->kind == HD_TAG_START && !is_whole(r, tag)) {
            depth++;
            n_same += is_same;
        } else if (tag->kind == HD_TAG_END && is_same && n_same-- == 0)
            return k;
        else if (tag->kind == HD_TAG_END && depth-- == 0)
            break;
    }
    *is_missing = true;
    return k;
}

static bool has_break(const struct reading *r, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (r->tags->at[i].n_name > 0 && r->kind == HD_MARKUP_HTML && is_block(r, i))
            return true;
    return false;
}

/* Where a tag begins that the text ends in the middle of, from `from` on; the text's end where it does not. */
static size_t unfinished_tag(const struct reading *r, size_t from)
{
    size_t at = r->n;
    for (size_t i = r->n; i-- > from && r->text[i] != '>';) {
        const char next = i + 1 < r->n ? r->text[i + 1] : '\0';
        const bool is_letter = (next | 32) >= 'a' && (next | 32) <= 'z';
        if (r->text[i] == '<' && (is_letter || next == '/' || next == '!' || next == '?'))
            at = i;
    }
    return at;
}

static bool add_range(struct reading *r, size_t from, size_t to, size_t begin, size_t end);

/* The first tag of [from, to) whose element says that it is to be translated; `to` where there is none. */
static size_t find_translated(const struct reading *r, size_t from, size_t to)
{
    while (from < to &&
           !(r->tags->at[from].kind == HD_TAG_START && !is_whole(r, &r->tags->at[from]) &&
             hd_tag_says(&r->tags->at[from], r->text) == HD_TAG_SAYS_YES))
        from++;
    return from;
}

/* An element that is not touched, tags [i, k) up to byte `end`, but for what in it says translate="yes". */
static bool add_untouched_around(struct reading *r, size_t i, size_t k, size_t end)
{
    const struct hd_tag *tags = r->tags->at;
    size_t from = tags[i].begin;
    bool ok = (!is_block(r, i) && !has_break(r, i + 1, k)) || end_before(r, i);
    r->n_changes++;
    for (size_t yes; ok && (yes = find_translated(r, i + 1, k)) < k;) {
        bool is_missing;
        size_t last = find_end(r, yes, &is_missing);
        last = last < k ? last : k;
        const size_t behind = last < k ? tags[last].begin : end, n_open = r->n_open;
        ok = add_mark(r, (struct hd_markup_mark){.kind = HD_MARK_BREAK,
                                                 .begin = from,
                                                 .end = tags[yes].end}) &&
             add_range(r, yes + 1, last, tags[yes].end, behind);
        while (ok && r->n_open > n_open)
            ok = close_last(r, NULL, behind);
        from = behind;
        i = last < k ? last : k - 1;
    }
    r->n_changes--;
    return ok &&
           (from == end ||
            add_mark(r, (struct hd_markup_mark){.kind = HD_MARK_BREAK, .begin = from, .end = end}));
}

/* An element as one piece; *i is then its last tag. */
static bool add_untouched(struct reading *r, size_t *i)
{
    const struct hd_tag *begin = &r->tags->at[*i];
    bool is_missing;
    const size_t k = find_end(r, *i, &is_missing);
    const size_t end = !is_missing      ? r->tags->at[k].end
                       : k < r->tags->n ? r->tags->at[k].begin
                                        : unfinished_tag(r, begin->end);
    if (!is_missing && r->n_changes < MOST_CHANGES && find_translated(r, *i + 1, k) < k) {
        const size_t first = *i;
        *i = k;
        return add_untouched_around(r, first, k, end);
    }
    const bool is_of_words = !is_block(r, *i) && !has_break(r, *i + 1, k);
    if (!is_of_words && !end_before(r, *i))
        return false;
    r->marks->n_missing += is_missing;
    const bool ok =
        add_mark(r, (struct hd_markup_mark){.kind = is_of_words ? HD_MARK_OBJECT : HD_MARK_BREAK,
                                            .begin = begin->begin,
                                            .end = end,
                                            .is_missing = is_missing,
                                            .has_content = !is_one_of(r, begin, hidden),
                                            .name = begin->name,
                                            .n_name = begin->n_name});
    *i = is_missing ? k - 1 : k;
    return ok;
}

/* ---- all ------------------------------------------------------------------------------------------------------------ */

static bool add_entities(struct reading *r, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        struct hd_markup_mark mark = {.kind = HD_MARK_ENTITY, .begin = i};
        if (r->text[i] != '&')
            continue;
        heed_error err = {0};
        const size_t size = r->kind == HD_MARKUP_XML
                                ? hd_xml_entity(mark.text, r->text, to, i)
                                : hd_html_entity(mark.text, r->text, to, i, &err);
        if (hd_failed(&err))
            return hd_fail(r->err, err.code, "%s", err.message);
        if (size == 0)
            continue;
        mark.end = i + size;
        if (mark.text[0] == '\0') { /* a document's own */
            mark.kind = HD_MARK_OBJECT;
            mark.has_content = true;
        }
        if (!add_mark(r, mark))
            return false;
        i += size - 1;
    }
    return true;
}

static bool add_tag(struct reading *r, size_t *i)
{
    const struct hd_tag *tag = &r->tags->at[*i];
    const bool is_named = tag->n_name > 0;
    if (tag->kind == HD_TAG_END)
        return (r->kind == HD_MARKUP_HTML && hd_tag_is(tag, r->kind, r->text, "br"))
                   ? add_mark(r, (struct hd_markup_mark){.kind = HD_MARK_BREAK,
                                                         .begin = tag->begin,
                                                         .end = tag->end})
                   : end_element(r, *i);
    if (!is_named || is_whole(r, tag)) {
        const bool is_break = tag->kind == HD_TAG_DOCTYPE || (is_named && is_block(r, *i));
        if (is_break && !end_before(r, *i))
            return false;
        return add_mark(r,
                        (struct hd_markup_mark){.kind = is_break ? HD_MARK_BREAK : HD_MARK_OBJECT,
                                                .begin = tag->begin,
                                                .end = tag->end,
                                                .has_content = tag->kind == HD_TAG_CDATA});
    }
    const enum hd_tag_wish wish = hd_tag_says(tag, r->text);
    if (wish == HD_TAG_SAYS_NO || (is_one_of(r, tag, untouched) && wish != HD_TAG_SAYS_YES) ||
        is_one_of(r, tag, for_machines))
        return add_untouched(r, i);
    return begin_element(r, *i);
}

/* Tags [from, to), and the text from `begin` on that they are in, up to `end`. */
static bool add_range(struct reading *r, size_t from, size_t to, size_t begin, size_t end)
{
    for (size_t i = from; i < to; i++) {
        if (!add_entities(r, begin, r->tags->at[i].begin) || !add_tag(r, &i))
            return false;
        begin = r->marks->n > 0 ? r->marks->at[r->marks->n - 1].end : 0;
    }
    return add_entities(r, begin, end);
}

static bool add_all(struct reading *r)
{
    if (!add_range(r, 0, r->tags->n, 0, r->n))
        return false;
    while (r->n_open > 0)
        if (!close_last(r, NULL, r->n))
            return false;
    return true;
}

/* ---- afterwards --------------------------------------------------------------------------------------------------------- */

/* Elements with a break inside are breaks themselves: they stay where they are. */
static bool part_elements(struct hd_marks *m, heed_error *err)
{
    size_t *n_breaks = hd_alloc(m->n + 1, sizeof *n_breaks, err); /* before the mark */
    if (!n_breaks)
        return false;
    for (size_t i = 0; i < m->n; i++)
        n_breaks[i + 1] = n_breaks[i] + (m->at[i].kind == HD_MARK_BREAK);
    for (size_t i = 0; i < m->n; i++)
        if (m->at[i].kind == HD_MARK_OPEN && n_breaks[m->at[i].other] > n_breaks[i])
            m->at[i].kind = m->at[m->at[i].other].kind = HD_MARK_BREAK;
    hd_free(n_breaks);
    return true;
}

/* Are the marks i to k one piece: without any text between them, and whole? */
static bool is_one_piece(const struct hd_marks *m, const char *text, size_t i, size_t k)
{
    for (size_t j = i; j < k; j++)
        if (m->at[j].kind == HD_MARK_ENTITY || m->at[j].kind == HD_MARK_DROP ||
            m->at[j].is_missing || has_text(text, m->at[j].end, m->at[j + 1].begin))
            return false;
    return true;
}

/* Elements without text are objects. */
static void join_empty(struct hd_marks *m, const char *text)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        struct hd_markup_mark mark = m->at[i];
        const size_t k = mark.other;
        const bool is_open = mark.kind == HD_MARK_OPEN;
        if (is_open && is_one_piece(m, text, i, k)) {
            mark = (struct hd_markup_mark){.kind = HD_MARK_OBJECT,
                                           .begin = mark.begin,
                                           .end = m->at[k].end,
                                           .is_missing = m->at[k].is_missing,
                                           .name = m->at[k].name,
                                           .n_name = m->at[k].n_name};
            for (; i < k; i++)
                mark.has_content = mark.has_content || m->at[i].has_content;
        } else if (is_open)
            m->at[k].other = n; /* where the beginning is now */
        else if (mark.kind == HD_MARK_CLOSE)
            m->at[mark.other].other = n;
        m->at[n++] = mark;
    }
    m->n = n;
}

bool hd_make_marks(struct hd_marks *marks, enum hd_markup_kind kind, const struct hd_tags *tags,
                   const char *text, size_t n, heed_error *err)
{
    struct reading r = {
        .kind = kind, .tags = tags, .text = text, .n = n, .marks = marks, .err = err};
    const bool ok =
        (kind != HD_MARKUP_XML || find_inline(&r)) && add_all(&r) && part_elements(marks, err);
    if (ok)
        join_empty(marks, text);
    hd_free(r.is_inline);
    hd_free(r.open);
    return ok;
}
