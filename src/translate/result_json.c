/* result_json.c -- a result as one JSON object, as docs/reference/json.md has it. */
#include "base/error.h"
#include "base/memory.h"

#include <heed.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A text that grows; the first failure stays. */
struct text {
    char *at;
    size_t n, capacity;
    bool is_well;
    heed_error *err;
};

static void add_bytes(struct text *t, const char *bytes, size_t n)
{
    char *grown = t->is_well ? hd_grow(t->at, &t->capacity, t->n + n + 1, 1, t->err) : NULL;
    t->is_well = grown != NULL;
    if (!grown)
        return;
    t->at = grown;
    memcpy(grown + t->n, bytes, n);
    t->n += n;
    grown[t->n] = '\0';
}

static void add(struct text *t, const char *text)
{
    add_bytes(t, text, strlen(text));
}

static void __attribute__((format(printf, 2, 3)))
add_format(struct text *t, const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add_bytes(t, text, n > 0 ? (size_t)n : 0);
}

/* A string with its quotes and escapes. */
static void add_string(struct text *t, const char *text)
{
    add(t, "\"");
    for (const char *from = text; *from;) {
        size_t n = 0;
        while ((unsigned char)from[n] >= 0x20 && from[n] != '"' && from[n] != '\\')
            n++;
        add_bytes(t, from, n);
        from += n;
        if (*from == '"' || *from == '\\')
            add_format(t, "\\%c", *from++);
        else if (*from)
            add_format(t, "\\u%04x", (unsigned)(unsigned char)*from++);
    }
    add(t, "\"");
}

static void add_number(struct text *t, const char *before, double x)
{
    if (isfinite(x))
        add_format(t, "%s%.6g", before, x);
    else
        add_format(t, "%snull", before);
}

static void add_words(struct text *t, const char *name, const heed_word *words, size_t n,
                      bool is_target)
{
    add_format(t, ", \"%s\": [", name);
    for (size_t i = 0; i < n; i++) {
        add(t, i > 0 ? ", {\"text\": " : "{\"text\": ");
        add_string(t, words[i].text);
        add_format(t, ", \"start\": %zu, \"end\": %zu", words[i].start, words[i].end);
        if (is_target) {
            add_number(t, ", \"logprob\": ", words[i].logprob);
            add_number(t, ", \"confidence\": ", words[i].confidence);
        }
        add(t, "}");
    }
    add(t, "]");
}

static void add_subwords(struct text *t, const char *name, const heed_subword *subwords, size_t n)
{
    add_format(t, "\"%s\": [", name);
    for (size_t i = 0; i < n; i++) {
        add(t, i > 0 ? ", " : "");
        add_string(t, subwords[i].text);
    }
    add(t, "], ");
}

static void add_row(struct text *t, const float *x, size_t n)
{
    add(t, "[");
    for (size_t j = 0; j < n; j++)
        add_number(t, j > 0 ? ", " : "", (double)x[j]);
    add(t, "]");
}

static void add_matrix(struct text *t, const char *name, const float *x, size_t rows,
                       size_t columns)
{
    add_format(t, "\"%s\": %s", name, x ? "[" : "null");
    for (size_t i = 0; x && i < rows; i++) {
        add(t, i > 0 ? ", " : "");
        add_row(t, x + i * columns, columns);
    }
    add(t, x ? "]" : "");
}

static void add_attention(struct text *t, const heed_translation *tr)
{
    add_matrix(t, "attention", tr->attention, tr->n_attention_rows, tr->n_attention_columns);
    add(t, ", \"attention_end\": ");
    if (tr->attention_end)
        add_row(t, tr->attention_end, tr->n_attention_rows);
    else
        add(t, "null");
}

/* [first, last] source word for each word. */
static void add_heard(struct text *t, const heed_translation *tr)
{
    add(t, ", \"heard\": [");
    for (size_t i = 0; i < tr->n_words; i++) {
        const char *comma = i > 0 ? ", " : "";
        if (tr->heard[i].first < 0)
            add_format(t, "%snull", comma);
        else
            add_format(t, "%s[%d, %d]", comma, tr->heard[i].first, tr->heard[i].last);
    }
    add(t, "]");
}

/* A list of [subword, log-probability] for each subword of the target. */
static void add_steps(struct text *t, const heed_translation *tr)
{
    add(t, ", \"steps\": [");
    for (size_t i = 0; i < tr->n_subwords; i++) {
        add(t, i > 0 ? ", [" : "[");
        for (size_t j = 0; j < tr->n_choices; j++) {
            const heed_choice *choice = &tr->choices[i * tr->n_choices + j];
            add(t, j > 0 ? ", [" : "[");
            add_string(t, choice->text);
            add_number(t, ", ", choice->logprob);
            add(t, "]");
        }
        add(t, "]");
    }
    add(t, "]");
}

static void add_beam(struct text *t, const heed_result *r)
{
    add(t, ", \"beam\": [");
    for (size_t i = 0; i < r->n_beam; i++) {
        const heed_beam_node *node = &r->beam[i];
        add_format(t, "%s{\"sentence\": %d, \"parent\": ", i > 0 ? ", " : "", node->sentence);
        if (node->parent >= 0)
            add_format(t, "%d", node->parent);
        else
            add(t, "null");
        add(t, ", \"text\": ");
        add_string(t, node->text);
        add_number(t, ", \"logprob\": ", node->logprob);
        add_number(t, ", \"total\": ", node->total);
        if (node->rank >= 0) {
            add_number(t, ", \"score\": ", node->score);
            add_format(t, ", \"rank\": %d", node->rank);
        }
        add(t, "}");
    }
    add(t, "]");
}

static void add_memory(struct text *t, const heed_result *r)
{
    add(t, ", \"memory\": [");
    for (size_t i = 0; i < r->n_memory; i++) {
        add_format(t, "%s{\"line\": %zu, \"source\": ", i > 0 ? ", " : "", r->memory[i].line);
        add_string(t, r->memory[i].source);
        add(t, ", \"target\": ");
        add_string(t, r->memory[i].target);
        add_number(t, ", \"similarity\": ", r->memory[i].similarity);
        add(t, "}");
    }
    add(t, "]");
}

static void add_translation(struct text *t, const heed_result *r, const heed_translation *tr)
{
    add(t, "{\"text\": ");
    add_string(t, tr->text);
    add_number(t, ", \"score\": ", tr->score);
    add_number(t, ", \"logprob\": ", tr->logprob);
    add_number(t, ", \"confidence\": ", tr->confidence);
    add_words(t, "source_words", r->words, r->n_words, false);
    add_words(t, "target_words", tr->words, tr->n_words, true);
    add(t, ", \"links\": [");
    for (size_t i = 0; i < tr->n_links; i++)
        add_format(t, "%s[%d, %d]", i > 0 ? ", " : "", tr->links[i].source, tr->links[i].target);
    add(t, "], ");
    add_attention(t, tr);
    if (tr->heard)
        add_heard(t, tr);
    add(t, ", \"subwords\": {");
    add_subwords(t, "source", r->subwords, r->n_subwords);
    add_subwords(t, "target", tr->subwords, tr->n_subwords);
    add_matrix(t, "attention", tr->subword_attention, tr->n_subword_rows, tr->n_subword_columns);
    if (tr->subword_scores) {
        add(t, ", ");
        add_matrix(t, "scores", tr->subword_scores, tr->n_subword_rows, tr->n_subword_columns);
    }
    add(t, "}");
    if (tr->vector) {
        add(t, ", \"vector\": ");
        add_row(t, tr->vector, tr->n_vector);
    }
    if (tr->choices)
        add_steps(t, tr);
    add(t, "}");
}

/* Of the best translation. */
static void add_sentences(struct text *t, const heed_translation *tr)
{
    add(t, ", \"sentences\": [");
    for (size_t i = 0; i < tr->n_sentences; i++) {
        const heed_sentence *s = &tr->sentences[i];
        add_format(t, "%s{\"source\": [%zu, %zu], ", i > 0 ? ", " : "", s->source_start,
                   s->source_end);
        add_format(t, "\"target\": [%zu, %zu]}", s->target_start, s->target_end);
    }
    add(t, "]");
}

/* Of vectors: which they were, and what a position is. */
static void add_item(struct text *t, const heed_result *r)
{
    char number[64];
    add(t, ", \"item\": ");
    add_string(t, r->item);
    if (r->columns > 0)
        snprintf(number, sizeof number, ", \"rows\": %d, \"columns\": %d", r->rows, r->columns);
    else
        snprintf(number, sizeof number, ", \"seconds\": %.6g", r->step);
    if (r->columns > 0 || r->step > 0)
        add(t, number);
}

/* All labels with their probabilities, and what was looked at. */
static void add_labels(struct text *t, const heed_result *r)
{
    add(t, ", \"labels\": [");
    for (size_t i = 0; i < r->n_labels; i++) {
        add(t, i > 0 ? ", {\"label\": " : "{\"label\": ");
        add_string(t, r->labels[i].text);
        add_number(t, ", \"probability\": ", r->labels[i].probability);
        add(t, "}");
    }
    add(t, "]");
    add_words(t, "source_words", r->words, r->n_words, false);
    add(t, ", ");
    heed_translation one = *r->translations[0];
    one.n_attention_rows = one.n_attention_rows > 0; /* a label may be of several words */
    add_attention(t, &one);
}

/* The answer with its place in the document, and where it was looked for; null where there is none. */
static void add_answer(struct text *t, const heed_result *r)
{
    const heed_answer *a = r->answer;
    add(t, ", \"question\": ");
    add_string(t, r->question);
    add(t, ", \"answer\": ");
    if (a) {
        add(t, "{\"text\": ");
        add_string(t, a->text);
        add_format(t, ", \"start\": %zu, \"end\": %zu", a->start, a->end);
        add_number(t, ", \"probability\": ", a->probability);
        add(t, "}");
    } else
        add(t, "null");
    add_words(t, "source_words", r->words, r->n_words, false);
    add(t, ", ");
    add_matrix(t, "attention", r->translations[0]->attention, r->translations[0]->n_attention_rows,
               r->translations[0]->n_attention_columns);
}

char *heed_result_json(const heed_result *r, heed_error *err)
{
    struct text t = {.is_well = true, .err = err};
    if (!hd_is_given(r, "result", err))
        return NULL;
    add(&t, "{\"source\": ");
    add_string(&t, r->source);
    if (r->item)
        add_item(&t, r);
    add(&t, ", \"warnings\": [");
    for (size_t i = 0; i < r->n_warnings; i++) {
        add(&t, i > 0 ? ", " : "");
        add_string(&t, r->warnings[i]);
    }
    if (r->labels || r->question) {
        add(&t, "]");
        (r->labels ? add_labels : add_answer)(&t, r);
        add(&t, "}");
        if (t.is_well)
            return t.at;
        hd_free(t.at);
        return NULL;
    }
    add(&t, "], \"translations\": [");
    for (size_t i = 0; i < r->n_translations; i++) {
        add(&t, i > 0 ? ", " : "");
        add_translation(&t, r, r->translations[i]);
    }
    add(&t, "]");
    if (r->n_translations > 0)
        add_sentences(&t, r->translations[0]);
    if (r->from && r->to) {
        add(&t, ", \"from\": ");
        add_string(&t, r->from);
        add(&t, ", \"to\": ");
        add_string(&t, r->to);
    }
    if (r->memory)
        add_memory(&t, r);
    if (r->beam)
        add_beam(&t, r);
    add(&t, "}");
    if (t.is_well)
        return t.at;
    hd_free(t.at);
    return NULL;
}
