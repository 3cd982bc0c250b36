/* link_lists.c -- links of many sentence pairs one after the other, and their reader. */
#include "align/link_lists.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "text/lines.h"

#include <string.h>

void hd_link_lists_release(struct hd_link_lists *l)
{
    hd_free(l->at);
    hd_free(l->end);
    *l = (struct hd_link_lists){0};
}

bool hd_link_lists_next(struct hd_link_lists *l, heed_error *err)
{
    size_t *end = hd_grow(l->end, &l->capacity, l->n + 1, sizeof *end, err);
    if (!end)
        return false;
    l->end = end;
    end[l->n++] = l->n_links;
    return true;
}

bool hd_link_lists_add(struct hd_link_lists *l, struct hd_word_link link, heed_error *err)
{
    struct hd_word_link *at = hd_grow(l->at, &l->link_capacity, l->n_links + 1, sizeof *at, err);
    if (!at)
        return false;
    l->at = at;
    at[l->n_links++] = link;
    l->end[l->n - 1] = l->n_links;
    return true;
}

bool hd_link_lists_join(struct hd_link_lists *l, const struct hd_link_lists *others,
                        heed_error *err)
{
    for (size_t i = 0; i < others->n; i++) {
        size_t n;
        const struct hd_word_link *links = hd_link_list(others, i, &n);
        if (!hd_link_lists_next(l, err))
            return false;
        for (size_t k = 0; k < n; k++)
            if (!hd_link_lists_add(l, links[k], err))
                return false;
    }
    return true;
}

const struct hd_word_link *hd_link_list(const struct hd_link_lists *l, size_t i, size_t *n)
{
    const size_t begin = i > 0 ? l->end[i - 1] : 0;
    *n = l->end[i] - begin;
    return l->at ? l->at + begin : NULL;
}

/* ---- as text --------------------------------------------------------------------------------------- */

/* Digits at text[*i]; false when there are none, or too many. */
static bool read_number(const char *text, size_t n, size_t *i, long *number)
{
    const size_t begin = *i;
    *number = 0;
    for (; *i < n && text[*i] >= '0' && text[*i] <= '9' && *number < HD_MOST_LINKED_WORDS; (*i)++)
        *number = 10 * *number + (text[*i] - '0');
    return *i > begin && *number < HD_MOST_LINKED_WORDS;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

bool hd_link_lists_read_line(struct hd_link_lists *l, const char *line, size_t n_bytes,
                             const char *name, size_t number, heed_error *err)
{
    if (!hd_link_lists_next(l, err))
        return false;
    for (size_t i = 0; i < n_bytes;) {
        if (is_blank(line[i])) {
            i++;
            continue;
        }
        const size_t begin = i;
        long source, target = 0;
        const bool is_link = read_number(line, n_bytes, &i, &source) && i < n_bytes &&
                             line[i] == '-' && (i++, read_number(line, n_bytes, &i, &target)) &&
                             (i == n_bytes || is_blank(line[i]));
        if (!is_link) {
            size_t end = begin;
            while (end < n_bytes && !is_blank(line[end]))
                end++;
            return hd_fail(err, HEED_BAD_TEXT,
                           "%s:%zu: %s is no link; one is 'i-j', source word i and target word j, "
                           "counted from 0 and below %d",
                           name, number, hd_quote_n(line + begin, end - begin).text,
                           HD_MOST_LINKED_WORDS);
        }
        if (!hd_link_lists_add(l, (struct hd_word_link){(uint16_t)source, (uint16_t)target}, err))
            return false;
    }
    return true;
}

bool hd_link_lists_read(struct hd_link_lists *l, const char *path, heed_error *err)
{
    struct hd_lines lines = {0};
    bool ok = hd_lines_read(&lines, path, err);
    for (size_t i = 0; ok && i < lines.n; i++)
        ok = hd_link_lists_read_line(l, lines.at[i].at, lines.at[i].n, path, i + 1, err);
    hd_lines_release(&lines);
    return ok;
}
