/* reader.h -- lines as they come: what is there is handed out at once, so that a pipe that gives one line at a time gets one
 * answer at a time, and a file is read in large pieces. */
#ifndef HEED_CLI_READER_H
#define HEED_CLI_READER_H

#include <heed.h>
#include <stdbool.h>
#include <stddef.h>

struct reader {
    int fd;
    const char *name; /* for sentences */
    char *bytes;
    size_t n, used, capacity; /* bytes read; bytes handed out; room */
    bool is_at_end;
    heed_lines unpacked; /* a compressed file is read whole */
    size_t n_handed;     /* of these */
    size_t n_lines;      /* handed out before */
    const char **lines;  /* what is handed out now, until the next call */
    size_t line_room;
};

/* "-" is standard input. False, with the complaint printed. */
bool reader_open(struct reader *reader, const char *path);

/* The next lines without their ends, *n of them: all that can be had without waiting, but one at least and not too many. 0 at
 * the end. False, with the complaint printed, when there is an error. */
bool reader_next(struct reader *reader, const char *const **lines, size_t *n);

/* All of it as one text, which is the reader's; NULL, with the complaint printed, when there is an error. */
const char *reader_whole(struct reader *reader);
void reader_close(struct reader *reader);
#endif
