/* tag_place.c -- where the tags of a block stand in its translation.
 *
 * Both texts are cut into atoms. An atom of the translation is linked to atoms of the source: by attention, as words are
 * (links.h); numbers, names and punctuation by being the same; without attention by where they stand. An element then takes the run of
 * atoms that is linked to its words more than to others (the largest sum of shares less one half), parents before children,
 * each within its parent and beside its siblings; an object stands where the fewest links cross. Invariant: elements are nested as they are
 * in the source, and each has one run, be it empty. */
#include "translate/document.h"

#include "align/links.h"
#include "base/memory.h"
#include "text/character.h"
#include "text/placeholder.h"

#include <string.h>

struct link {
    size_t target, source; /* atoms */
    float weight;
};

/* A block on its way. */
struct placing {
    const struct hd_document *document;
    const struct hd_block *block;
    const struct hd_plain_translation *translation;
    struct hd_tag_placement *out;  /* atoms of the translation */
    struct hd_tag_placement plain; /* atoms of the block */
    struct link *links;            /* by target */
    size_t n_links, links_capacity;
    size_t *first_link; /* [atoms + 1] */
    float *row;         /* [atoms of the block] */
    heed_error *err;
};

void hd_tag_placement_release(struct hd_tag_placement *p)
{
    hd_free(p->atoms);
    hd_free(p->elements);
    *p = (struct hd_tag_placement){0};
}

/* ---- atoms ---------------------------------------------------------------------------------------------- */

static bool is_of_word(uint32_t cp)
{
    return hd_char_is_letter(cp) || hd_char_is_digit(cp) || hd_char_is_mark(cp) || cp == '_';
}

static bool is_apostrophe(uint32_t cp)
{
    return cp == '\'' || cp == 0x2019;
}

/* How many letters there are from i on. */
static size_t count_letters(const char *text, size_t n, size_t i)
{
    size_t count = 0;
    for (size_t length; i < n && is_of_word(hd_char_at(text, n, i, &length)); i += length)
        count++;
    return count;
}

/* The end of the atom that begins at text[i]: a word with what is joined to it by hyphens, "l'" and "don't" as one each; a
 * character of a script without spaces; or a run of one mark of punctuation. */
static size_t end_of_atom(const char *text, size_t n, size_t i)
{
    size_t length, next;
    const uint32_t first = hd_char_at(text, n, i, &length);
    i += length;
    if (!is_of_word(first)) {
        while (i < n && hd_char_at(text, n, i, &length) == first)
            i += length;
        return i;
    }
    for (; i < n; i += length) {
        const uint32_t cp = hd_char_at(text, n, i, &length);
        if (hd_char_is_mark(cp))
            continue;
        if (hd_char_is_unspaced(first) || hd_char_is_unspaced(cp))
            return i;
        if (is_of_word(cp))
            continue;
        const uint32_t behind = hd_char_at(text, n, i + length, &next);
        if (is_apostrophe(cp) && next > 0 && is_of_word(behind)) {
            if (count_letters(text, n, i + length) > 2)
                return i + length;
        } else if (!((cp == '-' || cp == 0x2010 || cp == '.' || cp == ',') && next > 0 &&
                     (cp == '-' || cp == 0x2010 ? is_of_word(behind) : hd_char_is_digit(behind))))
            return i;
    }
    return i;
}

static int symbol_at(const char *text, size_t n)
{
    for (int k = 0; k < HD_N_PLACEHOLDERS && n >= HD_PLACEHOLDER_SIZE; k++)
        if (memcmp(text, hd_placeholder(k), HD_PLACEHOLDER_SIZE) == 0)
            return k;
    return -1;
}

/* Cut text[span) into atoms. Marks of the block, where `marks` is given, are between atoms. */
static bool cut_atoms(struct hd_tag_placement *p, const char *text, struct hd_span span,
                      const struct placing *marks, heed_error *err)
{
    size_t m = marks ? marks->block->first_mark : 0, length;
    for (size_t i = span.begin; i < span.end;) {
        const uint32_t cp = hd_char_at(text, span.end, i, &length);
        if (hd_char_is_space(cp)) {
            i += length;
            continue;
        }
        const int symbol = symbol_at(text + i, span.end - i);
        size_t end = symbol >= 0 ? i + HD_PLACEHOLDER_SIZE : end_of_atom(text, span.end, i);
        while (marks && m < marks->block->end_mark && marks->document->places[m] <= i)
            m++;
        if (marks && m < marks->block->end_mark && marks->document->places[m] < end)
            end = marks->document->places[m];
        struct hd_tag_atom *grown =
            hd_grow(p->atoms, &p->atoms_capacity, p->n_atoms + 1, sizeof *grown, err);
        if (!grown)
            return false;
        p->atoms = grown;
        grown[p->n_atoms++] = (struct hd_tag_atom){
            .span = {i, end}, .is_word = symbol >= 0 || is_of_word(cp), .symbol = symbol};
        i = end;
    }
    return true;
}

/* Which segment of the block each is in. */
static void find_segments(struct hd_tag_placement *p, const struct hd_block *block,
                          const struct hd_span *segments)
{
    const size_t last = block->first_segment + block->n_segments - 1;
    size_t s = block->first_segment;
    for (size_t a = 0; a < p->n_atoms; a++) {
        while (s < last && segments[s].end <= p->atoms[a].span.begin)
            s++;
        p->atoms[a].segment = s;
    }
}

/* ---- links ------------------------------------------------------------------------------------------------ */

static bool add_link(struct placing *p, size_t target, size_t source, float weight)
{
    struct link *grown =
        hd_grow(p->links, &p->links_capacity, p->n_links + 1, sizeof *grown, p->err);
    if (!grown)
        return false;
    p->links = grown;
    grown[p->n_links++] = (struct link){target, source, weight};
    return true;
}

/* Atoms of a segment, [begin, end). */
static struct hd_span atoms_of(const struct hd_tag_placement *p, size_t segment)
{
    struct hd_span span = {0, 0};
    while (span.begin < p->n_atoms && p->atoms[span.begin].segment < segment)
        span.begin++;
    span.end = span.begin;
    while (span.end < p->n_atoms && p->atoms[span.end].segment == segment)
        span.end++;
    return span;
}

/* Marks of one kind have one number, whatever the language makes of them. */
static uint32_t kind_of(const char *text, const struct hd_tag_atom *atom)
{
    static const uint32_t kinds[][2] = {{0xAB, '"'},   {0xBB, '"'},   {0x201C, '"'}, {0x201D, '"'},
                                        {0x201E, '"'}, {0x2018, '"'}, {0x2019, '"'}, {'\'', '"'},
                                        {0xFF0C, ','}, {0x3001, ','}, {0x3002, '.'}, {0x2026, '.'},
                                        {0xFF01, '!'}, {0xFF1F, '?'}, {0xFF08, '('}, {0xFF09, ')'},
                                        {0xFF1A, ':'}, {0xFF1B, ';'}, {0x300C, '"'}, {0x300D, '"'}};
    size_t length;
    const uint32_t cp = hd_char_at(text, atom->span.end, atom->span.begin, &length);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i][0] == cp)
            return kinds[i][1];
    return cp;
}

/* Does an atom say by itself what it belongs to: a number, a name, a placeholder? */
static bool is_telling(const char *text, const struct hd_tag_atom *atom, bool is_first)
{
    size_t length;
    const uint32_t first = hd_char_at(text, atom->span.end, atom->span.begin, &length);
    return atom->symbol >= 0 || hd_char_is_digit(first) ||
           (!is_first && hd_char_is_upper(first) && atom->span.end - atom->span.begin > 2);
}

static bool are_alike(const char *x, const struct hd_tag_atom *a, const char *y,
                      const struct hd_tag_atom *b)
{
    if (a->is_word != b->is_word)
        return false;
    if (!a->is_word)
        return kind_of(x, a) == kind_of(y, b);
    const size_t n = a->span.end - a->span.begin;
    return n == b->span.end - b->span.begin && memcmp(x + a->span.begin, y + b->span.begin, n) == 0;
}

/* The atom of the source that is the same as an atom of the translation: as many of them are on both sides, and it is the
 * same one of them; of punctuation also the last one of both. SIZE_MAX: none. */
static size_t twin_of(const struct placing *p, size_t target, struct hd_span source)
{
    const char *x = p->translation->text, *y = p->document->plain;
    const struct hd_tag_atom *atom = &p->out->atoms[target];
    const struct hd_span own = atoms_of(p->out, atom->segment);
    if (atom->is_word && !is_telling(x, atom, target == own.begin))
        return SIZE_MAX;
    size_t n_before = 0, n_all = 0, n_there = 0, twin = SIZE_MAX;
    for (size_t a = own.begin; a < own.end; a++) {
        const bool is_alike = are_alike(x, &p->out->atoms[a], x, atom);
        n_before += is_alike && a < target;
        n_all += is_alike;
    }
    for (size_t s = source.begin; s < source.end; s++)
        if (are_alike(x, atom, y, &p->plain.atoms[s])) {
            const bool is_it = n_there++ == n_before;
            twin = is_it ? s : twin;
        }
    if (n_there == n_all)
        return twin;
    return !atom->is_word && target + 1 == own.end && source.end > source.begin &&
                   are_alike(x, atom, y, &p->plain.atoms[source.end - 1])
               ? source.end - 1
               : SIZE_MAX;
}

/* What an atom looked at, in atoms of the block; false: nothing is known. */
static bool find_row(struct placing *p, const struct hd_tag_atom *atom, struct hd_span source)
{
    const struct hd_token_weights *w = p->translation->weights;
    const struct hd_token_side *from = w->from, *to = w->to;
    const size_t first = to->first[atom->segment], n = to->first[atom->segment + 1] - first;
    bool is_known = false;
    memset(p->row + source.begin, 0, (source.end - source.begin) * sizeof *p->row);
    for (size_t t = from->first[atom->segment]; t < from->first[atom->segment + 1]; t++) {
        const struct hd_span span = from->spans[t];
        if (!w->rows[t] || span.begin == SIZE_MAX || span.begin >= atom->span.end ||
            span.end <= atom->span.begin)
            continue;
        is_known = true;
        for (size_t j = 0, s = source.begin; j < n; j++) {
            const struct hd_span at = to->spans[first + j];
            if (at.begin == SIZE_MAX)
                continue;
            while (s < source.end && p->plain.atoms[s].span.end <= at.begin)
                s++;
            for (size_t k = s; k < source.end && p->plain.atoms[k].span.begin < at.end; k++)
                if (p->plain.atoms[k].is_word) /* all of them, where a tag cuts a token */
                    p->row[k] += w->rows[t][j];
        }
    }
    return is_known;
}

/* By where it stands: the same share of its segment is before it. */
static bool link_by_place(struct placing *p, size_t target, struct hd_span source)
{
    const struct hd_span own = atoms_of(p->out, p->out->atoms[target].segment);
    const size_t n = own.end - own.begin, n_source = source.end - source.begin;
    return n_source == 0 ||
           add_link(p, target, source.begin + (2 * (target - own.begin) + 1) * n_source / (2 * n),
                    0.5F);
}

static bool link_atom(struct placing *p, size_t target)
{
    const struct hd_tag_atom *atom = &p->out->atoms[target];
    const struct hd_span source = atoms_of(&p->plain, atom->segment);
    const size_t twin = twin_of(p, target, source);
    if (twin != SIZE_MAX)
        return add_link(p, target, twin, 1);
    if (p->translation->passes[atom->segment])
        return link_by_place(p, target, source);
    if (!atom->is_word)
        return true;
    if (!find_row(p, atom, source))
        return link_by_place(p, target, source);
    float most = 0;
    for (size_t s = source.begin; s < source.end; s++)
        most = p->row[s] > most ? p->row[s] : most;
    for (size_t s = source.begin; s < source.end && most > 0; s++)
        if (p->row[s] >= 0.7F * most && !add_link(p, target, s, p->row[s]))
            return false;
    return true;
}

static bool link_atoms(struct placing *p)
{
    p->first_link = hd_alloc(p->out->n_atoms + 1, sizeof *p->first_link, p->err);
    p->row = hd_alloc(p->plain.n_atoms, sizeof *p->row, p->err);
    if (!p->first_link || !p->row)
        return false;
    for (size_t a = 0; a < p->out->n_atoms; a++) {
        if (!link_atom(p, a))
            return false;
        p->first_link[a + 1] = p->n_links;
    }
    return true;
}

/* ---- elements --------------------------------------------------------------------------------------------- */

static bool add_element(struct placing *p, size_t mark, size_t parent, bool is_object)
{
    struct hd_tag_placement *out = p->out;
    struct hd_tag_element *grown =
        hd_grow(out->elements, &out->elements_capacity, out->n_elements + 1, sizeof *grown, p->err);
    if (!grown)
        return false;
    out->elements = grown;
    const size_t place = mark == SIZE_MAX ? p->block->plain.begin : p->document->places[mark];
    size_t *link = parent == SIZE_MAX ? NULL : &grown[parent].first_child;
    while (link && *link)
        link = &grown[*link].next_child;
    if (link)
        *link = out->n_elements;
    grown[out->n_elements++] = (struct hd_tag_element){
        .mark = mark, .parent = parent, .is_object = is_object, .plain = {place, place}};
    return true;
}

/* The block itself, then the elements and objects in it, in the order of the text. */
static bool add_elements(struct placing *p)
{
    if (!add_element(p, SIZE_MAX, SIZE_MAX, false))
        return false;
    struct hd_tag_placement *out = p->out;
    out->elements[0].plain = p->block->plain;
    out->elements[0].atoms.end = out->n_atoms;
    size_t now = 0;
    for (size_t m = p->block->first_mark; m < p->block->end_mark; m++) {
        const enum hd_markup_mark_kind kind = p->document->marks.at[m].kind;
        if (kind == HD_MARK_CLOSE && now > 0) {
            out->elements[now].plain.end = p->document->places[m];
            now = out->elements[now].parent;
        } else if (kind == HD_MARK_OPEN || kind == HD_MARK_OBJECT) {
            if (!add_element(p, m, now, kind == HD_MARK_OBJECT))
                return false;
            now = kind == HD_MARK_OPEN ? out->n_elements - 1 : now;
        }
    }
    return true;
}

/* The share of an atom's links that lead into plain[span); -1: it has no links. */
static float share_of(const struct placing *p, size_t atom, struct hd_span span)
{
    float inside = 0, all = 0;
    for (size_t i = p->first_link[atom]; p->links && i < p->first_link[atom + 1]; i++) {
        const size_t at = p->plain.atoms[p->links[i].source].span.begin;
        all += p->links[i].weight;
        inside += at >= span.begin && at < span.end ? p->links[i].weight : 0;
    }
    return all > 0 ? inside / all : -1;
}

static void give_atoms(struct placing *p, size_t element, struct hd_span atoms)
{
    p->out->elements[element].atoms = atoms;
    for (size_t a = atoms.begin; a < atoms.end; a++)
        p->out->atoms[a].owner = element;
}

/* The run of its parent's atoms that is the element's most of all. */
static bool take_run(struct placing *p, size_t element)
{
    const struct hd_tag_element *e = &p->out->elements[element],
                                *parent = &p->out->elements[e->parent];
    struct hd_span best = {0, 0};
    float most = 0, sum = 0;
    size_t begin = 0;
    for (size_t a = parent->atoms.begin; a < parent->atoms.end; a++) {
        const float share = share_of(p, a, e->plain), gain = share < 0 ? 0 : share - 0.5F;
        if (p->out->atoms[a].owner != e->parent) {
            sum = 0;
            continue;
        }
        if (sum <= 0) {
            sum = 0;
            begin = a;
        }
        sum += gain;
        if (gain > 0 && sum > most) {
            most = sum;
            best = (struct hd_span){begin, a + 1};
        }
    }
    while (best.begin < best.end && share_of(p, best.begin, e->plain) <= 0.5F)
        best.begin++;
    if (best.begin < best.end)
        give_atoms(p, element, best);
    return best.begin < best.end;
}

/* The nearest place between atoms of its parent that is not inside one of the parent's other elements. */
static size_t nearest_gap(const struct placing *p, size_t parent, size_t wanted)
{
    const struct hd_span atoms = p->out->elements[parent].atoms;
    const struct hd_tag_atom *a = p->out->atoms;
    size_t best = atoms.begin;
    for (size_t at = atoms.begin; at <= atoms.end; at++) {
        const bool may_part = at == atoms.begin || at == atoms.end || a[at].owner == parent ||
                              a[at - 1].owner != a[at].owner;
        const size_t far = at > wanted ? at - wanted : wanted - at,
                     so_far = best > wanted ? best - wanted : wanted - best;
        if (may_part && far < so_far)
            best = at;
    }
    return best;
}

/* Where nothing is linked to it: the free word that is linked most, or else the nearest to where it would stand. */
static void take_word(struct placing *p, size_t element)
{
    const struct hd_tag_element *e = &p->out->elements[element],
                                *parent = &p->out->elements[e->parent];
    const size_t length = parent->plain.end - parent->plain.begin,
                 n = parent->atoms.end - parent->atoms.begin,
                 middle = (e->plain.begin + e->plain.end) / 2 - parent->plain.begin;
    const size_t wanted = parent->atoms.begin + (length > 0 ? middle * n / length : 0);
    size_t best = SIZE_MAX, distance = SIZE_MAX;
    float most = 0;
    for (size_t a = parent->atoms.begin; a < parent->atoms.end; a++) {
        const size_t far = a > wanted ? a - wanted : wanted - a;
        const float share = share_of(p, a, e->plain);
        if (p->out->atoms[a].owner != e->parent || !p->out->atoms[a].is_word ||
            p->out->atoms[a].symbol >= 0)
            continue;
        if (share > most || (share >= most && far < distance) ||
            (most == 0 && share <= 0 && far < distance)) {
            most = share > most ? share : most;
            distance = far;
            best = a;
        }
    }
    const size_t at = nearest_gap(p, e->parent, wanted);
    give_atoms(p, element,
               best != SIZE_MAX ? (struct hd_span){best, best + 1} : (struct hd_span){at, at});
}

/* ---- objects ----------------------------------------------------------------------------------------------- */

static bool is_linked_behind(const struct placing *p, size_t atom, size_t place, bool *is_known)
{
    const size_t first = p->first_link[atom];
    *is_known = p->links && p->first_link[atom + 1] > first;
    if (!*is_known)
        return false;
    size_t best = first;
    for (size_t i = first; i < p->first_link[atom + 1]; i++)
        best = p->links[i].weight > p->links[best].weight ? i : best;
    return p->plain.atoms[p->links[best].source].span.begin >= place;
}

/* The place between atoms of its parent that fewest links cross. Of equal ones the first where it clings to the word before it. */
static size_t best_gap(const struct placing *p, const struct hd_tag_element *e)
{
    const struct hd_tag_element *parent = &p->out->elements[e->parent];
    const size_t place = e->plain.begin;
    const char *plain = p->document->plain;
    const bool clings = place > p->block->plain.begin && plain[place - 1] != ' ';
    size_t cost = 0, best = parent->atoms.begin, least;
    bool is_known;
    for (size_t a = parent->atoms.begin; a < parent->atoms.end; a++)
        cost += !is_linked_behind(p, a, place, &is_known) && is_known;
    least = cost;
    for (size_t a = parent->atoms.begin; a < parent->atoms.end; a++) {
        const bool is_behind = is_linked_behind(p, a, place, &is_known);
        cost = !is_known ? cost : is_behind ? cost + 1 : cost - 1;
        const bool may_part = p->out->atoms[a].owner == e->parent || a + 1 == parent->atoms.end ||
                              p->out->atoms[a].owner != p->out->atoms[a + 1].owner;
        if (may_part && (cost < least || (cost == least && !clings && !is_known))) {
            least = cost;
            best = a + 1;
        }
    }
    return best;
}

/* The atom that is the object's placeholder. */
static size_t find_symbol(const struct placing *p, size_t mark)
{
    const int symbol = p->document->symbols[mark];
    for (size_t a = 0; symbol >= 0 && a < p->out->n_atoms; a++)
        if (p->out->atoms[a].symbol == symbol)
            return a;
    return SIZE_MAX;
}

static void place_object(struct placing *p, size_t element)
{
    struct hd_tag_element *e = &p->out->elements[element];
    const size_t atom = find_symbol(p, e->mark);
    e->is_done = atom != SIZE_MAX;
    const size_t gap = e->is_done ? atom : best_gap(p, e);
    e->atoms = (struct hd_span){gap, gap};
}

/* ---- all ---------------------------------------------------------------------------------------------------- */

/* The children of an element, in two rounds: those that links lead to choose first. */
static void place_children(struct placing *p, size_t parent)
{
    struct hd_tag_element *e = p->out->elements;
    for (size_t c = e[parent].first_child; c; c = e[c].next_child)
        if (!e[c].is_object && take_run(p, c))
            e[c].is_done = true;
    for (size_t c = e[parent].first_child; c; c = e[c].next_child)
        if (!e[c].is_object && !e[c].is_done)
            take_word(p, c);
    for (size_t c = e[parent].first_child; c; c = e[c].next_child)
        if (e[c].is_object)
            place_object(p, c);
}

static bool place(struct placing *p)
{
    const struct hd_plain_translation *t = p->translation;
    const size_t last = p->block->first_segment + p->block->n_segments - 1;
    const struct hd_span span = {t->segments[p->block->first_segment].begin, t->segments[last].end};
    if (!cut_atoms(&p->plain, p->document->plain, p->block->plain, p, p->err) ||
        !cut_atoms(p->out, t->text, span, NULL, p->err))
        return false;
    find_segments(&p->plain, p->block, t->source_segments);
    find_segments(p->out, p->block, t->segments);
    if (!link_atoms(p) || !add_elements(p))
        return false;
    for (size_t e = 0; e < p->out->n_elements; e++)
        if (!p->out->elements[e].is_object)
            place_children(p, e);
    return true;
}

bool hd_place_tags(struct hd_tag_placement *placement, const struct hd_document *document,
                   const struct hd_block *block, const struct hd_plain_translation *translation,
                   heed_error *err)
{
    struct placing p = {.document = document,
                        .block = block,
                        .translation = translation,
                        .out = placement,
                        .err = err};
    const bool ok = place(&p);
    hd_tag_placement_release(&p.plain);
    hd_free(p.links);
    hd_free(p.first_link);
    hd_free(p.row);
    return ok;
}
