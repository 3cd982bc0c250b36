/* piece_tree.c -- the tree of a model's pieces, made level by level from their sorted list.
 *
 * A node stands for a stretch of the list: the pieces that begin with its bytes. Its children cut
 * the stretch by the next byte, so they come out in order and side by side. */
#include "text/piece_tree.h"

#include "base/error.h"
#include "base/memory.h"
#include "text/protobuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct piece {
    struct hd_protobuf text;
    float score;
    uint32_t type;
    int id;
};

static size_t length(const struct piece *piece)
{
    return (size_t)(piece->text.end - piece->text.at);
}

static struct piece read_piece(struct hd_protobuf m, int id)
{
    struct piece piece = {.type = HD_SPM_NORMAL, .id = id};
    struct hd_protobuf_field field;
    while (m.at < m.end && hd_protobuf_read(&m, &field)) {
        const uint32_t bits = (uint32_t)field.value;
        if (field.number == HD_SPM_TEXT && field.bytes.at)
            piece.text = field.bytes;
        else if (field.number == HD_SPM_SCORE)
            memcpy(&piece.score, &bits, sizeof piece.score);
        else if (field.number == HD_SPM_TYPE)
            piece.type = bits;
    }
    return piece;
}

/* The byte of a piece "<0xE7>", -1 when it is spelled otherwise. */
static int byte_of(const struct piece *piece)
{
    char text[8] = "";
    unsigned byte;
    if (length(piece) != 6)
        return -1;
    memcpy(text, piece->text.at, 6);
    return sscanf(text, "<0x%2X>", &byte) == 1 ? (int)byte : -1;
}

/* The pieces that text can become, and what is said of the others. */
static size_t read_model(struct hd_piece_tree *tree, struct piece *pieces, struct hd_protobuf m)
{
    size_t n = 0;
    int id = 0;
    uint64_t model_type = HD_SPM_UNIGRAM;
    struct hd_protobuf_field field;
    bool has_normal = false;
    while (m.at < m.end && hd_protobuf_read(&m, &field)) {
        if (field.number == HD_SPM_TRAINER)
            for (struct hd_protobuf_field inner;
                 field.bytes.at < field.bytes.end && hd_protobuf_read(&field.bytes, &inner);)
                model_type = inner.number == HD_SPM_MODEL_TYPE ? inner.value : model_type;
        if (field.number != HD_SPM_PIECE || !field.bytes.at)
            continue;
        const struct piece piece = read_piece(field.bytes, id++);
        const int byte = piece.type == HD_SPM_BYTE ? byte_of(&piece) : -1;
        if (byte >= 0)
            tree->byte_ids[byte] = piece.id;
        if (length(&piece) == 0 ||
            (piece.type != HD_SPM_NORMAL && piece.type != HD_SPM_USER_DEFINED))
            continue;
        pieces[n++] = piece;
        tree->has_user_defined |= piece.type == HD_SPM_USER_DEFINED;
        if (piece.type == HD_SPM_NORMAL) {
            tree->lowest = has_normal && tree->lowest < piece.score ? tree->lowest : piece.score;
            tree->highest = has_normal && tree->highest > piece.score ? tree->highest : piece.score;
            has_normal = true;
        }
    }
    tree->is_bpe = model_type == HD_SPM_BPE;
    tree->is_other = model_type != HD_SPM_BPE && model_type != HD_SPM_UNIGRAM;
    return n;
}

static int by_bytes(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    const size_t n_x = length(x), n_y = length(y);
    const int order = memcmp(x->text.at, y->text.at, n_x < n_y ? n_x : n_y);
    return order != 0 ? order : (n_x > n_y) - (n_x < n_y);
}

/* Pieces [begin, end) of the list, which agree in their first `depth` bytes. */
struct stretch {
    uint32_t begin, end, depth;
};

static void grow_tree(struct hd_piece_node *nodes, struct stretch *stretches,
                      const struct piece *pieces, size_t n_pieces)
{
    uint32_t n = 1;
    stretches[0] = (struct stretch){0, (uint32_t)n_pieces, 0};
    for (uint32_t i = 0; i < n; i++) {
        struct stretch s = stretches[i];
        nodes[i].first = n;
        nodes[i].id = -1;
        for (; s.begin < s.end && length(&pieces[s.begin]) == s.depth; s.begin++) {
            nodes[i].id = pieces[s.begin].id;
            nodes[i].score = pieces[s.begin].score;
            nodes[i].is_user_defined = pieces[s.begin].type == HD_SPM_USER_DEFINED;
        }
        while (s.begin < s.end) {
            const uint8_t byte = pieces[s.begin].text.at[s.depth];
            uint32_t end = s.begin + 1;
            while (end < s.end && pieces[end].text.at[s.depth] == byte)
                end++;
            stretches[n] = (struct stretch){s.begin, end, s.depth + 1};
            nodes[n++].byte = byte;
            nodes[i].n++;
            s.begin = end;
        }
    }
}

struct hd_piece_tree *hd_piece_tree_new(const void *model, size_t size, heed_error *err)
{
    struct hd_piece_tree *tree = hd_new(struct hd_piece_tree, err);
    struct piece *pieces = NULL;
    struct stretch *stretches = NULL;
    const struct hd_protobuf m = {model, (const unsigned char *)model + size};
    size_t n_pieces = 0, n_bytes = 0;
    struct hd_protobuf_field field;
    for (struct hd_protobuf rest = m; rest.at < rest.end && hd_protobuf_read(&rest, &field);)
        n_pieces += field.number == HD_SPM_PIECE;
    bool ok = tree && (pieces = hd_alloc(n_pieces, sizeof *pieces, err));
    if (ok) {
        memset(tree->byte_ids, -1, sizeof tree->byte_ids);
        n_pieces = read_model(tree, pieces, m);
        qsort(pieces, n_pieces, sizeof *pieces, by_bytes);
        for (size_t i = 0; i < n_pieces; i++)
            n_bytes += length(&pieces[i]);
        tree->has_bytes = true;
        for (int i = 0; i < 256; i++)
            tree->has_bytes = tree->has_bytes && tree->byte_ids[i] >= 0;
    }
    ok = ok && (stretches = hd_alloc(n_bytes + 1, sizeof *stretches, err)) &&
         (tree->nodes = hd_alloc(n_bytes + 1, sizeof *tree->nodes, err));
    if (ok)
        grow_tree(tree->nodes, stretches, pieces, n_pieces);
    hd_free(stretches);
    hd_free(pieces);
    if (!ok) {
        hd_piece_tree_free(tree);
        return NULL;
    }
    return tree;
}

void hd_piece_tree_free(struct hd_piece_tree *tree)
{
    if (!tree)
        return;
    hd_free(tree->nodes);
    hd_free(tree);
}
