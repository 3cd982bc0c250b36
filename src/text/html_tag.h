/* html_tag.h -- tags of HTML in a text that nobody called HTML: <b>, </a>, <br/>, <img src="x.png">.
 *
 * False friends decide the rules: "a <b and c> d", "List<T>", "<name>". So a tag has the name of an element of HTML, and what follows the
 * name has a value. */
#ifndef HD_TEXT_HTML_TAG_H
#define HD_TEXT_HTML_TAG_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the tag that begins at text[0], of text[0..n); 0 where none does. */
size_t hd_html_tag_length(const char *text, size_t n);

/* Does the text have tags, and every element that begins in it also its end, in the right order? */
bool hd_html_is_whole(const char *text, size_t n);

#endif
