/* po_file.c -- PO files as files to be translated: messages without a translation get one, marked fuzzy so that a person looks at it.
 *
 * What is translated already stays. A translation that has lost a placeholder (%s, {name}) would break the program: it is left out, with a warning. The mark
 * before a menu's key (_File, &File, ~File) is no letter of a word: it is taken out, and put back before a letter. */
#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "exchange/po.h"
#include "exchange/text_file.h"
#include "text/character.h"
#include "text/protect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the mark of a menu's key --------------------------------------------------------------------- */

/* Where it stands in a message; SIZE_MAX: nowhere, or there are several of its kind, which then are something else. */
static size_t find_mark(struct hd_text text)
{
    size_t found = SIZE_MAX, length;
    for (size_t i = 0; i + 1 < text.n; i++) {
        const char c = text.at[i];
        if (c != '_' && c != '&' && c != '~')
            continue;
        const bool is_before_letter =
            hd_char_is_letter(hd_char_at(text.at, text.n, i + 1, &length));
        const bool is_inside = i > 0 && c == '_' && text.at[i - 1] != ' ';
        const bool is_entity =
            c == '&' && memchr(text.at + i, ';', text.n - i < 10 ? text.n - i : 10);
        if (!is_before_letter || is_inside || is_entity || found != SIZE_MAX)
            return SIZE_MAX;
        found = i;
    }
    return found;
}

/* The translation with the mark before the letter that it was before, or the first one. */
static bool add_marked(struct hd_buffer *out, const struct hd_file_unit *unit,
                       const char *translation, heed_error *err)
{
    const size_t n = strlen(translation);
    const char key = unit->mark ? unit->text[unit->key] : '\0';
    size_t at = n, first = n, length;
    for (size_t i = 0; unit->mark && i < n && at == n; i += length) {
        const uint32_t cp = hd_char_at(translation, n, i, &length);
        first = first == n && hd_char_is_letter(cp) ? i : first;
        if ((cp | 32) == (uint32_t)(unsigned char)(key | 32))
            at = i;
    }
    at = at < n ? at : first;
    return hd_buffer_add(out, translation, at, err) &&
           (!unit->mark || hd_buffer_add(out, &unit->mark, 1, err)) &&
           hd_buffer_add(out, translation + at, n - at, err);
}

/* ---- reading --------------------------------------------------------------------------------------- */

static bool is_empty(const struct hd_po *po, struct hd_span span)
{
    bool is_inside = false;
    for (size_t i = span.begin; i < span.end; i++)
        if (po->text[i] == '"')
            is_inside = !is_inside;
        else if (is_inside)
            return false;
    return true;
}

static bool is_translated(const struct hd_po *po, const struct hd_po_entry *e)
{
    for (int i = 0; i < e->n_translations; i++)
        if (!is_empty(po, e->translations[i]))
            return true;
    return false;
}

static bool take_language(heed_file *file, struct hd_text header, heed_error *err)
{
    struct hd_text told = hd_po_header_field(header, "Language");
    while (told.n > 0 && told.at[told.n - 1] == ' ')
        told.n--;
    hd_free(file->language);
    file->language = told.n > 0 ? hd_alloc(told.n + 1, 1, err) : NULL;
    if (file->language)
        memcpy(file->language, told.at, told.n);
    return file->language || told.n == 0;
}

/* How many forms a plural has in this language, and which one it is: the header says it. */
static bool read_header(heed_file *file, const struct hd_po *po, const struct hd_po_entry *e,
                        heed_error *err)
{
    struct hd_buffer text = {0};
    const bool ok = hd_po_read_string(&text, po, e->translations[0], err);
    const struct hd_text forms = hd_po_header_field(hd_buffer_text(&text), "Plural-Forms");
    static const char name[] = "nplurals=";
    for (size_t i = 0; ok && i + sizeof name <= forms.n; i++)
        if (memcmp(forms.at + i, name, sizeof name - 1) == 0)
            file->n_forms = atoi(forms.at + i + sizeof name - 1);
    if (file->n_forms < 0 || file->n_forms > HD_PO_MOST_FORMS)
        file->n_forms = 0;
    const bool has_language = ok && take_language(file, hd_buffer_text(&text), err);
    hd_buffer_release(&text);
    return has_language;
}

/* TABs become ends of lines, which no translation loses; unit->breaks remembers which is which. */
static bool take_tabs(struct hd_file_unit *unit, heed_error *err)
{
    size_t n = 0;
    if (!strchr(unit->text, '\t'))
        return true;
    unit->breaks = hd_alloc(strlen(unit->text) + 1, 1, err);
    for (char *c = unit->text; unit->breaks && *c; c++)
        if (*c == '\t' || *c == '\n') {
            unit->breaks[n++] = *c;
            *c = '\n';
        }
    return unit->breaks != NULL;
}

static void put_tabs(const struct hd_file_unit *unit, char *translation)
{
    const char *next = unit->breaks;
    for (char *c = translation; next && *next && *c; c++)
        if (*c == '\n')
            *c = *next++;
}

/* A unit of one of the entry's strings. */
static struct hd_file_unit *add_unit(heed_file *file, const struct hd_po *po,
                                     const struct hd_po_entry *e, struct hd_span string,
                                     size_t flag, heed_error *err)
{
    struct hd_buffer text = {0};
    struct hd_file_unit *unit = NULL;
    if (hd_po_read_string(&text, po, string, err)) {
        const size_t mark = find_mark(hd_buffer_text(&text));
        const char sign = mark != SIZE_MAX ? text.at[mark] : '\0';
        if (mark == SIZE_MAX || hd_buffer_replace(&text, mark, 1, "", 0, err))
            unit = hd_file_add_unit(file, hd_buffer_text(&text), err);
        if (unit) {
            unit->mark = sign;
            unit->key = sign ? mark : 0;
            unit->flag = flag;
            unit->line = e->line;
            unit = take_tabs(unit, err) ? unit : NULL;
        }
    }
    hd_buffer_release(&text);
    return unit;
}

static bool add_plural(heed_file *file, const struct hd_po *po, const struct hd_po_entry *e,
                       size_t flag, heed_error *err)
{
    const int n_forms = file->n_forms > 0 ? file->n_forms : e->n_translations,
              n_there = e->n_translations < n_forms ? e->n_translations : n_forms;
    const size_t slot = file->n_slots;
    for (int i = 0; i < n_there; i++)
        if (hd_file_add_slot(file, e->translations[i].begin, e->translations[i].end, err) ==
            SIZE_MAX)
            return false;
    const size_t end = e->translations[n_there - 1].end;
    if (n_there < n_forms && hd_file_add_slot(file, end, end, err) == SIZE_MAX)
        return false;
    struct hd_file_unit *unit = n_forms > 1 ? add_unit(file, po, e, e->id, flag, err) : NULL;
    if (n_forms > 1 && !unit)
        return false;
    if (unit) {
        unit->slot = slot;
        unit->n_slots = 1;
    }
    unit = add_unit(file, po, e, e->plural, flag, err);
    if (!unit)
        return false;
    unit->mark = '\0';
    unit->slot = slot + (n_forms > 1);
    unit->n_slots = (size_t)n_there - (n_forms > 1);
    unit->more_forms = n_forms - n_there;
    unit->first_form = n_there;
    return true;
}

static bool add_entry(heed_file *file, const struct hd_po *po, const struct hd_po_entry *e,
                      heed_error *err)
{
    const size_t place = e->behind_flags ? e->behind_flags : e->flags_at;
    size_t flag = SIZE_MAX;
    if (!e->is_fuzzy && (flag = hd_file_add_slot(file, place, place, err)) == SIZE_MAX)
        return false;
    if (e->plural.end > 0)
        return add_plural(file, po, e, flag, err);
    const struct hd_span string = e->translations[0];
    const size_t slot = hd_file_add_slot(file, string.begin, string.end, err);
    struct hd_file_unit *unit = slot != SIZE_MAX ? add_unit(file, po, e, e->id, flag, err) : NULL;
    if (unit) {
        unit->slot = slot;
        unit->n_slots = 1;
    }
    return unit != NULL;
}

static bool read_po(heed_file *file, heed_error *err)
{
    struct hd_po po;
    struct hd_po_entry e;
    bool is_end = false;
    size_t n = 0, n_translated = 0;
    if (!hd_po_begin(&po, file->name, file->bytes, file->n, err))
        return false;
    while (hd_po_next(&po, &e, &is_end, err) && !is_end) {
        const bool is_header = is_empty(&po, e.id), is_done = is_translated(&po, &e);
        n += !is_header;
        n_translated += !is_header && is_done;
        if (is_header ? !read_header(file, &po, &e, err)
                      : !is_done && !add_entry(file, &po, &e, err))
            return false;
    }
    if (!is_end)
        return false;
    if (n == 0)
        return hd_fail(err, HEED_BAD_TEXT, "%s: there is no message in it; is it a PO file?",
                       file->name);
    return n_translated == 0 ||
           hd_file_warn(file, err, "%s: %zu of %zu messages have a translation, which stays",
                        file->name, n_translated, n);
}

/* ---- writing --------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    const struct hd_text *x = a, *y = b;
    const int order = memcmp(x->at, y->at, x->n < y->n ? x->n : y->n);
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* The placeholders of a message, sorted. False without memory. */
static bool find_variables(const char *text, struct hd_text **out, size_t *n, heed_error *err)
{
    struct hd_protected_list list = {0};
    *n = 0;
    *out = NULL;
    bool ok = hd_protect_find(&list, NULL, text, strlen(text), err);
    *out = ok ? hd_alloc(list.n + 1, sizeof **out, err) : NULL;
    for (size_t i = 0; *out && i < list.n; i++)
        if (list.at[i].kind == HD_PROTECTED_VARIABLE)
            (*out)[(*n)++] = (struct hd_text){text + list.at[i].span.begin,
                                              list.at[i].span.end - list.at[i].span.begin};
    hd_protected_release(&list);
    if (*out)
        qsort(*out, *n, sizeof **out, by_text);
    return *out != NULL;
}

/* Has the translation the message's placeholders, each as often? *lost is one that it has not, or has too often. */
static bool compare_variables(const char *text, const char *translation, struct hd_quoted *lost,
                              bool *is_same, heed_error *err)
{
    struct hd_text *a = NULL, *b = NULL;
    size_t n_a = 0, n_b = 0, i = 0;
    const bool ok =
        find_variables(text, &a, &n_a, err) && find_variables(translation, &b, &n_b, err);
    while (ok && i < n_a && i < n_b && by_text(&a[i], &b[i]) == 0)
        i++;
    *is_same = ok && i == n_a && i == n_b;
    if (ok && !*is_same) {
        const struct hd_text *odd = i < n_a ? &a[i] : &b[i];
        *lost = hd_quote_n(odd->at, odd->n);
    }
    hd_free(a);
    hd_free(b);
    return ok;
}

static bool add_more_forms(struct hd_buffer *out, const heed_file *file,
                           const struct hd_file_unit *unit, struct hd_text translation,
                           heed_error *err)
{
    bool ok = true;
    for (int i = 0; ok && i < unit->more_forms; i++) {
        char head[40];
        snprintf(head, sizeof head, "%smsgstr[%d] ", file->eol, unit->first_form + i);
        ok = hd_buffer_add_string(out, head, err) &&
             hd_po_write_string(out, translation, file->eol, err);
    }
    return ok;
}

/* A flag in front of the others, or a line of its own. */
static bool fill_flag(heed_file *file, const struct hd_file_unit *unit, heed_error *err)
{
    if (unit->flag == SIZE_MAX)
        return true;
    const size_t place = file->slots[unit->flag].span.begin;
    const bool has_flags = place >= 2 && memcmp(file->bytes + place - 2, "#,", 2) == 0;
    char line[24];
    snprintf(line, sizeof line, "#, fuzzy%s", file->eol);
    const char *flag = has_flags ? " fuzzy," : line;
    return hd_file_fill(file, unit->flag, (struct hd_text){flag, strlen(flag)}, err);
}

static bool put_po(heed_file *file, struct hd_file_unit *unit, const char *translation,
                   heed_error *err)
{
    struct hd_buffer marked = {0}, string = {0};
    struct hd_quoted lost;
    bool is_same;
    if (!compare_variables(unit->text, translation, &lost, &is_same, err))
        return false;
    if (!is_same)
        return hd_file_warn(file, err,
                            "%s:%zu: the placeholder %s is not in the translation as it is in the "
                            "message, which stays without one",
                            file->name, unit->line, lost.text);
    bool ok = add_marked(&marked, unit, translation, err) && hd_buffer_add(&marked, "", 1, err);
    if (ok) {
        put_tabs(unit, marked.at);
        marked.n--;
    }
    ok = ok && hd_po_write_string(&string, hd_buffer_text(&marked), file->eol, err);
    for (size_t i = 0; ok && i < unit->n_slots; i++)
        ok = hd_file_fill(file, unit->slot + i, hd_buffer_text(&string), err);
    if (ok && unit->more_forms > 0) {
        string.n = 0;
        ok = add_more_forms(&string, file, unit, hd_buffer_text(&marked), err) &&
             hd_file_fill(file, unit->slot + unit->n_slots, hd_buffer_text(&string), err);
    }
    hd_buffer_release(&marked);
    hd_buffer_release(&string);
    return ok && fill_flag(file, unit, err);
}

const struct hd_file_kind hd_po_kind = {"po", ".po .pot ", read_po, put_po};
