/* po_pairs.c -- the messages of a PO file and their translations as pairs to learn from.
 *
 * Fuzzy translations are nobody's word, and left out. Of a plural the singular goes with the first form, and the plural with the last. A message's own language is
 * English, as a rule; where the file is said to be of the other direction its pairs are turned round. */
#include "base/error.h"
#include "base/language.h"
#include "exchange/pair_writer.h"
#include "exchange/po.h"

#include <string.h>

/* Is what the file translates to the source here? Its header names the language. */
static bool is_turned(struct hd_text header, const struct hd_direction *direction)
{
    const struct hd_text told = hd_po_header_field(header, "Language");
    if (!direction)
        return false;
    if (told.n == 0)
        return strcmp(direction->to, "en") == 0;
    return hd_language_fits(told.at, told.n, direction->from) &&
           !hd_language_fits(told.at, told.n, direction->to);
}

struct reading {
    struct hd_po po;
    struct hd_pair_writer *writer;
    struct hd_buffer id, translation;
    bool is_turned;
};

static bool add_pair(struct reading *r, struct hd_span id, struct hd_span translation,
                     heed_error *err)
{
    r->id.n = r->translation.n = 0;
    if (!hd_po_read_string(&r->id, &r->po, id, err) ||
        !hd_po_read_string(&r->translation, &r->po, translation, err))
        return false;
    const struct hd_text a = hd_buffer_text(&r->id), b = hd_buffer_text(&r->translation);
    return hd_pair_writer_add(r->writer, r->is_turned ? b : a, r->is_turned ? a : b, err);
}

static bool add_entry(struct reading *r, const struct hd_po_entry *e,
                      const struct hd_direction *direction, heed_error *err)
{
    r->id.n = 0;
    if (!hd_po_read_string(&r->id, &r->po, e->id, err))
        return false;
    if (r->id.n == 0) { /* the header */
        r->translation.n = 0;
        if (!hd_po_read_string(&r->translation, &r->po, e->translations[0], err))
            return false;
        r->is_turned = is_turned(hd_buffer_text(&r->translation), direction);
        return true;
    }
    if (e->is_fuzzy) {
        r->writer->counts.n_unpaired++;
        return true;
    }
    const int last = e->n_translations - 1;
    return ((e->plural.end > 0 && last == 0) || add_pair(r, e->id, e->translations[0], err)) &&
           (e->plural.end == 0 || add_pair(r, e->plural, e->translations[last], err));
}

bool hd_po_pairs(struct hd_pair_writer *writer, const char *text, size_t n,
                 const struct hd_direction *direction, heed_error *err)
{
    struct reading r = {.writer = writer, .is_turned = is_turned((struct hd_text){0}, direction)};
    struct hd_po_entry e;
    bool is_end = false, ok = hd_po_begin(&r.po, writer->name, text, n, err);
    while (ok && (ok = hd_po_next(&r.po, &e, &is_end, err)) && !is_end)
        ok = add_entry(&r, &e, direction, err);
    hd_buffer_release(&r.id);
    hd_buffer_release(&r.translation);
    return ok;
}
