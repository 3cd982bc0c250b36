/* picture.c -- from results to pictures. */
#include "plot.h"

#include "terminal.h"

#include <stdlib.h>
#include <string.h>

/* ---- names of files --------------------------------------------------------------------------------- */

bool plot_has_kind(const char *path)
{
    static const char *const kinds[] = {".svg", ".png", ".pdf"};
    for (int i = 0; path && i < 3; i++)
        if (strlen(path) > 4 && strcmp(path + strlen(path) - 4, kinds[i]) == 0)
            return true;
    if (path)
        complain("--plot takes a file that ends in .svg, .png or .pdf, not '%s'", path);
    return !path;
}

/* "cat.svg" is "cat-3.svg" for line 3; to be given to free(). */
static char *numbered(const char *path, size_t number)
{
    const size_t n = strlen(path);
    char *name = need_memory(n + 24, 1);
    snprintf(name, n + 24, "%.*s-%zu%s", (int)n - 4, path, number, path + n - 4);
    return name;
}

/* Where the picture of a line goes; to be given to free(). When a second line comes, the first gets its number. */
static char *file_of(struct plots *plots, size_t number, bool is_one)
{
    if (plots->n == 0 && is_one) {
        plots->first_number = number;
        char *name = need_memory(strlen(plots->path) + 1, 1);
        return strcpy(name, plots->path);
    }
    if (plots->n == 1 && plots->first_number > 0) {
        char *first = numbered(plots->path, plots->first_number);
        rename(plots->path, first);
        free(first);
    }
    return numbered(plots->path, number);
}

static bool draw(struct plots *plots, const heed_picture *picture, size_t number, bool is_one)
{
    heed_error err = {0};
    char *name = file_of(plots, number, is_one);
    const bool ok = heed_draw(picture, name, &err);
    plots->n += ok;
    if (!ok)
        complain("line %zu is not drawn: %s", number, err.message);
    free(name);
    return ok || err.code == HEED_BAD_OPTION; /* too long: others may be drawn */
}

/* ---- one attention ------------------------------------------------------------------------------------ */

struct drawn {
    heed_picture_attention attention;
    const char **rows, **columns;
    heed_picture_link *links;
};

static const char **texts_of(const heed_word *words, size_t n)
{
    const char **texts = need_memory(n + 1, sizeof *texts);
    for (size_t i = 0; i < n; i++)
        texts[i] = words[i].text;
    return texts;
}

static struct drawn drawn_of(const heed_result *r, const heed_translation *t,
                             const heed_link *links, size_t n_links)
{
    struct drawn d = {.rows = texts_of(t->words, t->n_words),
                      .columns = texts_of(r->words, r->n_words),
                      .links = need_memory(n_links + 1, sizeof *d.links)};
    for (size_t i = 0; i < n_links; i++)
        d.links[i] = (heed_picture_link){.column = links[i].source, .row = links[i].target};
    d.attention = (heed_picture_attention){.words = {.rows = d.rows,
                                                     .n_rows = (int)t->n_words,
                                                     .columns = d.columns,
                                                     .n_columns = (int)r->n_words},
                                           .weights = t->attention,
                                           .end = t->attention_end,
                                           .links = d.links,
                                           .n_links = (int)n_links};
    return d;
}

static void release_drawn(struct drawn *d)
{
    free(d->rows);
    free(d->columns);
    free(d->links);
}

bool show_attention(const heed_result *r, const heed_translation *t)
{
    if (!t->attention || t->n_words == 0 || r->n_words == 0)
        return true;
    const heed_text_options options = text_options(stdout);
    struct drawn d = drawn_of(r, t, t->links, t->n_links);
    heed_error err = {0};
    char *text = heed_draw_text(&d.attention, &options, &err);
    if (text)
        printf("\n%s\n", text);
    else
        complain("%s", err.message);
    heed_free(text);
    release_drawn(&d);
    return text || err.code == HEED_BAD_OPTION;
}

bool plot_attention(struct plots *plots, const heed_result *r, const heed_translation *t,
                    const heed_link *links, size_t n_links, size_t number, bool is_one)
{
    if (!t->attention || t->n_words == 0 || r->n_words == 0)
        return true;
    struct drawn d = drawn_of(r, t, links, n_links);
    const bool ok = draw(plots, &(heed_picture){.attention = &d.attention}, number, is_one);
    release_drawn(&d);
    return ok;
}

/* ---- all heads ------------------------------------------------------------------------------------------ */

/* The weights of a layer and head when the models read the pair; NULL where there is no such head. */
static heed_results *read_pair(const heed_model *const *models, int n_models,
                               const heed_text_pair *pair, int shift, int layer, int head)
{
    heed_options o = heed_options_default();
    o.n_threads = 1;
    o.shift = shift;
    o.layer = layer;
    o.head = head;
    return heed_align(models, n_models, pair, 1, &o, NULL);
}

bool plot_heads(struct plots *plots, const heed_model *const *models, int n_models,
                const heed_result *r, int shift, size_t number, bool is_one)
{
    const heed_translation *t = &r->translations[0];
    const heed_text_pair pair = {r->source, t->text};
    const size_t n = t->n_words * r->n_words;
    float *weights = NULL;
    int n_layers = 0, n_heads = 0;
    if (n == 0 || !t->attention)
        return true;
    for (int layer = 1, head = 0;;) {
        heed_results *one = read_pair(models, n_models, &pair, shift, layer, head);
        const heed_translation *told = one ? &one->at[0].translations[0] : NULL;
        const bool fits = told && told->attention && told->n_words == t->n_words &&
                          one->at[0].n_words == r->n_words;
        if (fits) {
            const size_t i = (size_t)(layer - 1) * (size_t)n_heads + (size_t)head;
            float *grown = realloc(weights, (i + 1) * n * sizeof *grown);
            if (!grown) {
                complain("there is no memory left");
                heed_results_free(one);
                free(weights);
                return false;
            }
            weights = grown;
            memcpy(weights + i * n, told->attention, n * sizeof *weights);
            n_layers = layer;
            n_heads = layer == 1 ? head + 1 : n_heads;
            head++;
        }
        heed_results_free(one);
        if (!fits && head == 0)
            break; /* no further layer */
        if (!fits) {
            layer++;
            head = 0;
        }
    }
    if (!weights) {
        complain("line %zu is not drawn: it is too long to be read at once", number);
        return true;
    }
    struct drawn d = drawn_of(r, t, NULL, 0);
    const heed_picture_heads heads = {
        .words = d.attention.words, .weights = weights, .n_layers = n_layers, .n_heads = n_heads};
    const bool ok = draw(plots, &(heed_picture){.heads = &heads}, number, is_one);
    release_drawn(&d);
    free(weights);
    return ok;
}
