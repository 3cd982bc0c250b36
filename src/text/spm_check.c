/* spm_check.c -- checks of what the SentencePiece library takes on trust.
 *
 * A model is a protocol buffer; in it, normalizer_spec (3) and denormalizer_spec (5) may have a
 * precompiled_charsmap (2):
 *
 *     4 bytes    size of the trie
 *     trie       units of 4 bytes, a double array: unit i and a byte c lead to unit
 *                i ^ offset(i) ^ c, if that one's label is c; a unit with a leaf has its value
 *                in unit i ^ offset(i)
 *     texts      each ending in NUL; a value is where its text begins
 *
 * Its pieces (1) have a text (1) and a type (3); those defined by the user are looked for all at
 * once.
 *
 * Invariant: of what passes, every step from every unit that can be reached stays inside, every
 * value is inside the texts, and nowhere in any text do more things begin than the library has room
 * for: 32 rules, 64 pieces defined by the user. */
#include "text/spm_check.h"

#include "base/error.h"
#include "base/memory.h"
#include "text/protobuf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- the trie -------------------------------------------------------------------------------- */

enum { MOST_LEAVES = 32, UNIT_SIZE = 4 };

enum state { UNSEEN, OPEN, DONE };

struct trie {
    const unsigned char *units;
    uint32_t n;
    size_t n_texts; /* bytes */

    /* lists of units; a link is 1 + the unit, and 0 ends a list */
    uint32_t *children; /* children[p]: those whose parents lead to p */
    uint32_t *siblings; /* siblings[i]: the next in the list that i is in */
    uint32_t *next;     /* next[i]: the children of i that have not been looked at */

    uint32_t *path; /* from the root to the unit being looked at */
    unsigned char *state;
    unsigned char *n_leaves; /* the most on a path from here on, this one included */
};

static uint32_t unit_at(const struct trie *trie, uint32_t i)
{
    uint32_t unit;
    memcpy(&unit, trie->units + (size_t)i * UNIT_SIZE, sizeof unit);
    return unit;
}

static bool is_value(uint32_t unit)
{
    return unit >> 31;
}

static bool has_leaf(uint32_t unit)
{
    return unit >> 8 & 1;
}

/* Where unit i leads to, before the next byte. */
static uint32_t place_after(const struct trie *trie, uint32_t i)
{
    const uint32_t unit = unit_at(trie, i);
    return i ^ ((unit >> 10) << ((unit & 1U << 9) >> 6));
}

/* Who is whose child, if that one is ever reached: a unit's label says where its parent leads. */
static void find_children(struct trie *trie)
{
    for (uint32_t i = 0; i < trie->n; i++) {
        const uint32_t unit = unit_at(trie, i), place = i ^ (unit & 0xFF);
        if (is_value(unit) || place >= trie->n)
            continue;
        trie->siblings[i] = trie->children[place];
        trie->children[place] = i + 1;
    }
}

/* Step onto unit i: the next byte must not lead outside, and a leaf's text must be there. */
static bool enter(struct trie *trie, uint32_t i)
{
    const uint32_t place = place_after(trie, i);
    const bool is_leaf = i > 0 && has_leaf(unit_at(trie, i));
    if ((place | 0xFF) >= trie->n)
        return false;
    if (is_leaf && (unit_at(trie, place) & 0x7FFFFFFF) >= trie->n_texts)
        return false;
    trie->state[i] = OPEN;
    trie->n_leaves[i] = is_leaf;
    trie->next[i] = trie->children[place];
    return true;
}

/* Every path from the root, unit 0. Paths may join again, since equal ends are stored once; they
 * may not go round in circles. */
static bool check_trie(struct trie *trie)
{
    find_children(trie);
    if (!enter(trie, 0))
        return false;
    for (uint32_t n = 1; n > 0;) { /* path[0..n) */
        const uint32_t i = trie->path[n - 1], next = trie->next[i];
        if (next == 0) {
            trie->state[i] = DONE;
            n--;
            continue;
        }
        const uint32_t child = next - 1;
        const unsigned n_leaves = trie->n_leaves[child] + (i > 0 && has_leaf(unit_at(trie, i)));
        switch (trie->state[child]) {
        case UNSEEN: /* and then back to this one, when it is done */
            if (!enter(trie, child))
                return false;
            trie->path[n++] = child;
            break;
        case OPEN:
            return false;
        default:
            if (n_leaves > MOST_LEAVES)
                return false;
            if (n_leaves > trie->n_leaves[i])
                trie->n_leaves[i] = (unsigned char)n_leaves;
            trie->next[i] = trie->siblings[child];
        }
    }
    return true;
}

static bool fail_table(heed_error *err)
{
    return hd_fail(err, HEED_BAD_MODEL,
                   "the SentencePiece model's table of character rules contradicts itself; the "
                   "file is damaged, copy or "
                   "download it again");
}

static bool check_charsmap(struct hd_protobuf bytes, heed_error *err)
{
    const size_t size = (size_t)(bytes.end - bytes.at);
    uint32_t trie_size;
    if (size == 0)
        return true;
    if (size <= sizeof trie_size)
        return fail_table(err);
    memcpy(&trie_size, bytes.at, sizeof trie_size);
    const size_t left = size - sizeof trie_size;
    if (trie_size == 0 || trie_size % UNIT_SIZE != 0 || trie_size >= left || bytes.end[-1] != '\0')
        return fail_table(err);
    struct trie trie = {.units = bytes.at + sizeof trie_size,
                        .n = trie_size / UNIT_SIZE,
                        .n_texts = left - trie_size};
    uint32_t *lists = hd_alloc(trie.n, 4 * sizeof *lists, err);
    unsigned char *bytes_each = hd_alloc(trie.n, 2, err);
    bool ok = lists && bytes_each;
    if (ok) {
        trie.children = lists;
        trie.siblings = lists + trie.n;
        trie.next = lists + 2 * (size_t)trie.n;
        trie.path = lists + 3 * (size_t)trie.n;
        trie.state = bytes_each;
        trie.n_leaves = bytes_each + trie.n;
        ok = check_trie(&trie) || fail_table(err);
    }
    hd_free(lists);
    hd_free(bytes_each);
    return ok;
}

/* ---- pieces defined by the user -------------------------------------------------------------- */

enum { MOST_PIECES = 64 };

/* The texts of those pieces. */
struct pieces {
    struct hd_protobuf *text; /* NULL while they are only counted */
    size_t n;
};

static bool read_piece(struct hd_protobuf m, struct pieces *pieces)
{
    struct hd_protobuf text = {0};
    bool is_user_defined = false; /* by any of its types, should it have several */
    while (m.at < m.end) {
        struct hd_protobuf_field field;
        if (!hd_protobuf_read(&m, &field))
            return false;
        if (field.number == HD_SPM_TEXT && field.bytes.at)
            text = field.bytes;
        if (field.number == HD_SPM_TYPE && (uint32_t)field.value == HD_SPM_USER_DEFINED)
            is_user_defined = true;
    }
    if (is_user_defined && text.at) {
        if (pieces->text)
            pieces->text[pieces->n] = text;
        pieces->n++;
    }
    return true;
}

static int compare_texts(const void *a, const void *b)
{
    const struct hd_protobuf *x = a, *y = b;
    const size_t n_x = (size_t)(x->end - x->at), n_y = (size_t)(y->end - y->at);
    const int order = memcmp(x->at, y->at, n_x < n_y ? n_x : n_y);
    return order != 0 ? order : (n_x > n_y) - (n_x < n_y);
}

static bool begins_with(struct hd_protobuf text, struct hd_protobuf beginning)
{
    const size_t n = (size_t)(beginning.end - beginning.at);
    return n <= (size_t)(text.end - text.at) && memcmp(text.at, beginning.at, n) == 0;
}

/* No piece begins with too many others, one inside the next. In alphabetical order a piece comes
 * right after those that it begins with; text[0..depth) is kept to be them. */
static bool check_pieces(struct pieces *pieces, heed_error *err)
{
    size_t depth = 0;
    qsort(pieces->text, pieces->n, sizeof *pieces->text, compare_texts);
    for (size_t i = 0; i < pieces->n; i++) {
        const struct hd_protobuf text = pieces->text[i];
        while (depth > 0 && !begins_with(text, pieces->text[depth - 1]))
            depth--;
        pieces->text[depth++] = text;
        if (depth > MOST_PIECES)
            return hd_fail(
                err, HEED_BAD_MODEL,
                "the SentencePiece model has more than %d pieces defined by its user that begin "
                "with one "
                "another, more than the library can tell apart; train it again with fewer",
                MOST_PIECES);
    }
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool fail_model(heed_error *err)
{
    return hd_fail(
        err, HEED_BAD_MODEL,
        "the vocabulary is no SentencePiece model, or is damaged; copy or download the file again");
}

static bool check_normalizer(struct hd_protobuf m, heed_error *err)
{
    while (m.at < m.end) {
        struct hd_protobuf_field field;
        if (!hd_protobuf_read(&m, &field))
            return fail_model(err);
        if (field.number == HD_SPM_CHARSMAP && field.bytes.at && !check_charsmap(field.bytes, err))
            return false;
    }
    return true;
}

/* All fields of a model; the pieces are counted, and kept if there is room. */
static bool check_fields(struct hd_protobuf m, struct pieces *pieces, heed_error *err)
{
    while (m.at < m.end) {
        struct hd_protobuf_field field;
        if (!hd_protobuf_read(&m, &field))
            return fail_model(err);
        const bool is_normalizer =
            field.number == HD_SPM_NORMALIZER || field.number == HD_SPM_DENORMALIZER;
        if (is_normalizer && field.bytes.at && !pieces->text && !check_normalizer(field.bytes, err))
            return false;
        if (field.number == HD_SPM_PIECE && field.bytes.at && !read_piece(field.bytes, pieces))
            return fail_model(err);
    }
    return true;
}

bool hd_spm_check(const void *data, size_t size, heed_error *err)
{
    const struct hd_protobuf m = {data, (const unsigned char *)data + size};
    struct pieces pieces = {0};
    if (size == 0)
        return fail_model(err);
    if (!check_fields(m, &pieces, err))
        return false;
    if (pieces.n <= MOST_PIECES)
        return true;
    pieces.text = hd_alloc(pieces.n, sizeof *pieces.text, err);
    pieces.n = 0;
    const bool ok = pieces.text && check_fields(m, &pieces, err) && check_pieces(&pieces, err);
    hd_free(pieces.text);
    return ok;
}
