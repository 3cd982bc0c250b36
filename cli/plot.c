/* plot.c -- from results to pictures. */
#include "plot.h"

#include "terminal.h"

#include <stdlib.h>
#include <string.h>

/* ---- names of files --------------------------------------------------------------------------------- */

bool plot_has_kind(const char *path)
{
    static const char *const kinds[] = {".svg", ".png", ".pdf", ".tex"};
    for (int i = 0; path && i < 4; i++)
        if (strlen(path) > 4 && strcmp(path + strlen(path) - 4, kinds[i]) == 0)
            return true;
    if (path)
        complain("--plot takes a file that ends in .svg, .png, .pdf or .tex, not '%s'", path);
    return !path;
}

bool plot_may_write(const char *path)
{
    heed_error err = {0};
    if (!path || heed_draw_may_write(path, &err))
        return true;
    complain("%s", err.message);
    return false;
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
        if (plot_may_write(first)) /* or it stays where it is */
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

static bool is_empty(const heed_translation *t)
{
    return !t->attention || t->n_attention_rows == 0 || t->n_attention_columns == 0;
}

/* The picture, to be given to heed_free(); NULL, with the complaint printed. */
static heed_picture_attention *picture_of(const heed_result *r, const heed_translation *t,
                                          const heed_link *links, size_t n_links)
{
    heed_error err = {0};
    heed_picture_attention *picture = heed_result_picture(r, t, links, n_links, &err);
    if (!picture)
        complain("%s", err.message);
    return picture;
}

/* One matrix below its heading. */
static bool show_matrix(const char *heading, const heed_picture_attention *picture)
{
    const heed_text_options options = text_options(stdout);
    heed_error err = {0};
    char *text = heed_draw_text(picture, &options, &err);
    if (text)
        printf("\n%s%s\n", heading, text);
    else
        complain("%s", err.message);
    heed_free(text);
    return text || err.code == HEED_BAD_OPTION;
}

/* Where CTC hears each word, as weights of 1. */
static bool show_heard(const heed_picture_attention *attention, const heed_translation *t)
{
    heed_picture_attention picture = {.words = attention->words};
    const size_t n = t->n_attention_columns;
    float *weights = need_memory(t->n_attention_rows * n, sizeof *weights);
    for (size_t i = 0; i < t->n_attention_rows * n; i++) {
        const heed_heard heard = t->heard[i / n];
        weights[i] = (int)(i % n) >= heard.first && (int)(i % n) <= heard.last;
    }
    picture.weights = weights;
    const bool ok = show_matrix("CTC hears the words here:\n", &picture);
    free(weights);
    return ok;
}

bool show_attention(const heed_result *r, const heed_translation *t)
{
    if (is_empty(t))
        return true;
    heed_picture_attention *picture = picture_of(r, t, t->links, t->n_links);
    if (!picture)
        return false;
    bool ok = show_matrix("", picture);
    if (ok && t->heard && t->attention_kind == HEED_ATTENTION_CROSS)
        ok = show_heard(picture, t);
    heed_free(picture);
    return ok;
}

/* Sound and pictures with what was looked at. */
static bool plot_view(struct plots *plots, const heed_result *r, const heed_translation *t,
                      size_t number, bool is_one)
{
    heed_error err = {0};
    heed_picture_view *view = heed_result_view(r, t, &err);
    const bool ok =
        view && draw(plots, &(heed_picture){.title = t->text, .view = view}, number, is_one);
    if (!view)
        complain("%s", err.message);
    heed_free(view);
    return ok;
}

bool plot_attention(struct plots *plots, const heed_result *r, const heed_translation *t,
                    const heed_link *links, size_t n_links, size_t number, bool is_one)
{
    if (is_empty(t))
        return true;
    if (r->seen)
        return plot_view(plots, r, t, number, is_one);
    heed_picture_attention *picture = picture_of(r, t, links, n_links);
    const bool ok = picture && draw(plots, &(heed_picture){.attention = picture}, number, is_one);
    heed_free(picture);
    return ok;
}

/* ---- all heads ------------------------------------------------------------------------------------------ */

/* The fewest that one of the models has. */
static int fewest(const struct models *models, enum heed_size size)
{
    long long least = heed_model_size(models->at[0], size);
    for (int i = 1; i < models->n; i++) {
        const long long n = heed_model_size(models->at[i], size);
        least = n < least ? n : least;
    }
    return (int)least;
}

/* The weights of one layer and head, as the models have them when they read the pair. False where it cannot be read. */
static bool read_head(heed_translator *translator, const heed_text_pair *pair, int layer, int head,
                      const heed_translation *t, float *weights)
{
    char text[2][16];
    snprintf(text[0], sizeof text[0], "%d", layer);
    snprintf(text[1], sizeof text[1], "%d", head);
    heed_results *one = heed_translator_set(translator, "layer", text[0], NULL) &&
                                heed_translator_set(translator, "head", text[1], NULL)
                            ? heed_translator_align(translator, pair, 1, NULL)
                            : NULL;
    const heed_translation *read = one ? one->at[0]->translations[0] : NULL;
    const bool fits = read && read->attention && read->n_attention_rows == t->n_attention_rows &&
                      read->n_attention_columns == t->n_attention_columns;
    if (fits)
        memcpy(weights, read->attention,
               t->n_attention_rows * t->n_attention_columns * sizeof *weights);
    heed_results_free(one);
    return fits;
}

bool plot_heads(struct plots *plots, const struct models *models, const char *shift,
                const heed_result *r, size_t number, bool is_one)
{
    static const char *const kinds[] = {"none", "cross", "encoder", "decoder"};
    static const enum heed_size layers[] = {HEED_MODEL_CROSS_LAYERS, HEED_MODEL_CROSS_LAYERS,
                                            HEED_MODEL_ENCODER_SELF_LAYERS,
                                            HEED_MODEL_DECODER_SELF_LAYERS};
    const heed_translation *t = r->translations[0];
    if (is_empty(t))
        return true;
    const heed_text_pair pair = {r->source, t->text};
    const int n_layers = fewest(models, layers[t->attention_kind]),
              n_heads = fewest(models, HEED_MODEL_HEADS);
    const size_t n = t->n_attention_rows * t->n_attention_columns;
    float *weights = need_memory((size_t)n_layers * (size_t)n_heads * n, sizeof *weights);
    heed_translator *translator = models_translator(models);
    bool ok = translator && set_option_of(translator, "attention", kinds[t->attention_kind]) &&
              set_option_of(translator, "shift", shift),
         fits = ok;
    for (int i = 0; fits && i < n_layers * n_heads; i++)
        fits =
            read_head(translator, &pair, i / n_heads + 1, i % n_heads, t, weights + (size_t)i * n);
    if (ok && !fits)
        complain("line %zu is not drawn: it is too long to be read at once", number);
    heed_picture_attention *picture = fits ? picture_of(r, t, NULL, 0) : NULL;
    if (fits)
        ok = picture && draw(plots,
                             &(heed_picture){.heads = &(heed_picture_heads){.words = picture->words,
                                                                            .weights = weights,
                                                                            .n_layers = n_layers,
                                                                            .n_heads = n_heads}},
                             number, is_one);
    heed_free(picture);
    heed_translator_free(translator);
    free(weights);
    return ok;
}
