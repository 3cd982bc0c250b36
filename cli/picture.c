/* picture.c -- words and weights of a result become those of a picture. */
#include "picture.h"

#include "output.h"

#include <heed_draw.h>
#include <stdlib.h>
#include <string.h>

/* A picture's arrays, which are its own; free_attention() gives them back. */
static heed_picture_attention attention_of(const heed_result *r, const heed_translation *t)
{
    const char **rows = need_memory(t->n_words, sizeof *rows);
    const char **columns = need_memory(r->n_words, sizeof *columns);
    heed_picture_link *links = need_memory(t->n_links, sizeof *links);
    for (size_t i = 0; i < t->n_words; i++)
        rows[i] = t->words[i].text;
    for (size_t i = 0; i < r->n_words; i++)
        columns[i] = r->words[i].text;
    for (size_t i = 0; i < t->n_links; i++)
        links[i] = (heed_picture_link){.column = t->links[i].source, .row = t->links[i].target};
    return (heed_picture_attention){
        .words = {rows, (int)t->n_words, columns, (int)r->n_words},
        .weights = t->attention,
        .end = t->attention_end,
        .links = links,
        .n_links = (int)t->n_links,
    };
}

static void free_attention(heed_picture_attention *a)
{
    free((void *)a->words.rows);
    free((void *)a->words.columns);
    free((void *)a->links);
}

static bool is_empty(const heed_result *r, const heed_translation *t)
{
    return !t->attention || t->n_words == 0 || r->n_words == 0;
}

bool show_attention(FILE *out, const heed_result *r, const heed_translation *t)
{
    if (is_empty(r, t))
        return true;
    heed_error err = {0};
    heed_picture_attention attention = attention_of(r, t);
    const heed_text_options options = text_options(out);
    char *text = heed_draw_text(&attention, &options, &err);
    free_attention(&attention);
    if (!text) {
        complain("%s", err.message);
        return false;
    }
    fprintf(out, "\n%s\n", text);
    heed_free(text);
    return true;
}

/* "build/demo.svg" and 2 as "build/demo-2.svg"; to be given to free(). */
static char *numbered(const char *path, int number)
{
    const size_t size = strlen(path) + 16;
    char *name = need_memory(size, 1);
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    const int n_before = (int)(dot ? (size_t)(dot - path) : strlen(path));
    if (number == 1)
        strcpy(name, path);
    else
        snprintf(name, size, "%.*s-%d%s", n_before, path, number, dot ? dot : "");
    return name;
}

bool plot_attention(const char *path, int *n_plotted, const heed_result *r,
                    const heed_translation *t)
{
    if (is_empty(r, t))
        return true;
    heed_error err = {0};
    heed_picture_attention attention = attention_of(r, t);
    char *name = numbered(path, ++*n_plotted);
    const bool ok = heed_draw(&(heed_picture){.attention = &attention}, name, &err);
    if (!ok)
        complain("%s", err.message);
    free(name);
    free_attention(&attention);
    return ok;
}
