/* markup.h -- the door between libheed and the module that reads HTML and XML, heed_markup.so.
 *
 * A text with markup becomes a list of marks in the order of its bytes; what is between them is text. Marks say what a tag
 * means for a translator: does the text go on behind it, does it belong to words, may it be touched. libheed decides where they
 * stand in a translation (src/translate/document.h).
 *
 *     html.c (gumbo) | xml.c (libxml2)  ->  tags (tag.h)  ->  elements.c  ->  marks
 *
 * The module has its own copies of the functions of src/base that it uses, since libheed shows none of its own. */
#ifndef HD_MARKUP_MARKUP_H
#define HD_MARKUP_MARKUP_H

#include <heed.h>

enum hd_markup_kind {
    HD_MARKUP_NONE,
    HD_MARKUP_HTML,
    HD_MARKUP_XML,
    HD_MARKUP_AUTO, /* HTML for a text that looks like it; libheed's own, the module never meets it */
};

enum hd_markup_mark_kind {
    HD_MARK_BREAK,  /* stays where it is, and no sentence goes on behind it: <p>, </p>, <br> */
    HD_MARK_OPEN,   /* the beginning and the end of an element that belongs to words: <b>, */
    HD_MARK_CLOSE,  /* </b> */
    HD_MARK_OBJECT, /* one piece without words to translate: <img>, a comment, <code>...</code> */
    HD_MARK_ENTITY, /* text: &eacute; */
    HD_MARK_DROP,   /* an end of nothing, which is left out: </b> */
};

/* Bytes [begin, end) of the text. */
struct hd_markup_mark {
    enum hd_markup_mark_kind kind;
    size_t begin, end;
    size_t other;     /* of OPEN the number of its CLOSE, and the other way round */
    bool is_missing;  /* the end is not in the text: </name> is to be written behind the piece */
    bool has_content; /* of OBJECT: there is something in it that a reader reads */
    size_t name;      /* where it is missing: of the name, in the text, */
    size_t n_name;
    char text[48]; /* of ENTITY: what it stands for */
};

/* Ascending, none within another. */
struct hd_marks {
    struct hd_markup_mark *at;
    size_t n, capacity;
    size_t n_missing, n_dropped; /* ends that were not there; ends that were too many */
};

/* A segment of a translation memory: not ending in NUL; "en-US", "" where it is not said. */
struct hd_tmx_variant {
    const char *language, *text;
    size_t n;
};

/* How a memory is read. `read` gives the next bytes, none at the end; `unit` is told each unit, the languages that it has, the source's
 * as the header says, and its line. Both return false with the reason in `err` to stop. */
struct hd_tmx_reading {
    const char *name; /* for sentences */
    bool (*read)(void *context, char *to, size_t room, size_t *n, heed_error *err);
    bool (*unit)(void *context, const struct hd_tmx_variant *variants, size_t n,
                 const char *source_language, size_t line, heed_error *err);
    void *context;
};

struct hd_markup_module {
    const char *version; /* HEED_VERSION of the build; the structs of another may be others */

    /* The marks of text[0..n), UTF-8 without a NUL, which is followed by a zero; `marks` is {0}, and to be released by
     * free(marks->at), also when this fails. False with the reason in `err`: HEED_BAD_TEXT (XML that is not well-formed),
     * HEED_NO_MEMORY. */
    bool (*read)(struct hd_marks *marks, enum hd_markup_kind kind, const char *text, size_t n,
                 heed_error *err);
    void (*free)(void *memory);

    /* Read a translation memory (TMX). False with the reason in `err`: HEED_BAD_TEXT with file and line. */
    bool (*read_tmx)(const struct hd_tmx_reading *reading, heed_error *err);
};

/* The module's own (tmx.c). */
bool hd_tmx_read(const struct hd_tmx_reading *reading, heed_error *err);

/* What the library looks for in the module. */
extern HEED_API const struct hd_markup_module hd_markup_module;

#endif
