/* pair_writer.h -- pairs as lines of TSV in a file. */
#ifndef HD_EXCHANGE_PAIR_WRITER_H
#define HD_EXCHANGE_PAIR_WRITER_H

#include "exchange/pairs.h"
#include "text/buffer.h"

struct hd_pair_writer {
    int fd;
    const char *name; /* of the file that they come from */
    struct hd_buffer buffer;
    struct hd_pair_counts counts;
};

/* White space becomes single spaces, ends of lines as well; a pair with an empty side is counted and left out. False with the reason in `err`. */
bool hd_pair_writer_add(struct hd_pair_writer *writer, struct hd_text source, struct hd_text target,
                        heed_error *err);

/* Write what is left, and let go of the memory. */
bool hd_pair_writer_end(struct hd_pair_writer *writer, heed_error *err);

/* Readers: text[0..n) is the whole file. */
bool hd_csv_read(struct hd_pair_writer *writer, const char *text, size_t n,
                 const struct hd_direction *direction, heed_error *err);
bool hd_po_pairs(struct hd_pair_writer *writer, const char *text, size_t n,
                 const struct hd_direction *direction, heed_error *err);
#endif
