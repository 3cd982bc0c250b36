/* po.h -- PO files, the messages of programs and their translations (gettext), entry by entry.
 *
 * An entry says where its strings stand in the file, so that a translation can be put in its place and all else stays as it is. */
#ifndef HD_EXCHANGE_PO_H
#define HD_EXCHANGE_PO_H

#include "text/buffer.h"
#include "text/vocab.h"

enum { HD_PO_MOST_FORMS = 16 };

/* Spans are bytes of the file, from the first quotation mark to behind the last; {0} where there is none. */
struct hd_po_entry {
    size_t line; /* of msgid, from 1 */
    struct hd_span id, plural, translations[HD_PO_MOST_FORMS];
    int n_translations;
    bool is_fuzzy;
    size_t flags_at;     /* where a line of flags may stand, */
    size_t behind_flags; /* or behind "#," of the one that is there; 0: there is none */
};

/* A file that is being read; the text must live as long. */
struct hd_po {
    const char *name, *text;
    size_t n, at, line;
};

/* False with HEED_BAD_TEXT in `err`: not UTF-8, with the line. */
bool hd_po_begin(struct hd_po *po, const char *name, const char *text, size_t n, heed_error *err);

/* The next entry; obsolete ones (#~) are passed over. At the end *is_end is true. False with the reason in `err`: file, line, what is wrong there. */
bool hd_po_next(struct hd_po *po, struct hd_po_entry *entry, bool *is_end, heed_error *err);

/* Append what a string says. */
bool hd_po_read_string(struct hd_buffer *out, const struct hd_po *po, struct hd_span span,
                       heed_error *err);

/* Append a text as a string with its quotation marks, several lines of it one below the other, which end in `eol`. */
bool hd_po_write_string(struct hd_buffer *out, struct hd_text text, const char *eol,
                        heed_error *err);

/* What the header, the translation of "", says after "Name:"; empty where it says nothing. */
struct hd_text hd_po_header_field(struct hd_text header, const char *name);
#endif
