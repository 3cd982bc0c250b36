/* pieces.h -- a text as pieces: those that are translated, and those that stay as they are: ends of lines and white space.
 *
 * Plain text is translated line by line, as `heed translate` does; a text with tags is one piece, since the library knows what to do
 * with them. Put together again with nothing translated, the pieces are the text, byte for byte. */
#ifndef HD_SERVE_PIECES_H
#define HD_SERVE_PIECES_H

#include "base/bytes.h"

struct hd_piece {
    size_t begin, end; /* bytes of the text */
    char *text;        /* what is translated; NULL: it stays as it is */
};

struct hd_pieces {
    char *whole;
    struct hd_piece *at;
    size_t n, capacity, n_translated;
};

/* False without memory. To be given to hd_pieces_release(), also then. */
bool hd_pieces_init(struct hd_pieces *pieces, const char *text, bool is_markup);
void hd_pieces_release(struct hd_pieces *pieces);

/* Put together again: translations[i] is of the i-th piece that is translated. */
void hd_pieces_join(struct hd_bytes *out, const struct hd_pieces *pieces,
                    const char *const *translations);

#endif
