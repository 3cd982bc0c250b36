/* piece_tree.h -- the pieces of a SentencePiece model as a tree of bytes, so that all pieces which
 * begin at some place of a text are found on one way down. Read-only once made: threads may share
 * it. */
#ifndef HD_TEXT_PIECE_TREE_H
#define HD_TEXT_PIECE_TREE_H

#include <heed.h>
#include <stdint.h>

/* A node's children stand side by side, in the order of their bytes. */
struct hd_piece_node {
    uint32_t first; /* child */
    uint16_t n;     /* children */
    uint8_t byte;   /* that leads here */
    bool is_user_defined;
    int32_t id;  /* of the piece that ends here, -1 for none */
    float score; /* of that piece */
};

struct hd_piece_tree {
    struct hd_piece_node *nodes; /* nodes[0] is the root, at which no way down ends */
    bool is_bpe;                 /* neither of the two: a unigram model */
    bool is_other; /* a model of whole words or characters, in which nothing can be drawn */
    bool has_user_defined;
    float lowest, highest; /* scores of ordinary pieces */
    int byte_ids[256];     /* of the pieces for bytes of unknown characters; all -1 without them */
    bool has_bytes;        /* all of them are there */
};

/* From the bytes of a model that SentencePiece has read; to be given to hd_piece_tree_free(). NULL
 * with HEED_NO_MEMORY in `err`. */
struct hd_piece_tree *hd_piece_tree_new(const void *model, size_t size, heed_error *err);

/* NULL is fine. */
void hd_piece_tree_free(struct hd_piece_tree *tree);

/* One byte further down; 0 when there is no such way. */
static inline uint32_t hd_piece_step(const struct hd_piece_tree *tree, uint32_t node, char c)
{
    const struct hd_piece_node *nodes = tree->nodes;
    const uint8_t byte = (uint8_t)c;
    uint32_t low = nodes[node].first, n = nodes[node].n;
    while (n > 1) { /* if it is there, it is in [low, low + n) */
        const uint32_t half = n / 2;
        const bool is_right = nodes[low + half].byte <= byte;
        low += is_right ? half : 0;
        n = is_right ? n - half : half;
    }
    return n == 1 && nodes[low].byte == byte ? low : 0;
}

#endif
