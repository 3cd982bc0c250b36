/* spm_check.c -- a SentencePiece model's table of character rules, proven before use.
 *
 * A model is a protocol buffer; in it, normalizer_spec (3) and denormalizer_spec (5) may have a
 * precompiled_charsmap (2):
 *
 *     4 bytes    size of the trie
 *     trie       units of 4 bytes, a double array: unit i and a byte c lead to unit i ^ offset(i) ^ c,
 *                if that one's label is c; a unit with a leaf has its value in unit i ^ offset(i)
 *     texts      each ending in NUL; a value is where its text begins
 *
 * Invariant: what passes is a tree in which every step from every reachable unit stays inside, every
 * value is inside the texts, and no path has more than the 32 leaves that the library has room for. */
#include "text/spm_check.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdint.h>
#include <string.h>

/* ---- the protocol buffer --------------------------------------------------------------------- */

/* What is left of a message. */
struct message {
    const unsigned char *at, *end;
};

/* One field; those that are not strings or messages have no bytes. */
struct field {
    uint64_t number;
    struct message bytes;
};

enum { NORMALIZER = 3, DENORMALIZER = 5, CHARSMAP = 2 };

static bool read_varint(struct message *m, uint64_t *out, int longest)
{
    *out = 0;
    for (int i = 0; i < longest && m->at < m->end; i++) {
        const unsigned char byte = *m->at++;
        *out |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* The next field; false when it is none that a model has. */
static bool read_field(struct message *m, struct field *field)
{
    uint64_t tag, n;
    if (!read_varint(m, &tag, 5) || tag > UINT32_MAX)
        return false;
    *field = (struct field){.number = tag >> 3};
    switch (tag & 7) {
    case 0:
        return read_varint(m, &n, 10);
    case 1:
        n = 8;
        break;
    case 2:
        if (!read_varint(m, &n, 10))
            return false;
        break;
    case 5:
        n = 4;
        break;
    default:
        return false;
    }
    if (n > (uint64_t)(m->end - m->at))
        return false;
    if ((tag & 7) == 2)
        field->bytes = (struct message){m->at, m->at + n};
    m->at += n;
    return true;
}

/* ---- the trie -------------------------------------------------------------------------------- */

enum { MOST_LEAVES = 32, UNIT_SIZE = 4 };

struct trie {
    const unsigned char *units;
    uint32_t n;
    size_t n_texts; /* bytes */
    uint32_t *
        children; /* children[p]: 1 + the first unit whose parent leads to p; 0 when there is none */
    uint32_t *siblings; /* siblings[i]: 1 + the next unit of the same parent */
    uint32_t *open;     /* units to be looked at */
    unsigned char *
        n_leaves; /* n_leaves[i]: on the way to unit i, and 1 more; 0 when it was not reached yet */
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
    return i ^ unit >> 10 << ((unit & 1U << 9) >> 6);
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

/* Unit i and the steps from it. New units are put on the list; *n_open is its length. */
static bool check_unit(struct trie *trie, uint32_t i, uint32_t *n_open)
{
    const uint32_t place = place_after(trie, i);
    const unsigned n_leaves = trie->n_leaves[i] + (i > 0 && has_leaf(unit_at(trie, i)));
    if ((place | 0xFF) >= trie->n) /* some byte would lead outside */
        return false;
    if (n_leaves > trie->n_leaves[i]) {
        const uint32_t value = unit_at(trie, place) & 0x7FFFFFFF;
        if (value >= trie->n_texts || n_leaves > 1 + MOST_LEAVES)
            return false;
    }
    for (uint32_t next = trie->children[place]; next > 0; next = trie->siblings[next - 1]) {
        if (trie->n_leaves[next - 1] > 0) /* reached before: no tree */
            return false;
        trie->n_leaves[next - 1] = (unsigned char)n_leaves;
        trie->open[(*n_open)++] = next - 1;
    }
    return true;
}

static bool check_trie(struct trie *trie)
{
    uint32_t n_open = 1; /* the root, unit 0 */
    trie->n_leaves[0] = 1;
    trie->open[0] = 0;
    find_children(trie);
    while (n_open > 0)
        if (!check_unit(trie, trie->open[--n_open], &n_open))
            return false;
    return true;
}

static bool fail_table(heed_error *err)
{
    return hd_fail(err, HEED_BAD_MODEL,
                   "the SentencePiece model's table of character rules contradicts itself; the "
                   "file is damaged, copy or "
                   "download it again");
}

static bool check_charsmap(struct message bytes, heed_error *err)
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
    trie.children = hd_alloc(trie.n, sizeof *trie.children, err);
    trie.siblings = hd_alloc(trie.n, sizeof *trie.siblings, err);
    trie.open = hd_alloc(trie.n, sizeof *trie.open, err);
    trie.n_leaves = hd_alloc(trie.n, 1, err);
    const bool has_memory = trie.children && trie.siblings && trie.open && trie.n_leaves;
    const bool ok = has_memory && (check_trie(&trie) || fail_table(err));
    hd_free(trie.children);
    hd_free(trie.siblings);
    hd_free(trie.open);
    hd_free(trie.n_leaves);
    return ok;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool fail_model(heed_error *err)
{
    return hd_fail(
        err, HEED_BAD_MODEL,
        "the vocabulary is no SentencePiece model, or is damaged; copy or download the file again");
}

static bool check_normalizer(struct message m, heed_error *err)
{
    while (m.at < m.end) {
        struct field field;
        if (!read_field(&m, &field))
            return fail_model(err);
        if (field.number == CHARSMAP && field.bytes.at && !check_charsmap(field.bytes, err))
            return false;
    }
    return true;
}

bool hd_spm_check(const void *data, size_t size, heed_error *err)
{
    struct message m = {data, (const unsigned char *)data + size};
    if (size == 0)
        return fail_model(err);
    while (m.at < m.end) {
        struct field field;
        if (!read_field(&m, &field))
            return fail_model(err);
        const bool is_normalizer = field.number == NORMALIZER || field.number == DENORMALIZER;
        if (is_normalizer && field.bytes.at && !check_normalizer(field.bytes, err))
            return false;
    }
    return true;
}
