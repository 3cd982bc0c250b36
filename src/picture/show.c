/* show.c -- attention as characters.
 *
 * When the source words fit side by side, each column is as wide as its word. When not, columns are
 * two characters wide, and the words stand on stairs above them:
 *
 *              I  love my cat. (end)                  ,- I
 *      J'aime  == ++++                                | ,- love
 *      mon             @@                             | | ,- my
 *      chat.              @@@@               J'aime   = +
 *
 * Invariant: every line has the columns that a terminal will give it. So words are freed of what
 * terminals do not agree upon (joiners and skin tones of emoji, variation selectors) and of what
 * would move or command the rest (marks and overrides of direction, control characters), and a
 * right-to-left word stands between two left-to-right marks, which have no width and keep
 * terminals that reorder from swapping columns. */
#include "base/arena.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "picture/picture_check.h"

#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#define LRM  "\xe2\x80\x8e"
#define DOTS "\xe2\x80\xa6"
#define DOT  "\xe2\x80\xa2"

static const char plain_shades[] = " .:-=+*#%@";
enum { N_SHADES = sizeof plain_shades - 1 };
/* Of the 256 colours: from dark blue over green to yellow, each lighter than the one before. */
static const unsigned char color_shades[N_SHADES] = {17, 18, 24, 30, 36, 71, 113, 148, 184, 227};

/* A word as it will stand there. */
struct word {
    const char *text;
    int width; /* columns */
};

struct show {
    const heed_picture_attention *attention;
    bool has_colors;
    int width;
    struct hd_arena arena;
    struct hd_bytes out;
    struct word *rows, *columns; /* the columns with the end marker, if it is shown */
    int n_rows, n_columns;
    int label_width;
    unsigned char *is_linked; /* [n_rows][n_columns] */
};

/* ---- words ----------------------------------------------------------------------------------- */

static bool is_between(uint32_t cp, uint32_t first, uint32_t last)
{
    return cp >= first && cp <= last;
}

/* Invisible, or of a width that depends on the terminal. */
static bool is_dropped(uint32_t cp, bool after_wide)
{
    return is_between(cp, 0x200e, 0x200f) || cp == 0x061c || is_between(cp, 0x202a, 0x202e) ||
           is_between(cp, 0x2060, 0x206f) || cp == 0xfeff || cp == 0xad || cp == 0x200b ||
           is_between(cp, 0xfe00, 0xfe0f) || is_between(cp, 0xe0000, 0xe0fff) ||
           (after_wide && (cp == 0x200d || is_between(cp, 0x1f3fb, 0x1f3ff)));
}

static int width_of(uint32_t *cp)
{
    switch (utf8proc_category((utf8proc_int32_t)*cp)) {
    case UTF8PROC_CATEGORY_CC: /* control */
    case UTF8PROC_CATEGORY_CN: /* not assigned: unknown width */
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO: /* private */
    case UTF8PROC_CATEGORY_ZL: /* line ends */
    case UTF8PROC_CATEGORY_ZP:
        *cp = 0xfffd;
        return 1;
    case UTF8PROC_CATEGORY_MC: /* vowels of India: a column of their own in most terminals */
        return 1;
    default:
        return utf8proc_charwidth((utf8proc_int32_t)*cp);
    }
}

static bool is_rtl(uint32_t cp)
{
    const int bidi = (int)utf8proc_get_property((utf8proc_int32_t)cp)->bidi_class;
    return bidi == UTF8PROC_BIDI_CLASS_R || bidi == UTF8PROC_BIDI_CLASS_AL;
}

/* `text` in at most `most` columns, cut with "…" if it has more. False when there is no memory. */
static bool make_word(struct word *word, struct hd_arena *arena, const char *text, int most)
{
    const size_t n = strlen(text);
    char *clean = hd_take(arena, 3 * n + sizeof LRM LRM DOTS);
    if (!clean)
        return false;
    memcpy(clean, LRM, 3);
    size_t length = 3, short_length = 3; /* with and without what must go if the word is too long */
    int width = 0, short_width = 0;
    bool has_rtl = false, after_wide = false;
    for (size_t i = 0; i < n;) {
        uint32_t cp = 0xfffd;
        const int bytes = hd_utf8_decode(text + i, n - i, &cp);
        i += bytes > 0 ? (size_t)bytes : 1;
        if (is_dropped(cp, after_wide))
            continue;
        const int columns = width_of(&cp);
        length += (size_t)hd_utf8_encode(clean + length, cp);
        width += columns;
        has_rtl |= is_rtl(cp);
        after_wide = columns == 2;
        if (width <= most - 1) {
            short_length = length;
            short_width = width;
        }
        if (width > most) {
            memcpy(clean + short_length, DOTS, 3);
            length = short_length + 3;
            width = short_width + 1;
            break;
        }
    }
    if (has_rtl)
        memcpy(clean + length, LRM, 3);
    clean[length + (has_rtl ? 3 : 0)] = '\0';
    *word = (struct word){has_rtl ? clean : clean + 3, width};
    return true;
}

static bool make_words(struct word **words, int *widest, struct show *show,
                       const char *const *texts, int n, const char *last, int most)
{
    *words = hd_take(&show->arena, ((size_t)n + 1) * sizeof **words);
    *widest = 0;
    for (int i = 0; *words && i < n + (last != NULL); i++) {
        if (!make_word(&(*words)[i], &show->arena, i < n ? texts[i] : last, most))
            return false;
        if ((*words)[i].width > *widest)
            *widest = (*words)[i].width;
    }
    return *words != NULL;
}

/* ---- pieces of lines ------------------------------------------------------------------------- */

static void put(struct show *show, const char *text)
{
    hd_bytes_text(&show->out, text);
}

static void spaces(struct show *show, int n)
{
    for (int i = 0; i < n; i++)
        put(show, " ");
}

static void end_line(struct show *show)
{
    struct hd_bytes *out = &show->out;
    while (out->n > 0 && out->at[out->n - 1] == ' ')
        out->n--;
    put(show, "\n");
}

static void put_label(struct show *show, int row)
{
    put(show, show->rows[row].text);
    spaces(show, show->label_width - show->rows[row].width + 1);
}

static int shade_of(float weight)
{
    const int shade = (int)(weight * (N_SHADES - 1) + 0.5F);
    return shade < 0 ? 0 : shade >= N_SHADES ? N_SHADES - 1 : shade;
}

/* `width` columns of one shade, with the link's mark in the middle if there is a link. */
static void put_cell(struct show *show, float weight, bool is_linked, int width)
{
    const int shade = shade_of(weight);
    char color[40];
    if (show->has_colors) {
        snprintf(color, sizeof color, "\033[48;5;%d;38;5;%dm", color_shades[shade],
                 shade < N_SHADES / 2 ? 231 : 16);
        put(show, color);
    }
    for (int i = 0; i < width; i++) {
        const char plain[2] = {plain_shades[shade], '\0'};
        if (is_linked && i == width / 2)
            put(show, show->has_colors ? DOT : "x");
        else
            put(show, show->has_colors ? " " : plain);
    }
    if (show->has_colors)
        put(show, "\033[0m");
}

static void put_row_cell(struct show *show, int row, int column, int width)
{
    const heed_picture_attention *a = show->attention;
    const size_t n = (size_t)a->words.n_columns;
    const bool is_end = column == a->words.n_columns;
    put_cell(show, is_end ? a->end[row] : a->weights[(size_t)row * n + (size_t)column],
             !is_end && show->is_linked[(size_t)row * n + (size_t)column], width);
}

/* ---- the two ways of laying out -------------------------------------------------------------- */

enum { LEAST_COLUMN = 2 };

static int column_width(const struct word *word)
{
    return word->width < LEAST_COLUMN ? LEAST_COLUMN : word->width;
}

static void show_side_by_side(struct show *show)
{
    spaces(show, show->label_width + 1);
    for (int c = 0; c < show->n_columns; c++) {
        spaces(show, 1);
        put(show, show->columns[c].text);
        spaces(show, column_width(&show->columns[c]) - show->columns[c].width);
    }
    end_line(show);
    for (int r = 0; r < show->n_rows; r++) {
        put_label(show, r);
        for (int c = 0; c < show->n_columns; c++) {
            spaces(show, 1);
            put_row_cell(show, r, c, column_width(&show->columns[c]));
        }
        end_line(show);
    }
}

/* Columns first to last-1, below their words on stairs. */
static bool show_stairs(struct show *show, int first, int last)
{
    const int indent = show->label_width + 2;
    for (int c = first; c < last; c++) {
        const int at = indent + 2 * (c - first) + 3;
        struct word word;
        if (!make_word(&word, &show->arena,
                       c < show->attention->words.n_columns ? show->attention->words.columns[c]
                                                            : "(end)",
                       show->width - at > 1 ? show->width - at : 1))
            return false;
        spaces(show, indent);
        for (int before = first; before < c; before++)
            put(show, show->has_colors ? "\xe2\x94\x82 " : "| ");
        put(show, show->has_colors ? "\xe2\x94\x8c\xe2\x94\x80 " : ",- ");
        put(show, word.text);
        end_line(show);
    }
    for (int r = 0; r < show->n_rows; r++) {
        put_label(show, r);
        spaces(show, 1);
        for (int c = first; c < last; c++)
            put_row_cell(show, r, c, 2);
        end_line(show);
    }
    return true;
}

static void show_scale(struct show *show)
{
    put(show, "\n0 ");
    for (int i = 0; i < N_SHADES; i++)
        put_cell(show, (float)i / (N_SHADES - 1), false, show->has_colors ? 2 : 1);
    put(show, " 1");
    if (show->attention->n_links > 0) {
        put(show, "   ");
        put(show, show->has_colors ? DOT " link" : "x link");
    }
    put(show, "\n");
}

static bool lay_out(struct show *show)
{
    const heed_picture_words *words = &show->attention->words;
    int widest;
    const int most_label = show->width / 3;
    if (!make_words(&show->rows, &show->label_width, show, words->rows, words->n_rows, NULL,
                    most_label) ||
        !make_words(&show->columns, &widest, show, words->columns, words->n_columns,
                    show->attention->end ? "(end)" : NULL, 20))
        return false;
    show->n_rows = words->n_rows;
    show->n_columns = words->n_columns + (show->attention->end != NULL);
    int side_by_side = show->label_width + 1;
    for (int c = 0; c < show->n_columns; c++)
        side_by_side += 1 + column_width(&show->columns[c]);
    if (side_by_side <= show->width) {
        show_side_by_side(show);
        return true;
    }
    const int for_word = widest + 1 < show->width / 4 ? widest + 1 : show->width / 4;
    const int room = (show->width - show->label_width - 2 - for_word) / 2;
    const int fit = room > 1 ? room : 1;
    const int n_panels = (show->n_columns + fit - 1) / fit;
    for (int p = 0; p < n_panels; p++) {
        if (p > 0)
            put(show, "\n");
        if (!show_stairs(show, show->n_columns * p / n_panels,
                         show->n_columns * (p + 1) / n_panels))
            return false;
    }
    return true;
}

char *heed_draw_text(const heed_picture_attention *a, const heed_text_options *options,
                     heed_error *err)
{
    if (!hd_is_given(a, "attention", err) || !hd_attention_check(a, err))
        return NULL;
    enum { NARROWEST = 24 };
    const int width = options && options->width > 0 ? options->width : 80;
    struct show show = {.attention = a,
                        .has_colors = options && options->has_colors,
                        .width = width < NARROWEST ? NARROWEST : width};
    const size_t n_cells = (size_t)a->words.n_rows * (size_t)a->words.n_columns;
    bool is_fine = false;
    show.is_linked = hd_alloc(n_cells, 1, err);
    if (!show.is_linked)
        goto done;
    for (int i = 0; i < a->n_links; i++)
        show.is_linked[(size_t)a->links[i].row * (size_t)a->words.n_columns +
                       (size_t)a->links[i].column] = 1;
    if (n_cells == 0)
        put(&show, "no words\n");
    else {
        is_fine = lay_out(&show);
        show_scale(&show);
    }
    is_fine = (is_fine || n_cells == 0) && !show.out.has_failed;
    if (!is_fine)
        hd_fail(err, HEED_NO_MEMORY, "there is no memory to show the attention");
done:
    hd_free(show.is_linked);
    hd_arena_release(&show.arena);
    if (is_fine)
        return show.out.at;
    hd_free(show.out.at);
    return NULL;
}
