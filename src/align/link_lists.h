/* link_lists.h -- links of many sentence pairs, 4 bytes each, and their form as text: "0-0 1-2 2-1", a line for each pair (the
 * format of Pharaoh and of most aligners). */
#ifndef HD_ALIGN_LINK_LISTS_H
#define HD_ALIGN_LINK_LISTS_H

#include "text/word_links.h"

enum { HD_MOST_LINKED_WORDS = 1 << 16 }; /* of a side */

/* {0} is empty. */
struct hd_link_lists {
    struct hd_word_link *at;
    size_t n_links, link_capacity;
    size_t *end; /* [n]: behind the last link of each pair */
    size_t n, capacity;
};

/* Leaves {0}. */
void hd_link_lists_release(struct hd_link_lists *lists);

/* Add a pair without links, and then its links one by one. False without memory. */
bool hd_link_lists_next(struct hd_link_lists *lists, heed_error *err);
bool hd_link_lists_add(struct hd_link_lists *lists, struct hd_word_link link, heed_error *err);

/* Add all pairs of others. */
bool hd_link_lists_join(struct hd_link_lists *lists, const struct hd_link_lists *others,
                        heed_error *err);

/* The links of pair i, *n of them. */
const struct hd_word_link *hd_link_list(const struct hd_link_lists *lists, size_t i, size_t *n);

/* Add the pairs of a file, plain or compressed by gzip, a line each; an empty line is a pair without links. False with the
 * reason in `err`: HEED_BAD_FILE, HEED_BAD_TEXT (what is no link, with its line), HEED_NO_MEMORY. */
bool hd_link_lists_read(struct hd_link_lists *lists, const char *path, heed_error *err);

/* The same for one line; `name` and `number` are for error messages. */
bool hd_link_lists_read_line(struct hd_link_lists *lists, const char *line, size_t n_bytes,
                             const char *name, size_t number, heed_error *err);

#endif
