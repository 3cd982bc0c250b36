/* lines.h -- a text file in memory, line by line. */
#ifndef HD_TEXT_LINES_H
#define HD_TEXT_LINES_H

#include <heed.h>

/* A piece of UTF-8, borrowed. */
struct hd_text {
    const char *at; /* at[0..n); needs no NUL */
    size_t n;
};

/* {0} is none. */
struct hd_lines {
    struct hd_text *at; /* at[0..n), without line ends */
    size_t n;
    char *bytes; /* where the lines are */
};

/* Read a whole file, plain or compressed by gzip; "-" is standard input, a pipe will do. Lines end with \n or \r\n, the
 * last one also with the file; a byte order mark is passed over. False with the reason in `err`: HEED_BAD_FILE (missing, not
 * readable, a damaged .gz), HEED_BAD_TEXT (a line that is not UTF-8, with its number; no line at all), HEED_NO_MEMORY. */
bool hd_lines_read(struct hd_lines *lines, const char *path, heed_error *err);

/* Leaves {0}. */
void hd_lines_release(struct hd_lines *lines);

#endif
