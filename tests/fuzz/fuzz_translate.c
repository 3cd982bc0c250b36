/* fuzz_translate.c -- any bytes at all as text to translate, with a tiny model: as many results as lines, and all that is told of them
 * lies inside the text. The first byte chooses options. */
#include "fuzz/fuzz.h"

#include <heed.h>
#include <math.h>

static const heed_model *models[2];

static void load(void)
{
    models[0] = heed_model_load("tests/translate/toy.safetensors", NULL);
    models[1] = heed_model_load("tests/fuzz/corpus/model/gru", NULL);
    must(models[0] && models[1]);
}

static size_t count(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += (*text & 0xC0) != 0x80;
    return n;
}

static void check(const heed_result *r)
{
    const size_t n_source = count(r->source);
    for (size_t i = 0; i < r->n_words; i++)
        must(r->words[i].start < r->words[i].end && r->words[i].end <= n_source &&
             r->words[i].start >= (i > 0 ? r->words[i - 1].end : 0));
    must(r->n_translations > 0);
    for (size_t k = 0; k < r->n_translations; k++) {
        const heed_translation *t = r->translations[k];
        const size_t n = count(t->text);
        for (size_t i = 0; i < t->n_words; i++)
            must(t->words[i].end <= n && t->words[i].confidence >= 0 &&
                 t->words[i].confidence <= 1);
        for (size_t i = 0; i < t->n_links; i++)
            must(t->links[i].source < (int)r->n_words && t->links[i].target < (int)t->n_words);
        for (size_t i = 0; t->attention && i < t->n_words * r->n_words; i++)
            must(isfinite(t->attention[i]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!models[0])
        load();
    if (size == 0)
        return 0;
    const int how = data[0];
    char *text = malloc(size), *half;
    const char *lines[64];
    size_t n = 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    for (char *rest = text, *line; n < 64 && (line = strsep(&rest, "\n")) != NULL;)
        lines[n++] = line;
    const int beam = 1 + how % 3, n_best = 1 + (how >> 2) % beam;
    heed_error err = {0};
    heed_translator *t = heed_translator_new(&models[how >> 7], 1, &err);
    must(t && heed_translator_set(t, "threads", "1", NULL) &&
         heed_translator_set(t, "beam", (char[]){(char)('0' + beam), '\0'}, NULL) &&
         heed_translator_set(t, "n-best", (char[]){(char)('0' + n_best), '\0'}, NULL) &&
         heed_translator_set(t, "replace-unknown", how & 16 ? "yes" : "no", NULL) &&
         heed_translator_set(t, "max-source", how & 32 ? "3" : "0", NULL) &&
         heed_translator_set(t, "shift", how & 64 ? "1" : "0", NULL));
    heed_results *r = heed_translator_translate(t, lines, n, &err);
    must(r != NULL && r->n == n);
    for (size_t i = 0; i < n; i++) {
        check(r->at[i]);
        char *json = heed_result_json(r->at[i], &err);
        must(json != NULL);
        heed_free(json);
    }
    heed_results_free(r);
    half = strchr(text, '\t');
    const heed_text_pair pair = {text, half ? half + 1 : text};
    r = heed_translator_align(t, &pair, 1, &err);
    must(r != NULL);
    check(r->at[0]);
    heed_results_free(r);
    heed_translator_free(t);
    free(text);
    return 0;
}
