/* bench_decode.c -- how fast sentences are searched, for decode.py, which asks and compares with others.
 *
 *     bench_decode MODEL VOCAB SOURCE
 *     bench_decode gru WORDS SENTENCES
 *
 * MODEL is Marian's .npz or heed's own file (VOCAB is then "-"). The second form is a GRU with additive attention and random weights, which
 * reads sentences of so many words and never ends before it has written as many. Every line of standard input is a way to search, `greedy batched`,
 * `beam5 single`, `greedy threads`…; the answer is a line: seconds of this process on a CPU, seconds on the clock, words found. */
#include "base/memory.h"
#include "model/file.h"
#include "model/import.h"
#include "search/search.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONGEST = 256 };

static void die(const heed_error *err)
{
    fprintf(stderr, "bench_decode: %s\n", err->message);
    exit(1);
}

/* What is searched, and with what. */
struct text {
    heed_model *model; /* NULL for random weights */
    struct hd_net *net;
    int end;
    struct hd_search_input *input;
    size_t n, capacity;
};

static struct text read_text(heed_model *model, const char *path)
{
    struct text text = {.model = model, .net = model->net, .end = hd_vocab_end(model->target)};
    heed_error err = {0};
    char *line = NULL;
    size_t size = 0;
    FILE *in = fopen(path, "r");
    if (!in) {
        perror(path);
        exit(1);
    }
    while (getline(&line, &size, in) > 0) {
        struct hd_ids ids = {0};
        struct hd_search_input *grown =
            hd_grow(text.input, &text.capacity, text.n + 1, sizeof *grown, &err);
        if (!grown || !hd_vocab_encode(model->source, line, strcspn(line, "\n"), true, &ids, &err))
            die(&err);
        text.input = grown;
        text.input[text.n] = (struct hd_search_input){
            .source = ids.at, .n_source = (int)ids.n, .max_length = LONGEST, .number = text.n};
        text.n++;
    }
    free(line);
    fclose(in);
    return text;
}

/* Embeddings 256, a bidirectional GRU of 256 each way, a decoder of 512, 8,000 words. */
static struct text random_gru(int n_words, int n_sentences)
{
    heed_error err = {0};
    struct text text = {.n = (size_t)n_sentences};
    struct hd_config c = hd_config_preset(HD_BAHDANAU, HD_SIZE_BASE);
    c.source_vocab = c.target_vocab = 8000;
    c.embed = 256;
    c.dim = c.encoder_dim = c.attention_dim = 512;
    c.readout = HD_READOUT_LINEAR;
    if (!hd_config_check(&c, &err) || !(text.net = hd_net_new(&c, &err)))
        die(&err);
    hd_net_init(text.net, 1);
    text.net->output_bias->x[text.end] = -1e9F;
    text.input = hd_alloc(text.n, sizeof *text.input, &err);
    for (size_t i = 0; i < text.n; i++) {
        int *ids = hd_alloc((size_t)n_words, sizeof *ids, &err);
        for (int j = 0; j < n_words; j++)
            ids[j] = (int)((i * 7919 + (size_t)j * 104729) % 8000);
        text.input[i] = (struct hd_search_input){
            .source = ids, .n_source = n_words, .max_length = n_words, .number = i};
    }
    return text;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A part of the text, searched by one thread. */
struct work {
    const struct text *text;
    const struct hd_search_input *input;
    size_t n, at_a_time;
    struct hd_search_options options;
    long n_words;
};

static void *search(void *data)
{
    struct work *w = data;
    heed_error err = {0};
    struct hd_found *found = hd_alloc(w->n, sizeof *found, &err);
    const struct hd_net *net = w->text->net;
    for (size_t i = 0; i < w->n; i += w->at_a_time) {
        const size_t n = w->n - i < w->at_a_time ? w->n - i : w->at_a_time;
        if (!found || !hd_search(&net, 1, w->text->end, w->input + i, n, &w->options, found, &err))
            die(&err);
        for (size_t j = 0; j < n; j++) {
            w->n_words += found[j].best->n;
            hd_found_release(&found[j]);
        }
    }
    hd_free(found);
    return NULL;
}

static void answer(const struct text *text, const char *question)
{
    struct hd_search_options options = hd_search_options_default();
    const char *rows = getenv("N_ROWS");
    options.beam = strncmp(question, "beam5", 5) == 0 ? 5 : 1;
    options.words_alone = strstr(question, "words");
    options.n_rows = rows ? atoi(rows) : options.n_rows;
    const bool is_single = strstr(question, "single"), is_two = strstr(question, "threads");
    const size_t n = is_single && text->n > 200 ? 200 : text->n, half = is_two ? n / 2 : n;
    struct work work[2] = {{text, text->input, half, is_single ? 1 : n, options, 0},
                           {text, text->input + half, n - half, n, options, 0}};
    const double cpu = cpu_seconds(), start = clock_seconds();
    pthread_t other;
    if (is_two && pthread_create(&other, NULL, search, &work[1]) != 0)
        exit(1);
    search(&work[0]);
    if (is_two)
        pthread_join(other, NULL);
    printf("%.6f %.6f %ld\n", cpu_seconds() - cpu, clock_seconds() - start,
           work[0].n_words + work[1].n_words);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    heed_error err = {0};
    if (argc != 4) {
        fprintf(stderr, "usage: bench_decode MODEL VOCAB SOURCE\n");
        return 2;
    }
    struct text text;
    if (strcmp(argv[1], "gru") == 0) {
        text = random_gru(atoi(argv[2]), atoi(argv[3]));
    } else {
        const char *vocabs[] = {argv[2]};
        heed_model *model = strcmp(argv[2], "-") ? hd_import(argv[1], vocabs, 1, &err)
                                                 : hd_model_load(argv[1], &err);
        if (!model)
            die(&err);
        text = read_text(model, argv[3]);
    }
    if (!hd_net_pack(text.net, &err) || !hd_net_shade(text.net, &err))
        die(&err);
    char *question = NULL;
    size_t size = 0;
    while (getline(&question, &size, stdin) > 0)
        answer(&text, question);
    free(question);
    for (size_t i = 0; i < text.n; i++)
        hd_free((void *)text.input[i].source);
    hd_free(text.input);
    if (text.model)
        hd_model_free(text.model);
    else
        hd_net_free(text.net);
    return 0;
}
