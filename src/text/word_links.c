/* word_links.c -- words counted, and their links renumbered. */
#include "text/word_links.h"

#include "base/memory.h"
#include "text/character.h"

enum { MOST_WORDS = 1 << 16 };

bool hd_word_begins(uint32_t before, uint32_t cp, bool by_character)
{
    if (hd_char_is_space(cp))
        return false;
    if (hd_char_is_space(before))
        return true;
    return by_character && !hd_char_is_mark(cp) &&
           (hd_char_is_unspaced(cp) || hd_char_is_unspaced(before));
}

size_t hd_count_words(struct hd_text text, size_t place, bool by_character)
{
    size_t n = 0, length;
    uint32_t before = ' ';
    for (size_t i = 0; i < text.n && i < place; i += length) {
        const uint32_t cp = hd_char_at(text.at, text.n, i, &length);
        n += hd_word_begins(before, cp, by_character);
        before = cp;
    }
    return n;
}

void hd_word_links_release(struct hd_word_links *links)
{
    hd_free(links->at);
    *links = (struct hd_word_links){0};
}

static bool add_link(struct hd_word_links *links, size_t source, size_t target, heed_error *err)
{
    if (source >= MOST_WORDS || target >= MOST_WORDS)
        return true;
    struct hd_word_link *at = hd_grow(links->at, &links->capacity, links->n + 1, sizeof *at, err);
    if (!at)
        return false;
    links->at = at;
    at[links->n++] = (struct hd_word_link){(uint16_t)source, (uint16_t)target};
    return true;
}

bool hd_word_links_add(struct hd_word_links *links, const struct hd_pair_links *more,
                       size_t n_source, size_t n_target, heed_error *err)
{
    for (size_t i = 0; i < more->n; i++)
        if (!add_link(links, more->at[i].source + n_source, more->at[i].target + n_target, err))
            return false;
    return true;
}

bool hd_word_links_same(struct hd_word_links *links, struct hd_text text, heed_error *err)
{
    const size_t n = hd_count_words(text, text.n, links->by_character);
    links->n = 0;
    for (size_t i = 0; i < n; i++)
        if (!add_link(links, i, i, err))
            return false;
    return true;
}

/* One side's change: words [0, n_left) stay, the last n_right of those before are the last of those after, and between them there are
 * n_new that were not there. */
struct change {
    size_t n_left, n_right, n_before, n_new;
};

/* Bytes that were put in and are the same as those beside them could stand in several places: where a word begins, if there is one. */
static size_t find_place(struct hd_text before, struct hd_text after, size_t prefix)
{
    const size_t n_in = after.n - before.n;
    for (size_t q = prefix; q > 0 && before.at[q - 1] == after.at[q + n_in - 1]; q--)
        if (q == 1 || before.at[q - 2] == ' ')
            return q - 1;
    return prefix;
}

static struct change find_change(struct hd_text before, struct hd_text after, bool by_character)
{
    const size_t shorter = before.n < after.n ? before.n : after.n;
    size_t prefix = 0, suffix = 0;
    while (prefix < shorter && before.at[prefix] == after.at[prefix])
        prefix++;
    while (suffix < shorter - prefix &&
           before.at[before.n - suffix - 1] == after.at[after.n - suffix - 1])
        suffix++;
    if (prefix + suffix == before.n) {
        prefix = find_place(before, after, prefix);
        suffix = before.n - prefix;
    }
    const size_t n_before = hd_count_words(before, before.n, by_character),
                 n_after = hd_count_words(after, after.n, by_character);
    struct change c = {.n_left = hd_count_words(after, prefix, by_character), .n_before = n_before};
    const size_t behind = n_before - hd_count_words(before, before.n - suffix, by_character);
    const size_t behind_now = n_after - hd_count_words(after, after.n - suffix, by_character);
    c.n_right = behind < behind_now ? behind : behind_now;
    c.n_new = n_after > c.n_left + c.n_right ? n_after - c.n_left - c.n_right : 0;
    return c;
}

/* The number that a word has now; false when it is gone. */
static bool renumber(uint16_t *word, const struct change *c)
{
    if (*word < c->n_left)
        return true;
    if (*word + c->n_right < c->n_before)
        return false;
    const size_t now = c->n_left + c->n_new + (*word - (c->n_before - c->n_right));
    *word = (uint16_t)now;
    return now < MOST_WORDS;
}

bool hd_word_links_follow(struct hd_word_links *links, const struct hd_text before[2],
                          const struct hd_text after[2], heed_error *err)
{
    const struct change source = find_change(before[0], after[0], links->by_character),
                        target = find_change(before[1], after[1], links->by_character);
    size_t n = 0;
    for (size_t i = 0; i < links->n; i++) {
        struct hd_word_link link = links->at[i];
        if (renumber(&link.source, &source) && renumber(&link.target, &target))
            links->at[n++] = link;
    }
    links->n = n;
    for (size_t i = 0; source.n_new == target.n_new && i < source.n_new; i++)
        if (!add_link(links, source.n_left + i, target.n_left + i, err))
            return false;
    return true;
}
