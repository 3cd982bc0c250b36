/* pieces.c -- texts are cut at the ends of lines. */
#include "serve/pieces.h"

#include "base/memory.h"

#include <string.h>

static bool add(struct hd_pieces *p, size_t begin, size_t end, char *text)
{
    if (begin == end)
        return true;
    struct hd_piece *grown = hd_grow(p->at, &p->capacity, p->n + 1, sizeof *grown, NULL);
    if (!grown) {
        hd_free(text);
        return false;
    }
    p->at = grown;
    p->at[p->n++] = (struct hd_piece){.begin = begin, .end = end, .text = text};
    p->n_translated += text != NULL;
    return true;
}

static char *copy(const char *from, size_t n)
{
    char *text = hd_alloc(n + 1, 1, NULL);
    if (text)
        memcpy(text, from, n);
    return text;
}

static bool cut_lines(struct hd_pieces *p)
{
    const char *t = p->whole;
    for (size_t i = 0; t[i];) {
        const size_t n = strcspn(t + i, "\r\n"), blank = strspn(t + i, " \t");
        char *text = blank < n ? copy(t + i, n) : NULL;
        if ((blank < n && !text) || !add(p, i, i + n, text))
            return false;
        const size_t ends = strspn(t + i + n, "\r\n");
        if (!add(p, i + n, i + n + ends, NULL))
            return false;
        i += n + ends;
    }
    return true;
}

static bool take_whole(struct hd_pieces *p)
{
    const size_t n = strlen(p->whole);
    char *text = strspn(p->whole, " \t\r\n") < n ? copy(p->whole, n) : NULL;
    return (text || strspn(p->whole, " \t\r\n") == n) && add(p, 0, n, text);
}

bool hd_pieces_init(struct hd_pieces *p, const char *text, bool is_markup)
{
    *p = (struct hd_pieces){.whole = hd_copy_string(text, NULL)};
    return p->whole && (is_markup ? take_whole(p) : cut_lines(p));
}

void hd_pieces_release(struct hd_pieces *p)
{
    for (size_t i = 0; i < p->n; i++)
        hd_free(p->at[i].text);
    hd_free(p->at);
    hd_free(p->whole);
    *p = (struct hd_pieces){0};
}

void hd_pieces_join(struct hd_bytes *out, const struct hd_pieces *p,
                    const char *const *translations)
{
    hd_bytes_add(out, "", 0);
    for (size_t i = 0, k = 0; i < p->n; i++) {
        const struct hd_piece *piece = &p->at[i];
        if (!piece->text)
            hd_bytes_add(out, p->whole + piece->begin, piece->end - piece->begin);
        else
            hd_bytes_text(out, translations[k++]);
    }
}
