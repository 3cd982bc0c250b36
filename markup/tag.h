/* tag.h -- tags as pieces of a text: where one ends, its name, its attributes. */
#ifndef HD_MARKUP_TAG_H
#define HD_MARKUP_TAG_H

#include "markup/markup.h"

enum hd_tag_kind {
    HD_TAG_START,
    HD_TAG_END,
    HD_TAG_WHOLE,   /* <x/> */
    HD_TAG_COMMENT, /* whatever is not for readers and has no inside: comments, instructions */
    HD_TAG_DOCTYPE,
    HD_TAG_CDATA, /* XML: text without entities */
};

struct hd_tag {
    enum hd_tag_kind kind;
    size_t begin, end;   /* bytes of the text */
    size_t name, n_name; /* of START, END, WHOLE */
};

/* In the order of the text. {0} is none. */
struct hd_tags {
    struct hd_tag *at;
    size_t n, capacity;
};

/* The tag that begins at text[i], a '<'. False: it is no tag, or it has no end. */
bool hd_tag_read(struct hd_tag *tag, enum hd_markup_kind kind, const char *text, size_t n,
                 size_t i);

bool hd_tags_add(struct hd_tags *tags, const struct hd_tag *tag, heed_error *err);

/* Is the tag's name this one, in lower case? In XML the part behind a colon counts. */
bool hd_tag_is(const struct hd_tag *tag, enum hd_markup_kind kind, const char *text,
               const char *name);

/* Is it one of these, separated by spaces? */
bool hd_tag_is_one_of(const struct hd_tag *tag, enum hd_markup_kind kind, const char *text,
                      const char *names);

/* Have two tags the same name? */
bool hd_tag_same_name(const struct hd_tag *a, const struct hd_tag *b, enum hd_markup_kind kind,
                      const char *text);

/* Does a start tag say that what is in it must not be translated (translate="no", class="notranslate"), or that it must,
 * whatever it is in (translate="yes")? */
enum hd_tag_wish { HD_TAG_SAYS_NOTHING, HD_TAG_SAYS_NO, HD_TAG_SAYS_YES };
enum hd_tag_wish hd_tag_says(const struct hd_tag *tag, const char *text);

/* ---- the two languages ----------------------------------------------------------------------------- */

/* All tags of a text. */
bool hd_html_tags(struct hd_tags *tags, const char *text, size_t n, heed_error *err);
bool hd_xml_tags(struct hd_tags *tags, const char *text, size_t n, heed_error *err);

/* The entity at text[i], a '&': what it stands for, into out[0..48), and its length; 0: it is no entity. */
size_t hd_html_entity(char *out, const char *text, size_t n, size_t i, heed_error *err);
size_t hd_xml_entity(char *out, const char *text, size_t n, size_t i);

/* ---- what they mean --------------------------------------------------------------------------------- */

/* Tags become marks: beginnings find their ends, and what may not be touched becomes one piece. */
bool hd_make_marks(struct hd_marks *marks, enum hd_markup_kind kind, const struct hd_tags *tags,
                   const char *text, size_t n, heed_error *err);
#endif
