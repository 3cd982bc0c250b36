/* input.h -- the bytes of a text file, plain or compressed by gzip, one piece after the other. */
#ifndef HD_TEXT_INPUT_H
#define HD_TEXT_INPUT_H

#include <heed.h>

/* {0} is none. */
struct hd_input {
    void *file;
    const char *name; /* for sentences */
};

/* "-" is standard input, a pipe will do. False with HEED_BAD_FILE in `err`: missing, not readable,
 * a folder. The path must live until it is closed. */
bool hd_input_open(struct hd_input *input, const char *path, heed_error *err);

/* The next bytes, *n of them and at most `room`; none at the end. False when the file cannot be
 * read, or is compressed and damaged (HEED_BAD_FILE). */
bool hd_input_read(struct hd_input *input, char *to, size_t room, size_t *n, heed_error *err);

/* Leaves {0}; {0} is fine. */
void hd_input_close(struct hd_input *input);

bool hd_is_stdin(const char *path);

/* What to call the file in a sentence. */
const char *hd_input_name(const char *path);

#endif
