/* bench_decode.c -- how fast sentences are searched, for decode.py, which asks and compares with others.
 *
 *     bench_decode MODEL SOURCE [LONGEST [SENTENCES]]
 *     bench_decode gru WORDS SENTENCES [f32|int8 [MODEL]]
 *
 * Outputs have at most LONGEST words (256), and the first SENTENCES of the text are read. The second form is a GRU with additive
 * attention, of random weights or of MODEL, in floats, which reads sentences of so many words and never ends before it has written as
 * many. Every line of standard input is something to do, and its answer is a line: seconds of this process on a CPU, seconds on the
 * clock, words found.
 *     greedy|beam5 batched|single [words]     search all sentences together, or the first 200 one by one; words alone
 *     greedy|beam5 threads [words]            all, half of them by each of two threads
 *     greedy|beam5 translate 1|2              from text to text, as `heed translate` does it, by so many threads
 *     greedy|beam5 calls warm|cold            the first 200 one call each, by one translator or each by a new one
 *     loops 1|2                               two bare loops of multiply-adds, by so many threads
 *     peak                                    8-bit multiply-adds on registers only; instead of words, millions of operations */
#include "base/memory.h"
#include "clock.h"
#include "loops.h"
#include "model/languages.h"
#include "model/model_file.h"
#include "peak.h"
#include "search/search.h"

#include <malloc.h>
#include <string.h>

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
    char **lines; /* the sentences as text; NULL for random weights */
    size_t n;
};

/* A source of a model of several languages begins with the symbol of its first direction's target. */
static void begin_with(struct hd_ids *ids, int symbol)
{
    int *at = malloc((ids->n + 1) * sizeof *at);
    if (!at)
        exit(1);
    at[0] = symbol;
    memcpy(at + 1, ids->at, ids->n * sizeof *at);
    free(ids->at);
    ids->at = at;
    ids->n++;
}

static struct text read_text(heed_model *model, const char *path, int longest, size_t most)
{
    struct text text = {.model = model, .net = model->net, .end = hd_vocab_end(model->target)};
    heed_error err = {0};
    size_t size = 0, n_input = 0, n_lines = 0;
    const struct hd_direction *first = hd_model_direction(model, 0);
    const int symbol = first ? hd_model_language_symbol(model, first->to) : -1;
    FILE *in = fopen(path, "r");
    if (!in) {
        perror(path);
        exit(1);
    }
    for (char *line = NULL; text.n < most && getline(&line, &size, in) > 0; line = NULL, size = 0) {
        struct hd_ids ids = {0};
        line[strcspn(line, "\n")] = '\0';
        text.input = hd_grow(text.input, &n_input, text.n + 1, sizeof *text.input, &err);
        text.lines = hd_grow(text.lines, &n_lines, text.n + 1, sizeof *text.lines, &err);
        if (!text.input || !text.lines ||
            !hd_vocab_encode(model->source, line, strlen(line), true, &ids, &err))
            die(&err);
        if (symbol >= 0)
            begin_with(&ids, symbol);
        text.lines[text.n] = line;
        text.input[text.n] = (struct hd_search_input){
            .source = {.ids = ids.at, .n = (int)ids.n}, .max_length = longest, .number = text.n};
        text.n++;
    }
    fclose(in);
    return text;
}

/* Embeddings 256, a bidirectional GRU of 256 each way, a decoder of 512, 8,000 words. */
static struct hd_net *random_gru(void)
{
    heed_error err = {0};
    struct hd_net *net = NULL;
    struct hd_config c = hd_config_preset(HD_BAHDANAU, HD_SIZE_BASE);
    c.source_vocab = c.target_vocab = 8000;
    c.embed = 256;
    c.dim = c.encoder_dim = c.attention_dim = 512;
    c.readout = HD_READOUT_LINEAR;
    if (!hd_config_check(&c, &err) || !(net = hd_net_new(&c, &err)))
        die(&err);
    hd_net_init(net, 1);
    return net;
}

/* A net that never ends; of a model, in floats, or random. */
static struct text endless_gru(int n_words, int n_sentences, const char *path)
{
    heed_error err = {0};
    struct text text = {.n = (size_t)n_sentences};
    heed_model *model = path ? heed_model_load(path, &err) : NULL; /* to the end of the program */
    if (path && !model)
        die(&err);
    text.net = model ? model->net : random_gru();
    text.end = model ? hd_vocab_end(model->target) : 0;
    text.net->head.b->x[text.end] = -1e9F;
    text.input = hd_alloc(text.n, sizeof *text.input, &err);
    for (size_t i = 0; i < text.n; i++) {
        int *ids = hd_alloc((size_t)n_words, sizeof *ids, &err);
        for (int j = 0; j < n_words; j++)
            ids[j] = (int)((i * 7919 + (size_t)j * 104729) % 8000);
        text.input[i] = (struct hd_search_input){
            .source = {.ids = ids, .n = n_words}, .max_length = n_words, .number = i};
    }
    return text;
}

static struct hd_net *in_int8(struct hd_net *net)
{
    heed_error err = {0};
    struct hd_net *quantised = hd_net_as(net, HD_COMPUTE_INT8, &err);
    if (!quantised)
        die(&err);
    return quantised;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The text in parts, each searched by the next free thread. */
struct work {
    const struct text *text;
    size_t n, at_a_time;
    struct hd_search_options options;
    long *n_words; /* by part */
};

/* Each thread keeps its searcher, as translators do. */
enum { MOST_THREADS = 2, SENTENCES_AT_A_TIME = 24 };
static struct hd_searcher *searchers[MOST_THREADS];

static void search(void *data, int index, int worker)
{
    const struct work *w = data;
    heed_error err = {0};
    const size_t from = (size_t)index * w->at_a_time, left = w->n - from,
                 n = left < w->at_a_time ? left : w->at_a_time;
    const struct hd_net *net = w->text->net;
    struct hd_searcher *s = searchers[worker];
    if (!s && !(s = searchers[worker] = hd_searcher_new(&net, 1, w->text->end, &err)))
        die(&err);
    hd_searcher_set_rows(s, SENTENCES_AT_A_TIME * w->options.beam);
    for (size_t i = 0; i < n; i++)
        if (!hd_searcher_add(s, &w->text->input[from + i], &w->options, NULL, &err))
            die(&err);
    while (hd_searcher_size(s) > 0) {
        struct hd_nbest found;
        void *tag;
        if (!hd_searcher_step(s, &err))
            die(&err);
        while (hd_searcher_take(s, &found, &tag)) {
            w->n_words[index] += found.best->n;
            hd_nbest_release(&found);
        }
    }
}

static long search_all(const struct text *text, const char *question, struct hd_pool *pool)
{
    heed_error err = {0};
    struct work w = {.text = text, .n = text->n, .options = hd_search_options_default()};
    w.options.beam = strncmp(question, "beam5", 5) == 0 ? 5 : 1;
    w.options.words_alone = strstr(question, "words");
    if (strstr(question, "single")) {
        w.n = text->n < 200 ? text->n : 200;
        w.at_a_time = 1;
    } else
        w.at_a_time = strstr(question, "threads") ? (text->n + 1) / 2 : text->n;
    const size_t n_parts = (w.n + w.at_a_time - 1) / w.at_a_time;
    long n_words = 0;
    if (!(w.n_words = hd_alloc(n_parts, sizeof *w.n_words, &err)))
        die(&err);
    hd_pool_run(pool, search, &w, (int)n_parts);
    for (size_t i = 0; i < n_parts; i++)
        n_words += w.n_words[i];
    hd_free(w.n_words);
    return n_words;
}

/* As the program does it for plain text. */
static heed_translator *translator_for(const struct text *text, const char *question)
{
    heed_error err = {0};
    const heed_model *model = text->model;
    heed_translator *t = heed_translator_new(&model, 1, &err);
    if (!t ||
        !heed_translator_set(t, "beam", strncmp(question, "beam5", 5) == 0 ? "5" : "1", &err) ||
        !heed_translator_set(t, "attention", "none", &err) ||
        !heed_translator_set(t, "scores", "no", &err) ||
        !heed_translator_set(t, "threads", strchr(question, '2') ? "2" : "1", &err))
        die(&err);
    return t;
}

static long words_of(heed_results *r, const heed_error *err)
{
    if (!r)
        die(err);
    long n_words = 0;
    for (size_t i = 0; i < r->n; i++)
        n_words += (long)r->at[i]->translations[0]->n_subwords;
    heed_results_free(r);
    return n_words;
}

static long translate_all(const struct text *text, const char *question)
{
    heed_error err = {0};
    heed_translator *t = translator_for(text, question);
    const long n_words = words_of(
        heed_translator_translate(t, (const char *const *)text->lines, text->n, &err), &err);
    heed_translator_free(t);
    return n_words;
}

/* One sentence a call, the first 200: all by one translator, or each by a new one. */
static long translate_calls(const struct text *text, const char *question)
{
    heed_error err = {0};
    const bool is_warm = strstr(question, "warm");
    heed_translator *t = is_warm ? translator_for(text, question) : NULL;
    long n_words = 0;
    for (size_t i = 0; i < text->n && i < 200; i++) {
        if (!is_warm)
            t = translator_for(text, question);
        n_words += words_of(
            heed_translator_translate(t, (const char *const *)&text->lines[i], 1, &err), &err);
        if (!is_warm)
            heed_translator_free(t);
    }
    if (is_warm)
        heed_translator_free(t);
    return n_words;
}

/* In millions, as many as take some hundredths of a second. */
static long most_operations(void)
{
    double n = 0;
    for (int i = 0; i < 20; i++)
        n += peak_run_int8();
    return (long)(n * 1e-6);
}

static void answer(const struct text *text, const char *question)
{
    heed_error err = {0};
    const bool is_two = strstr(question, "threads") || strstr(question, "loops 2");
    struct hd_pool *pool = hd_pool_new(is_two ? 2 : 1, &err);
    if (!pool)
        die(&err);
    long n_words = 0;
    const double cpu = cpu_seconds(), start = bench_now();
    if (strstr(question, "loops"))
        bench_two_loops(pool);
    else if (strstr(question, "peak"))
        n_words = most_operations();
    else if (strstr(question, "calls"))
        n_words = translate_calls(text, question);
    else if (strstr(question, "translate"))
        n_words = translate_all(text, question);
    else
        n_words = search_all(text, question, pool);
    printf("%.6f %.6f %ld\n", cpu_seconds() - cpu, bench_now() - start, n_words);
    fflush(stdout);
    hd_pool_free(pool);
}

int main(int argc, char **argv)
{
    heed_error err = {0};
    if (argc < 3 || argc > 6) {
        fprintf(stderr, "usage: bench_decode MODEL SOURCE [LONGEST [SENTENCES]]\n"
                        "       bench_decode gru WORDS SENTENCES [f32|int8 [MODEL]]\n");
        return 2;
    }
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 128 << 10); /* as in the program */
#endif
    struct text text;
    if (strcmp(argv[1], "gru") == 0) {
        text = endless_gru(atoi(argv[2]), argc > 3 ? atoi(argv[3]) : 20, argc > 5 ? argv[5] : NULL);
        struct hd_net *floats = text.net;
        if (argc > 4 && strcmp(argv[4], "int8") == 0) {
            text.net = in_int8(floats);
            if (argc <= 5)
                hd_net_free(floats);
        }
        if (!hd_net_pack(text.net, &err))
            die(&err);
    } else {
        heed_model *model = heed_model_load(argv[1], &err);
        if (!model)
            die(&err);
        text = read_text(model, argv[2], argc > 3 ? atoi(argv[3]) : 256,
                         argc > 4 ? (size_t)atol(argv[4]) : SIZE_MAX);
    }
    if (!hd_screen_make(&text.net->head, &err))
        die(&err);
    char *question = NULL;
    size_t size = 0;
    while (getline(&question, &size, stdin) > 0)
        answer(&text, question);
    free(question);
    for (size_t i = 0; i < text.n; i++) {
        hd_free((void *)text.input[i].source.ids);
        if (text.lines)
            free(text.lines[i]);
    }
    hd_free(text.input);
    hd_free(text.lines);
    for (int i = 0; i < MOST_THREADS; i++)
        hd_searcher_free(searchers[i]);
    if (text.model)
        heed_model_free(text.model);
    else if (argc <= 5)
        hd_net_free(text.net);
    return 0;
}
