/* recipe.c -- the table of everything that can be said about a training run, and the way from text to it and back. */
#include "train/recipe.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/quote.h"
#include "base/real.h"
#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define AT(member)                .offset = offsetof(struct hd_recipe, member)
#define WHOLE(member, low, high)  "N", .type = HD_R_WHOLE, AT(member), .min = low, .max = high
#define REAL(member, low, high)   "X", .type = HD_R_REAL, AT(member), .min = low, .max = high
#define YES_NO(member)            "yes|no", .type = HD_R_YES_NO, AT(member)
#define MAYBE(member)             "yes|no", .type = HD_R_MAYBE, AT(member)
#define CHOICE(member, names)     names, .type = HD_R_CHOICE, AT(member)
#define TEXT(member, what)        what, .type = HD_R_TEXT, AT(member)
#define LIST(member, what)        what, .type = HD_R_LIST, AT(member)
#define FIXED                     .change = HD_FIXED
#define FREE                      .change = HD_FREE
#define LOCAL                     .change = HD_LOCAL
#define OR                        .fallback =
#define IS                        .meaning =

/* A fallback of "" is chosen when the text is known; NULL is nothing. */
const struct hd_recipe_field hd_recipe_fields[] = {
    {"src", LIST(src, "FILE…"), LOCAL, IS "source text, a sentence a line, plain or gzip; - is stdin"},
    {"tgt", LIST(tgt, "FILE…"), LOCAL, IS "target text, line by line its translation"},
    {"tsv", LIST(tsv, "FILE…"), LOCAL, IS "instead of src and tgt: lines of source, TAB, target"},
    {"dev-src", LIST(dev_src, "FILE…"), LOCAL, IS "source text to validate on"},
    {"dev-tgt", LIST(dev_tgt, "FILE…"), LOCAL, IS "target text to validate on; without any, every 200th pair is held out"},
    {"dev-tsv", LIST(dev_tsv, "FILE…"), LOCAL, IS "both in one file"},
    {"skip-bad", YES_NO(skip_bad), FIXED, OR "no", IS "leave out broken pairs instead of refusing them"},
    {"out", TEXT(out, "MODEL.safetensors"), LOCAL, IS "the model; beside it MODEL.state.safetensors, .jsonl, .log, .svg"},

    {"tokens", CHOICE(tokens, "spm|words|chars"), FIXED, OR "spm", IS "what sentences are cut into: subwords, words or characters"},
    {"source-tokens", CHOICE(source_tokens, "spm|words|chars"), FIXED, OR "", IS "the same for the source, where it is another: letters to phonemes"},
    {"vocab-size", WHOLE(vocab_size, 0, 1 << 24), FIXED, OR "", IS "entries of a vocabulary"},
    {"joint-vocab", MAYBE(joint_vocab), FIXED, OR "", IS "one vocabulary for both languages"},
    {"spm", LIST(spm, "FILE.model…"), LOCAL, IS "a SentencePiece model to use, or two: source, target"},
    {"spm-type", CHOICE(spm_type, "unigram|bpe"), FIXED, OR "unigram", IS "the kind of subwords to learn"},
    {"normalize", CHOICE(normalize, "nmt_nfkc|nfkc|identity"), FIXED, OR "nmt_nfkc", IS "SentencePiece's rule for characters that look alike"},
    {"subword-sampling", REAL(subword_sampling, 0, 0.99), FIXED, OR "0", IS "cut words differently every time, this strongly"},
    {"max-length", WHOLE(max_length, 1, 1 << 20), FIXED, OR "200", IS "leave out pairs with a side of more pieces than this"},
    {"languages", TEXT(languages, "SRC-TGT"), FIXED, OR "", IS "for the record, such as en-fr"},
    {"attribution", TEXT(attribution, "TEXT"), FREE, IS "for the record: whose text it is"},
    {"licence", TEXT(licence, "TEXT"), FREE, IS "for the record: on what terms it and the model may be used"},

    {"updates", WHOLE(updates, 0, INT_MAX), FREE, OR "0", IS "stop after so many updates; 0: no limit"},
    {"epochs", WHOLE(epochs, 0, INT_MAX), FREE, OR "0", IS "stop after so many passes over the text; 0: no limit"},
    {"hours", REAL(hours, 0, 1e6), LOCAL, OR "0", IS "stop after so many hours of this call; 0: no limit"},
    {"patience", WHOLE(patience, 0, INT_MAX), FREE, OR "10", IS "stop when so many validations have brought nothing better; 0: never"},
    {"batch-tokens", WHOLE(batch_tokens, 1, 1 << 24), FIXED, OR "", IS "target pieces of a batch"},
    {"accumulate", WHOLE(accumulate, 1, 1 << 16), FIXED, OR "1", IS "batches of one update"},
    {"shards", WHOLE(shards, 1, 4096), FIXED, OR "8", IS "parts of an update, at most: threads and machines share them"},
    {"seed", WHOLE(seed, 0, INT_MAX), FIXED, OR "1", IS "decides everything that is left to chance"},
    {"threads", WHOLE(threads, 1, 4096), LOCAL, OR "", IS "threads; without it, all cores. Changes no bit of the result"},

    {"rate", REAL(rate, 0, 1e3), FREE, OR "", IS "the greatest learning rate"},
    {"warmup", WHOLE(warmup, 0, INT_MAX), FREE, OR "", IS "updates until the rate is reached"},
    {"schedule", CHOICE(schedule, "inv-sqrt|cosine|plateau|constant"), FREE, OR "inv-sqrt", IS "how it falls afterwards"},
    {"optimizer", CHOICE(optimizer, "adam|adamw|sgd"), FIXED, OR "adam", IS "the rule of an update"},
    {"weight-decay", REAL(weight_decay, 0, 10), FREE, OR "0", IS "of matrices"},
    {"momentum", REAL(momentum, 0, 0.9999), FREE, OR "0.9", IS "of sgd"},
    {"beta1", REAL(beta1, 0, 0.9999), FREE, OR "0.9", IS "of adam: memory of the mean"},
    {"beta2", REAL(beta2, 0, 0.99999), FREE, OR "0.98", IS "of adam: memory of the squares"},
    {"eps", REAL(eps, 1e-30, 1), FREE, OR "1e-9", IS "of adam"},
    {"clip", REAL(clip, 0, 1e9), FREE, OR "1", IS "the gradient's greatest length; 0: any"},
    {"label-smoothing", REAL(label_smoothing, 0, 0.9), FREE, OR "0.1", IS "share of probability for all words alike"},
    {"dropout", REAL(dropout, 0, 0.95), FREE, OR "", IS "share of numbers dropped, wherever the next five say nothing"},
    {"dropout-embed", REAL(dropout_embed, 0, 0.95), FREE, OR "", IS "of embeddings"},
    {"dropout-state", REAL(dropout_state, 0, 0.95), FREE, OR "", IS "of states between layers"},
    {"dropout-attention", REAL(dropout_attention, 0, 0.95), FREE, OR "", IS "of attention weights (transformer)"},
    {"dropout-ffn", REAL(dropout_ffn, 0, 0.95), FREE, OR "", IS "of the feed-forward's hidden layer (transformer)"},
    {"dropout-output", REAL(dropout_output, 0, 0.95), FREE, OR "", IS "of what enters the output layer"},
    {"word-dropout", REAL(word_dropout, 0, 0.95), FREE, OR "0", IS "share of words hidden on both sides"},
    {"rdrop", REAL(rdrop, 0, 100), FREE, OR "0", IS "R-Drop: how much two passes with other dropouts must agree; 0: one pass"},
    {"simcut", REAL(simcut, 0, 100), FREE, OR "0", IS "SimCut: how much a pass with hidden words must agree with one without"},
    {"simcut-share", REAL(simcut_share, 0, 0.95), FREE, OR "0.05", IS "of words that SimCut hides"},
    {"ema", REAL(ema, 0, 0.999999), FIXED, OR "", IS "moving average of the weights, which is what is validated and saved; 0: none"},
    {"average", WHOLE(average, 1, 64), FIXED, OR "1", IS "validate and save the mean of so many validations' weights"},
    {"average-of", CHOICE(average_of, "last|best"), FIXED, OR "last", IS "which of them: the last, or the best"},

    {"valid-every", WHOLE(valid_every, 1, INT_MAX), FREE, OR "", IS "updates between validations"},
    {"valid-metric", CHOICE(valid_metric, "ce|bleu|chrf|exact|wer"), FIXED, OR "", IS "what decides which model is best"},
    {"valid-tok", CHOICE(valid_tok, "13a|none|char|intl|zh"), FIXED, OR "13a", IS "how BLEU cuts words; none for text that is cut already"},
    {"valid-beam", WHOLE(valid_beam, 1, 64), FREE, OR "1", IS "hypotheses of the search in validation; 1 is greedy"},
    {"save-every", WHOLE(save_every, 1, INT_MAX), FREE, OR "", IS "updates between saved states"},
    {"store", CHOICE(store, "f32|f16|bf16"), FREE, OR "f32", IS "how the model's numbers are stored"},
    {"from", TEXT(from, "MODEL"), LOCAL, IS "start from this model, its vocabulary kept"},
    {"freeze", LIST(freeze, "PATTERN…"), FIXED, IS "parameters that stay as they are: encoder, 'decoder.1.*', '*embed'"},
    {"fresh", YES_NO(fresh), LOCAL, OR "no", IS "start over, whatever is there"},
    {"quiet", YES_NO(quiet), LOCAL, OR "no", IS "say nothing but errors"},
    {"json", YES_NO(json), LOCAL, OR "no", IS "every figure as a line of JSON on stdout"},
};
/* clang-format on */

enum { N_FIELDS = sizeof hd_recipe_fields / sizeof *hd_recipe_fields };
const int hd_n_recipe_fields = N_FIELDS;

static void *place(const struct hd_recipe *recipe, const struct hd_recipe_field *field)
{
    return (char *)recipe + field->offset;
}

void hd_recipe_init(struct hd_recipe *recipe)
{
    *recipe = (struct hd_recipe){0};
    for (const struct hd_recipe_field *f = hd_recipe_fields; f < hd_recipe_fields + N_FIELDS; f++) {
        const bool is_open = f->fallback && !*f->fallback;
        if (is_open && f->type == HD_R_REAL)
            *(float *)place(recipe, f) = HD_CHOOSE;
        else if (is_open && f->type != HD_R_TEXT)
            *(int *)place(recipe, f) = HD_CHOOSE;
        else if (f->fallback && f->type != HD_R_TEXT)
            (void)hd_recipe_set(recipe, f, f->fallback, NULL);
    }
}

void hd_recipe_release(struct hd_recipe *recipe)
{
    for (const struct hd_recipe_field *f = hd_recipe_fields; f < hd_recipe_fields + N_FIELDS; f++) {
        struct hd_names *names = place(recipe, f);
        if (f->type == HD_R_TEXT)
            hd_free(*(char **)place(recipe, f));
        else if (f->type == HD_R_LIST) {
            for (size_t i = 0; i < names->n; i++)
                hd_free(names->at[i]);
            hd_free(names->at);
        }
    }
    *recipe = (struct hd_recipe){0};
}

const struct hd_recipe_field *hd_recipe_find(const char *name)
{
    for (int i = 0; i < N_FIELDS; i++)
        if (strcmp(hd_recipe_fields[i].name, name) == 0)
            return &hd_recipe_fields[i];
    return NULL;
}

/* ---- from text --------------------------------------------------------------------------------- */

static bool refuse(const struct hd_recipe_field *f, const char *value, heed_error *err)
{
    const bool is_whole = f->type == HD_R_WHOLE;
    if (f->type == HD_R_YES_NO || f->type == HD_R_MAYBE)
        return hd_fail(err, HEED_BAD_OPTION, "%s must be yes or no, not %s", f->name,
                       hd_quote(value).text);
    return hd_fail(err, HEED_BAD_OPTION, "%s must be a %snumber from %g to %g, not %s", f->name,
                   is_whole ? "whole " : "", f->min, f->max, hd_quote(value).text);
}

static bool set_whole(int *out, const struct hd_recipe_field *f, const char *value, heed_error *err)
{
    char *end;
    errno = 0;
    const long n = strtol(value, &end, 10);
    if (end == value || *end || errno || (double)n < f->min || (double)n > f->max)
        return refuse(f, value, err);
    *out = (int)n;
    return true;
}

/* Through the JSON reader, which knows no locale; ".5" is a number here as well. */
static bool set_real(float *out, const struct hd_recipe_field *f, const char *value,
                     heed_error *err)
{
    char text[64];
    const int n = snprintf(text, sizeof text, "%s%s", value[0] == '.' ? "0" : "", value);
    json_t *number = n < (int)sizeof text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    const double x = json_number_value(number);
    const bool is_fine = json_is_number(number) && x >= f->min && x <= f->max;
    json_decref(number);
    if (!is_fine)
        return refuse(f, value, err);
    *out = (float)x;
    return true;
}

/* The i-th of "a|b|c" into name[24]; false when there are fewer. */
static bool name_at(const char *values, int i, char name[24])
{
    while (i > 0 && values)
        values = strchr(values, '|') ? strchr(values, '|') + 1 : NULL, i--;
    if (!values)
        return false;
    snprintf(name, 24, "%.*s", (int)strcspn(values, "|"), values);
    return true;
}

static bool set_choice(int *out, const struct hd_recipe_field *f, const char *value,
                       heed_error *err)
{
    char names[16][24];
    const char *list[16];
    int n = 0;
    for (; n < 16 && name_at(f->values, n, names[n]); n++) {
        list[n] = names[n];
        if (strcmp(names[n], value) == 0) {
            *out = n;
            return true;
        }
    }
    const char *near = hd_nearest(value, list, n);
    return hd_fail(err, HEED_BAD_OPTION, "%s must be one of %s, not %s%s%s%s", f->name, f->values,
                   hd_quote(value).text, near ? "; did you mean " : "", near ? near : "",
                   near ? "?" : "");
}

static bool set_text(char **out, const char *value, heed_error *err)
{
    char *copy = hd_copy_string(value, err);
    if (!copy)
        return false;
    hd_free(*out);
    *out = copy;
    return true;
}

static bool add_text(struct hd_names *names, const char *value, heed_error *err)
{
    char **grown = hd_grow(names->at, &names->capacity, names->n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    names->at = grown;
    names->at[names->n] = hd_copy_string(value, err);
    return names->at[names->n++] != NULL;
}

bool hd_recipe_set(struct hd_recipe *recipe, const struct hd_recipe_field *f, const char *value,
                   heed_error *err)
{
    void *out = place(recipe, f);
    const bool yes = strcmp(value, "yes") == 0 || strcmp(value, "true") == 0;
    const bool is_said = yes || strcmp(value, "no") == 0 || strcmp(value, "false") == 0;
    switch (f->type) {
    case HD_R_WHOLE:
        return set_whole(out, f, value, err);
    case HD_R_REAL:
        return set_real(out, f, value, err);
    case HD_R_CHOICE:
        return set_choice(out, f, value, err);
    case HD_R_TEXT:
        if (f->change != HD_LOCAL && !hd_utf8_valid(value, strlen(value), NULL))
            return hd_fail(err, HEED_BAD_OPTION, "%s is recorded, so it must be UTF-8, not %s",
                           f->name, hd_quote(value).text);
        return set_text(out, value, err);
    case HD_R_LIST:
        return add_text(out, value, err);
    case HD_R_YES_NO:
        if (!is_said)
            return refuse(f, value, err);
        *(bool *)out = yes;
        return true;
    case HD_R_MAYBE:
        if (!is_said)
            return refuse(f, value, err);
        *(int *)out = yes;
        return true;
    }
    return false;
}

/* ---- to text ----------------------------------------------------------------------------------- */

const char *hd_recipe_text(const struct hd_recipe *recipe, const struct hd_recipe_field *f,
                           char text[64])
{
    const void *at = place(recipe, f);
    const struct hd_names *names = at;
    text[0] = '\0';
    switch (f->type) {
    case HD_R_WHOLE:
        if (*(const int *)at != HD_CHOOSE || f->min < 0)
            snprintf(text, 64, "%d", *(const int *)at);
        break;
    case HD_R_REAL:
        if (*(const float *)at >= 0)
            (void)hd_real_text(text, *(const float *)at);
        break;
    case HD_R_YES_NO:
        snprintf(text, 64, "%s", *(const bool *)at ? "yes" : "no");
        break;
    case HD_R_MAYBE:
        if (*(const int *)at != HD_CHOOSE)
            snprintf(text, 64, "%s", *(const int *)at ? "yes" : "no");
        break;
    case HD_R_CHOICE:
        if (*(const int *)at != HD_CHOOSE)
            (void)name_at(f->values, *(const int *)at, text);
        break;
    case HD_R_TEXT:
        return *(char *const *)at ? *(char *const *)at : "";
    case HD_R_LIST:
        return names->n == 1 ? names->at[0] : "";
    }
    return text;
}

static json_t *list_to_json(const struct hd_names *names)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < names->n; i++)
        if (json_array_append_new(list, json_string(names->at[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *hd_recipe_to_json(const struct hd_recipe *recipe)
{
    json_t *json = json_object();
    for (const struct hd_recipe_field *f = hd_recipe_fields;
         json && f < hd_recipe_fields + N_FIELDS; f++) {
        char text[64];
        const struct hd_names *names = place(recipe, f);
        if (f->change == HD_LOCAL || (f->type == HD_R_LIST && names->n == 0))
            continue;
        const char *said = hd_recipe_text(recipe, f, text);
        if (f->type != HD_R_LIST && !*said)
            continue;
        json_t *value = f->type == HD_R_LIST ? list_to_json(names) : json_string(said);
        if (json_object_set_new(json, f->name, value) != 0) {
            json_decref(json);
            json = NULL;
        }
    }
    return json;
}

bool hd_recipe_from_json(struct hd_recipe *recipe, const json_t *json, heed_error *err)
{
    const char *name;
    json_t *value, *item;
    size_t i;
    json_object_foreach((json_t *)json, name, value)
    {
        const struct hd_recipe_field *f = hd_recipe_find(name);
        bool ok = f && (f->type == HD_R_LIST ? json_is_array(value) : json_is_string(value));
        if (ok && f->type != HD_R_LIST)
            ok = hd_recipe_set(recipe, f, json_string_value(value), err);
        json_array_foreach(value, i, item) ok =
            ok && json_is_string(item) && hd_recipe_set(recipe, f, json_string_value(item), err);
        if (!ok)
            return hd_fail(err, HEED_BAD_MODEL, "a recipe has no field %s of that kind",
                           hd_quote(name).text);
    }
    return true;
}
