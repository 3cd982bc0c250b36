/* learn.h -- for tests: toy tasks made from a seed, and a small loop that trains a model on them.
 *
 * A pair belongs to the test set or to training by the hash of its source, so nothing that is tested has been seen. The loop
 * is what any training is: batches, loss, gradients cut to a length, Adam with a rate that rises and falls. */
#ifndef HD_TEST_LEARN_H
#define HD_TEST_LEARN_H

#include "settings.h"
#include "walk.h"

#include "base/rng.h"
#include "kernel/kernel.h"
#include "model/model.h"

#include <math.h>

/* Sanitizers make everything ten times slower and look for other mistakes than these: with them models train for a moment
 * only, and need not have learned anything. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

/* ---- toys ------------------------------------------------------------------------------------ */

enum { END = 0, MOST_WORDS = 24 };

/* Both sides end with END. */
struct pair {
    int source[MOST_WORDS], n_source, target[MOST_WORDS], n_target;
};

struct toy {
    const char *name;
    int n_words;           /* ids of either side */
    int shortest, longest; /* words of a source, END not counted */
    void (*make)(struct hd_rng *rng, const struct toy *toy, struct pair *pair);
};

/* Random words 1 .. n_words-1, END. */
static inline void make_source(struct hd_rng *rng, const struct toy *toy, struct pair *p)
{
    const int n =
        toy->shortest + (int)hd_rng_below(rng, (uint32_t)(toy->longest - toy->shortest + 1));
    for (int i = 0; i < n; i++)
        p->source[i] = 1 + (int)hd_rng_below(rng, (uint32_t)toy->n_words - 1);
    p->source[n] = END;
    p->n_source = p->n_target = n + 1;
}

static inline void make_copy(struct hd_rng *rng, const struct toy *toy, struct pair *p)
{
    make_source(rng, toy, p);
    memcpy(p->target, p->source, sizeof p->target);
}

static inline void make_reverse(struct hd_rng *rng, const struct toy *toy, struct pair *p)
{
    make_source(rng, toy, p);
    const int n = p->n_source - 1;
    for (int i = 0; i < n; i++)
        p->target[i] = p->source[n - 1 - i];
    p->target[n] = END;
}

static inline int compare_words(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static inline void make_sorted(struct hd_rng *rng, const struct toy *toy, struct pair *p)
{
    make_copy(rng, toy, p);
    qsort(p->target, (size_t)p->n_target - 1, sizeof *p->target, compare_words);
}

static const char date_letters[] = " -0123456789abcdefghijlmnoprstuvy"; /* ids from 1 */

static inline int spell(int *ids, const char *text)
{
    int n = 0;
    for (; text[n]; n++)
        ids[n] = 1 + (int)(strchr(date_letters, text[n]) - date_letters);
    ids[n] = END;
    return n + 1;
}

/* "3 march 2019" to "2019-03-03" */
static inline void make_date(struct hd_rng *rng, const struct toy *toy, struct pair *p)
{
    static const char *const months[] = {"january",   "february", "march",    "april",
                                         "may",       "june",     "july",     "august",
                                         "september", "october",  "november", "december"};
    const int day = 1 + (int)hd_rng_below(rng, 28), month = (int)hd_rng_below(rng, 12);
    const int year = 1900 + (int)hd_rng_below(rng, 200);
    char text[40];
    (void)toy;
    snprintf(text, sizeof text, "%d %s %d", day, months[month], year);
    p->n_source = spell(p->source, text);
    snprintf(text, sizeof text, "%04d-%02d-%02d", year, month + 1, day);
    p->n_target = spell(p->target, text);
}

/* One of eight sources is for testing only. */
static inline bool is_for_test(const struct pair *p)
{
    uint32_t hash = 2166136261U;
    for (int i = 0; i < p->n_source; i++)
        hash = (hash ^ (uint32_t)p->source[i]) * 16777619U;
    return (hash >> 13) % 8 == 0;
}

/* ---- batches --------------------------------------------------------------------------------- */

enum { MOST_PAIRS = 256 };

struct toy_batch {
    int n, source_length[MOST_PAIRS], target_length[MOST_PAIRS], n_targets;
    int source[MOST_PAIRS * MOST_WORDS], target[MOST_PAIRS * MOST_WORDS];
};

static inline struct hd_batch make_toy_batch(struct toy_batch *l, const struct toy *toy,
                                             struct hd_rng *rng, bool is_test, int n)
{
    int n_source = 0;
    *l = (struct toy_batch){.n = n};
    assert_true(n <= MOST_PAIRS);
    for (int i = 0; i < n;) {
        struct pair p = {0};
        toy->make(rng, toy, &p);
        if (is_for_test(&p) != is_test)
            continue;
        memcpy(l->source + n_source, p.source, (size_t)p.n_source * sizeof *p.source);
        memcpy(l->target + l->n_targets, p.target, (size_t)p.n_target * sizeof *p.target);
        n_source += l->source_length[i] = p.n_source;
        l->n_targets += l->target_length[i] = p.n_target;
        i++;
    }
    return (struct hd_batch){.n = n,
                             .source = l->source,
                             .source_length = l->source_length,
                             .target = l->target,
                             .target_length = l->target_length};
}

/* ---- a learner ------------------------------------------------------------------------------- */

struct learner {
    struct hd_net *net;
    hd_tape *tape, *step[2];
    float *gradients, *m, *v;
    float left1, left2; /* β₁ᵗ, β₂ᵗ */
};

static inline float *some_floats(size_t n)
{
    float *x = calloc(n, sizeof *x);
    assert_non_null(x);
    return x;
}

static inline struct learner learner_new(const char *settings, const struct toy *toy, uint64_t seed)
{
    struct hd_config c = preset_of(settings);
    heed_error err = {0};
    c.source_vocab = c.target_vocab = toy->n_words;
    set_fields(&c, settings);
    assert_that(hd_config_check(&c, &err), "%s: %s", settings, err.message);
    struct learner l = {.net = hd_net_new(&c, &err),
                        .tape = hd_tape_new(&err),
                        .step = {hd_tape_new(&err), hd_tape_new(&err)},
                        .left1 = 1,
                        .left2 = 1};
    assert_that(l.net && l.tape && l.step[0] && l.step[1], "%s", err.message);
    hd_net_init(l.net, seed);
    const size_t n = hd_params_size(l.net->params);
    l.gradients = some_floats(n);
    l.m = some_floats(n);
    l.v = some_floats(n);
    return l;
}

static inline void learner_free(struct learner *l)
{
    hd_net_free(l->net);
    hd_tape_free(l->tape);
    hd_tape_free(l->step[0]);
    hd_tape_free(l->step[1]);
    free(l->gradients);
    free(l->m);
    free(l->v);
}

/* One update; returns the mean loss of a target word. */
static inline float learn_batch(struct learner *l, const struct hd_batch *batch, int n_targets,
                                float rate)
{
    const float beta1 = 0.9F, beta2 = 0.98F, longest = 1;
    const struct hd_kernels *k = hd_kernels_chosen(NULL);
    hd_params *params = l->net->params;
    const long n = (long)hd_params_size(params);
    hd_tape_reset(l->tape);
    hd_tape_record(l->tape, true);
    memset(l->gradients, 0, (size_t)n * sizeof *l->gradients);
    const struct hd_memory *memory = hd_encode(l->net, l->tape, batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(l->net, l->tape, memory, batch, NULL);
    assert_that(forced != NULL, "%s", hd_tape_error(l->tape)->message);
    hd_node *loss = hd_forced_loss(l->net, forced, 0);
    assert_true(hd_backward(loss, l->gradients));
    const float length = (float)sqrt(k->sum_squares(l->gradients, n)) / (float)n_targets;
    const float cut = length > longest ? longest / length : 1;
    l->left1 *= beta1;
    l->left2 *= beta2;
    k->adam(hd_params_values(params), l->m, l->v, l->gradients, rate, beta1, beta2, 1e-9F,
            1 - l->left1, 1 - l->left2, 0, 0, cut / (float)n_targets, n);
    hd_params_changed(params);
    assert_true(hd_params_pack(params, NULL));
    return loss->x[0] / (float)n_targets;
}

struct course {
    int n_updates, batch_size, warm_up;
    float rate;
    uint64_t seed;
};

/* The rate rises for `warm_up` updates and then falls to nothing. */
static inline float rate_at(const struct course *c, int update)
{
    const float up = (float)(update + 1) / (float)c->warm_up;
    const float down = (float)(c->n_updates - update) / (float)(c->n_updates - c->warm_up);
    return c->rate * (up < down ? up : down < 1 ? down : 1);
}

static inline void learn(struct learner *l, const struct toy *toy, const struct course *course)
{
    static struct toy_batch toy_batch;
    struct hd_rng rng = {.key = course->seed, .stream = 1};
    for (int u = 0; u < course->n_updates; u++) {
        const struct hd_batch batch =
            make_toy_batch(&toy_batch, toy, &rng, false, course->batch_size);
        const float loss = learn_batch(l, &batch, toy_batch.n_targets, rate_at(course, u));
        assert_that(loss == loss, "%s, update %d: the loss is not a number", toy->name, u + 1);
    }
}

/* ---- what it has learned --------------------------------------------------------------------- */

/* The best word at every step, for all sentences at once; words [n, MOST_WORDS]. */
static inline void answer(struct learner *l, const struct hd_batch *batch, int (*words)[MOST_WORDS])
{
    int sentence[MOST_PAIRS], previous[MOST_PAIRS];
    const int B = batch->n;
    const struct hd_kernels *k = hd_kernels_chosen(NULL);
    hd_tape_reset(l->tape);
    hd_tape_record(l->tape, false);
    for (int b = 0; b < B; b++) {
        sentence[b] = b;
        previous[b] = -1;
    }
    struct walk *walk = walk_start(l->net, l->tape, batch, sentence, B);
    for (int t = 0; t < MOST_WORDS; t++) {
        hd_tape *tape = l->step[t % 2];
        hd_tape_reset(tape);
        const struct hd_stepped now = walk_step(walk, tape, previous);
        const hd_node *logits = hd_logits(&l->net->head, now.out);
        assert_that(hd_tape_error(tape)->code == HEED_OK, "%s", hd_tape_error(tape)->message);
        for (int b = 0; b < B; b++) {
            float best;
            k->top_k(&previous[b], &best, logits->x + (size_t)b * (size_t)hd_width(logits),
                     hd_width(logits), 1);
            words[b][t] = previous[b];
        }
    }
    walk_end(walk);
}

/* How many of 256 unseen sources are answered without any mistake, in percent. */
static inline double exact_answers(struct learner *l, const struct toy *toy, uint64_t seed)
{
    static struct toy_batch toy_batch;
    static int words[MOST_PAIRS][MOST_WORDS];
    struct hd_rng rng = {.key = seed, .stream = 2};
    const struct hd_batch batch = make_toy_batch(&toy_batch, toy, &rng, true, MOST_PAIRS);
    answer(l, &batch, words);
    int n_exact = 0;
    const int *target = batch.target;
    for (int i = 0; i < batch.n; i++) {
        const size_t n = (size_t)batch.target_length[i];
        n_exact += memcmp(words[i], target, n * sizeof *target) == 0;
        target += n;
    }
    return 100.0 * n_exact / batch.n;
}

#endif
