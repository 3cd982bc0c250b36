/* text_file.h -- a file with text in it that is to be translated: its bytes, the units of text, and the slots where translations go.
 *
 * A kind of file (po_file.c, subtitles.c, paragraphs.c) reads units and slots, and writes a unit's translation into its slots. Invariant: slots ascend
 * and do not overlap, and all that is in none of them comes out as it went in. */
#ifndef HD_EXCHANGE_TEXT_FILE_H
#define HD_EXCHANGE_TEXT_FILE_H

#include "text/buffer.h"
#include "text/vocab.h"

struct hd_slot {
    struct hd_span span;
    char *text; /* what stands there then; NULL: it stays */
};

/* One text for the translator. */
struct hd_file_unit {
    char *text;
    bool has_tags; /* <b>, &amp;: it is HTML */
    size_t line;   /* where it begins, from 1 */
    size_t slot, n_slots;
    size_t flag;    /* PO: the slot of the flag; SIZE_MAX: none */
    int more_forms; /* PO: how many forms of the plural the last slot gets */
    int first_form; /* and the number of the first of them */
    char mark;    /* PO: what stands before the key's letter in a menu, _ & or ~; 0: nothing does */
    size_t key;   /* the place of that letter in the text */
    size_t width; /* characters of a line; 0: it is not broken into lines */
    char *
        breaks; /* PO: '\n' and '\t' as they are in the message, where a TAB is among them; of the text they are all '\n' */
    struct hd_span quote; /* paragraphs: what stands before each line, "> " */
};

struct hd_file_kind;
struct heed_file {
    const struct hd_file_kind *kind;
    char *name, *bytes; /* with a zero behind them */
    size_t n;
    const char *eol; /* that the file has */
    struct hd_file_unit *units;
    size_t n_units, unit_capacity;
    struct hd_slot *slots;
    size_t n_slots, slot_capacity;
    char **warnings;
    size_t n_warnings, warning_capacity;
    int n_forms;    /* PO: of the plural */
    char *language; /* PO: what its header says; NULL: nothing */
    bool has_mark;  /* a byte order mark before all */
    bool has_hours; /* subtitles: WebVTT may leave them out */
};

struct hd_file_kind {
    const char *name, *endings; /* "po", ".po .pot" */
    bool (*read)(heed_file *file, heed_error *err);
    bool (*put)(heed_file *file, struct hd_file_unit *unit, const char *translation,
                heed_error *err);
};

extern const struct hd_file_kind hd_po_kind, hd_srt_kind, hd_vtt_kind, hd_paragraph_kind;

/* A unit with this text; its other fields are the caller's to fill. NULL without memory. */
struct hd_file_unit *hd_file_add_unit(heed_file *file, struct hd_text text, heed_error *err);
/* Its number; SIZE_MAX without memory. */
size_t hd_file_add_slot(heed_file *file, size_t begin, size_t end, heed_error *err);
bool hd_file_fill(heed_file *file, size_t slot, struct hd_text text, heed_error *err);
bool hd_file_warn(heed_file *file, heed_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Is there anything in it that looks like a tag or an entity? */
bool hd_has_tags(struct hd_text text);

/* The line at `at` without its end; *next is where the one after it begins. */
struct hd_text hd_file_line(const heed_file *file, size_t at, size_t *next);

/* Append the text broken into lines of about equal length, as few as `width` characters allow, 0: one. */
bool hd_wrap(struct hd_buffer *out, struct hd_text text, size_t width, const char *eol,
             heed_error *err);
#endif
