/* columns.h -- what the columns of a TSV file are: source and target, in either order, and perhaps the languages of each line. */
#ifndef HD_TEXT_COLUMNS_H
#define HD_TEXT_COLUMNS_H

#include "text/lines.h"

/* Languages by their names: letters, digits and _, such as en or pt_BR. */
enum { HD_LANGUAGE_SIZE = 16 };
struct hd_direction {
    char from[HD_LANGUAGE_SIZE], to[HD_LANGUAGE_SIZE];
};

/* "en-fr"; false for what is none. */
bool hd_direction_read(struct hd_direction *direction, struct hd_text text);

bool hd_direction_is(const struct hd_direction *direction, const char *from, const char *to);

/* A name as in a direction; false, with *out unchanged, for what is none. */
bool hd_language_read(char out[HD_LANGUAGE_SIZE], struct hd_text text);

/* Numbers of columns from 0; from and to are -1 where a line has two. */
struct hd_columns {
    int n, source, target, from, to;
};
#define HD_TWO_COLUMNS ((struct hd_columns){2, 0, 1, -1, -1})

/* The parts of a line. */
struct hd_row {
    struct hd_text source, target, from, to;
};

/* False when the line has another number of columns. */
bool hd_columns_cut(const struct hd_columns *columns, struct hd_text line, struct hd_row *row);

/* Which of the n cells of a first line are called source and target (src and tgt), or by the languages of `direction`; where it is NULL, by any two languages,
 * of which the first is the source. In either case, with white space around them. False: the line is no header. */
bool hd_columns_named(const struct hd_text *cells, int n, const struct hd_direction *direction,
                      int *source, int *target);

/* Is this first line a header? It names source and target as above, perhaps beside others, and from and to. If so, *columns is what it says. */
bool hd_columns_of_header(struct hd_columns *columns, struct hd_text line,
                          const struct hd_direction *direction);

#endif
