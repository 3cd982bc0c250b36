/* tag_write.c -- a translation with its tags: what is between blocks as it was, and each block's words with theirs. */
#include "translate/document.h"

#include "base/error.h"
#include "base/memory.h"
#include "text/character.h"

#include <string.h>

struct writing {
    const struct hd_document *document;
    const struct hd_plain_translation *translation;
    const struct hd_block *block; /* under way, */
    const struct hd_tag_placement *placement;
    struct hd_bytes out;
    struct hd_marked_text *written;
};

/* ---- pieces ----------------------------------------------------------------------------------------------- */

/* What is between `from` and `to` of the text given, with its marks from `first` on. */
static void write_given(struct writing *w, struct hd_span given, size_t first, size_t end)
{
    const struct hd_document *d = w->document;
    size_t at = given.begin;
    for (size_t m = first; m < end; m++) {
        const struct hd_markup_mark *mark = &d->marks.at[m];
        hd_bytes_add(&w->out, d->given + at, mark->begin - at);
        if (mark->kind != HD_MARK_DROP)
            hd_bytes_add(&w->out, d->given + mark->begin, mark->end - mark->begin);
        if (mark->is_missing) {
            hd_bytes_text(&w->out, "</");
            hd_bytes_add(&w->out, d->given + mark->name, mark->n_name);
            hd_bytes_text(&w->out, ">");
        }
        at = mark->end;
    }
    hd_bytes_add(&w->out, d->given + at, given.end - at);
}

static void write_mark(struct writing *w, size_t mark)
{
    const struct hd_markup_mark *m = &w->document->marks.at[mark];
    write_given(w, (struct hd_span){m->begin, m->end}, mark, mark + 1);
}

/* Text of the translation, escaped; each of its bytes is told its place. */
static void write_text(struct writing *w, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const char c = w->translation->text[i];
        w->written->begin[i] = w->out.n;
        if (c == '&' || c == '<' || c == '>')
            hd_bytes_text(&w->out, c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;");
        else
            hd_bytes_add(&w->out, &c, 1);
        w->written->end[i] = w->out.n;
    }
}

/* ---- a block ----------------------------------------------------------------------------------------------- */

/* White space before an atom; none before the first of an element. */
static struct hd_span space_before(const struct writing *w, const struct hd_tag_element *e,
                                   size_t atom)
{
    const struct hd_tag_atom *atoms = w->placement->atoms;
    if (atom <= e->atoms.begin || atom >= e->atoms.end)
        return (struct hd_span){0, 0};
    return (struct hd_span){atoms[atom - 1].span.end, atoms[atom].span.begin};
}

/* Between two sentences the white space is that of the text, line ends included; its bytes, or NULL. */
static const char *given_space(const struct writing *w, struct hd_span space)
{
    const struct hd_document *d = w->document;
    const struct hd_plain_translation *t = w->translation;
    const struct hd_block *b = w->block;
    for (size_t s = b->first_segment; s + 1 < b->first_segment + b->n_segments; s++) {
        const struct hd_span plain = {t->source_segments[s].end, t->source_segments[s + 1].begin};
        if (t->segments[s].end != space.begin || plain.end - plain.begin != space.end - space.begin)
            continue;
        for (size_t p = b->first_piece; p < b->end_piece; p++)
            if (d->pieces[p].plain.begin <= plain.begin && d->pieces[p].plain.end >= plain.end)
                return d->given + d->pieces[p].given.begin +
                       (plain.begin - d->pieces[p].plain.begin);
    }
    return NULL;
}

static void write_space(struct writing *w, struct hd_span space)
{
    const char *given = space.end > space.begin ? given_space(w, space) : " ";
    if (!given) {
        write_text(w, space.begin, space.end);
        return;
    }
    for (size_t i = space.begin; i < space.end; i++) {
        w->written->begin[i] = w->out.n + (i - space.begin);
        w->written->end[i] = w->written->begin[i] + 1;
    }
    hd_bytes_add(&w->out, given, space.end > space.begin ? space.end - space.begin : 1);
}

static bool is_space_at(const struct hd_document *d, size_t place, bool is_before)
{
    size_t length;
    const uint32_t cp = is_before ? hd_char_before(d->given, place, &length)
                                  : hd_char_at(d->given, d->n_given, place, &length);
    return length > 0 && hd_char_is_space(cp);
}

static void write_element(struct writing *w, size_t element);

/* The next child from `after` on that stands, without words, before an atom; 0: none. */
static size_t child_at(const struct writing *w, size_t after, size_t atom)
{
    const struct hd_tag_element *e = w->placement->elements;
    for (size_t c = after; c; c = e[c].next_child)
        if (e[c].atoms.begin == atom && e[c].atoms.end == atom && !(e[c].is_object && e[c].is_done))
            return c;
    return 0;
}

/* What stands between two atoms of an element: white space, and children without words with theirs. */
static void write_gap(struct writing *w, const struct hd_tag_element *e, size_t atom)
{
    const struct hd_tag_placement *p = w->placement;
    const struct hd_document *d = w->document;
    const struct hd_span space = space_before(w, e, atom);
    const bool is_inside =
        atom > e->atoms.begin && atom<e->atoms.end, has_space = space.end> space.begin;
    size_t c = child_at(w, e->first_child, atom), before = 0;
    if (c == 0 && has_space)
        write_space(w, space);
    for (bool is_spaced = false; c; c = child_at(w, p->elements[c].next_child, atom)) {
        const size_t mark = p->elements[c].mark,
                     last = p->elements[c].is_object ? mark : d->marks.at[mark].other;
        const bool wants_before =
            is_space_at(d, d->marks.at[mark].begin, true) && (before > 0 || atom > e->atoms.begin);
        if (wants_before && !(is_spaced && before > 0))
            write_space(w, before == 0 ? space : (struct hd_span){0, 0});
        write_element(w, c);
        before = c;
        is_spaced = false;
        const bool is_last = child_at(w, p->elements[c].next_child, atom) == 0;
        const bool wants_behind = is_space_at(d, d->marks.at[last].end, false);
        if (is_last && is_inside &&
            (has_space ? wants_behind || !wants_before : wants_behind && p->atoms[atom].is_word))
            write_space(w, wants_before ? (struct hd_span){0, 0} : space);
        else if (is_last && atom < e->atoms.end && atom == e->atoms.begin && wants_behind &&
                 p->atoms[atom].is_word)
            hd_bytes_text(&w->out, " ");
    }
}

/* An atom, or the object that it stands for. */
static void write_atom(struct writing *w, size_t atom)
{
    const struct hd_tag_placement *p = w->placement;
    const struct hd_tag_atom *a = &p->atoms[atom];
    if (a->symbol < 0) {
        write_text(w, a->span.begin, a->span.end);
        return;
    }
    const size_t begin = w->out.n;
    bool is_object = false;
    for (size_t e = 1; e < p->n_elements; e++)
        if (p->elements[e].is_object && w->document->symbols[p->elements[e].mark] == a->symbol) {
            if (p->elements[e].is_done && p->elements[e].atoms.begin == atom)
                write_mark(w, p->elements[e].mark);
            is_object = true;
        }
    if (!is_object) {
        write_text(w, a->span.begin, a->span.end);
        return;
    }
    for (size_t i = a->span.begin; i < a->span.end; i++) {
        w->written->begin[i] = begin;
        w->written->end[i] = w->out.n;
    }
}

/* Its tags and what is in it; parsers nest elements of words 100 deep at most. */
static void write_element(struct writing *w, size_t element)
{
    const struct hd_tag_placement *p = w->placement;
    const struct hd_tag_element *e = &p->elements[element];
    if (e->mark != SIZE_MAX)
        write_mark(w, e->mark);
    if (e->is_object)
        return;
    for (size_t a = e->atoms.begin;;) {
        write_gap(w, e, a);
        if (a >= e->atoms.end)
            break;
        size_t child = p->atoms[a].owner;
        while (child != element && p->elements[child].parent != element)
            child = p->elements[child].parent;
        if (child == element)
            write_atom(w, a++);
        else {
            write_element(w, child);
            a = p->elements[child].atoms.end;
        }
    }
    if (e->mark != SIZE_MAX)
        write_mark(w, w->document->marks.at[e->mark].other);
}

/* A block that nothing has changed is as it was. */
static bool is_as_given(const struct writing *w, const struct hd_block *b)
{
    for (size_t m = b->first_mark; m < b->end_mark; m++)
        if (w->document->marks.at[m].kind == HD_MARK_DROP || w->document->marks.at[m].is_missing ||
            w->document->symbols[m] >= 0)
            return false;
    for (size_t s = b->first_segment; s < b->first_segment + b->n_segments; s++)
        if (!w->translation->passes[s])
            return false;
    const size_t last = b->first_segment + b->n_segments - 1;
    const struct hd_span target = {w->translation->segments[b->first_segment].begin,
                                   w->translation->segments[last].end};
    return target.end - target.begin >= b->plain.end - b->plain.begin;
}

static void write_as_given(struct writing *w, const struct hd_block *b)
{
    const struct hd_document *d = w->document;
    const size_t out = w->out.n, last = b->first_segment + b->n_segments - 1;
    /* The translation's own begins behind white space. */
    size_t at = w->translation->segments[last].end - (b->plain.end - b->plain.begin);
    write_given(w, b->given, b->first_mark, b->end_mark);
    for (size_t p = b->first_piece; p < b->end_piece; p++) {
        const struct hd_span plain = d->pieces[p].plain, given = d->pieces[p].given;
        const bool is_same = plain.end - plain.begin == given.end - given.begin;
        for (size_t i = plain.begin; i < plain.end; i++) {
            const size_t begin = is_same ? given.begin + (i - plain.begin) : given.begin;
            w->written->begin[at + i - b->plain.begin] = out + begin - b->given.begin;
            w->written->end[at + i - b->plain.begin] =
                out + (is_same ? begin + 1 : given.end) - b->given.begin;
        }
    }
}

static bool write_block(struct writing *w, const struct hd_block *b, heed_error *err)
{
    if (b->n_segments == 0) {
        write_given(w, b->given, b->first_mark, b->end_mark);
        return true;
    }
    if (is_as_given(w, b)) {
        write_as_given(w, b);
        return true;
    }
    struct hd_tag_placement placement = {0};
    const bool ok = hd_place_tags(&placement, w->document, b, w->translation, err);
    w->block = b;
    w->placement = &placement;
    if (ok)
        write_element(w, 0);
    w->placement = NULL;
    hd_tag_placement_release(&placement);
    return ok;
}

/* ---- a translation ----------------------------------------------------------------------------------------- */

static bool write_document(struct writing *w, heed_error *err)
{
    const struct hd_document *d = w->document;
    size_t at = 0, mark = 0;
    for (size_t b = 0; b < d->n_blocks && !d->is_verbatim; b++) {
        const struct hd_block *block = &d->blocks[b];
        write_given(w, (struct hd_span){at, block->given.begin}, mark, block->first_mark);
        if (!write_block(w, block, err))
            return false;
        at = block->given.end;
        mark = block->end_mark;
    }
    write_given(w, (struct hd_span){at, d->n_given}, mark, d->is_verbatim ? mark : d->marks.n);
    return true;
}

/* Bytes that were not written are where the next one is. */
static void fill_places(struct hd_marked_text *t, size_t n, size_t n_out)
{
    t->begin[n] = t->end[n] = n_out;
    for (size_t i = n; i-- > 0;)
        if (t->begin[i] == SIZE_MAX)
            t->begin[i] = t->end[i] = t->begin[i + 1];
}

bool hd_document_write(struct hd_document *d, const struct hd_plain_translation *translation,
                       heed_error *err)
{
    struct hd_marked_text *grown =
        hd_grow(d->written, &d->written_capacity, d->n_written + 1, sizeof *grown, err);
    if (!grown)
        return false;
    d->written = grown;
    struct hd_marked_text *t = &grown[d->n_written++];
    const size_t n = translation->n;
    t->begin = hd_alloc(n + 1, sizeof *t->begin, err);
    t->end = hd_alloc(n + 1, sizeof *t->end, err);
    if (!t->begin || !t->end)
        return false;
    memset(t->begin, 0xFF, (n + 1) * sizeof *t->begin);
    struct writing w = {.document = d, .translation = translation, .written = t};
    const bool ok = write_document(&w, err);
    hd_bytes_add(&w.out, "", 1);
    t->text = w.out.at;
    fill_places(t, n, w.out.n > 0 ? w.out.n - 1 : 0);
    return ok && (!w.out.has_failed ||
                  hd_fail(err, HEED_NO_MEMORY, "there is no memory for the translation"));
}
