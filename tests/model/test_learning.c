/* test_learning.c -- the models learn: copy, reverse, sort, dates; and what the lectures claim of them is so.
 *
 * Nothing that is asked has been seen in training (learn.h). Runs are the same bit for bit on every machine, so what is
 * reached here is reached everywhere; the levels asked for lie below what several seeds gave. */
#include "learn.h"

/* Ten words, one to twelve of them. */
static const struct toy copying = {"copy", 11, 1, 12, make_copy};
static const struct toy reversing = {"reverse", 11, 1, 12, make_reverse};
static const struct toy sorting = {"sort", 11, 1, 12, make_sorted};
static const struct toy dates = {"dates", sizeof date_letters, 0, 0, make_date};

static const char bahdanau[] = "bahdanau dim=48";
static const char luong[] = "luong dim=48";
static const char transformer[] = "transformer dim=48 heads=4 ffn=96 norm=pre";

/* A model and what it was forced; trained when first asked for, kept until the end. */
struct pupil {
    const char *settings;
    const struct toy *toy;
    struct learner learner;
};
static struct pupil pupils[40];
static int n_pupils;

static struct learner *pupil(const char *settings, const struct toy *toy)
{
    static const struct course course = {.n_updates = IS_SANITIZED ? 20 : 800,
                                         .batch_size = 32,
                                         .warm_up = IS_SANITIZED ? 2 : 80,
                                         .rate = 4e-3F,
                                         .seed = 1};
    for (int i = 0; i < n_pupils; i++)
        if (strcmp(pupils[i].settings, settings) == 0 && pupils[i].toy == toy)
            return &pupils[i].learner;
    struct pupil *p = &pupils[n_pupils++];
    *p = (struct pupil){settings, toy, learner_new(settings, toy, course.seed)};
    learn(&p->learner, toy, &course);
    return &p->learner;
}

static int dismiss(void **state)
{
    (void)state;
    while (n_pupils > 0)
        learner_free(&pupils[--n_pupils].learner);
    return 0;
}

/* What was forced one toy is asked another (or the same); how much of it is exactly right must lie between. */
static void assert_answers(const char *settings, const struct toy *forced, const struct toy *toy,
                           double least, double most)
{
    const double percent = exact_answers(pupil(settings, forced), toy, 77);
    print_message("  %-60s %-14s %5.1f %%\n", settings, toy->name, percent);
    assert_that(IS_SANITIZED || (percent >= least && percent <= most),
                "%s, %s: %.1f %%, not %.0f to %.0f", settings, toy->name, percent, least, most);
}

static void assert_learns(const char *settings, const struct toy *toy, double least)
{
    assert_answers(settings, toy, toy, least, 100);
}

/* ---- the three that are used ----------------------------------------------------------------- */

static void bahdanau_learns_all_toys(void **state)
{
    (void)state;
    assert_learns(bahdanau, &copying, 99);
    assert_learns(bahdanau, &reversing, 99);
    assert_learns(bahdanau, &sorting, 99);
    assert_learns(bahdanau, &dates, 99);
}

static void luong_learns_all_toys(void **state)
{
    (void)state;
    assert_learns(luong, &copying, 99);
    assert_learns(luong, &reversing, 99);
    assert_learns(luong, &sorting, 99);
    assert_learns("luong dim=48 layers=1", &dates, 99); /* two layers want twice the updates */
}

static void the_transformer_learns_all_toys(void **state)
{
    (void)state;
    assert_learns(transformer, &copying, 99);
    assert_learns(transformer, &reversing, 99);
    assert_learns(transformer, &sorting, 99);
    assert_learns(transformer, &dates, 99);
    assert_learns("transformer dim=48 heads=4 ffn=96 norm=post", &reversing, 99);
}

/* ---- the lectures' own ----------------------------------------------------------------------- */

static void wang_learns_with_both_of_its_scores(void **state)
{
    (void)state;
    assert_learns("wang dim=48", &copying, 98);
    assert_learns("wang dim=48", &reversing, 98);
    assert_learns("wang dim=48", &sorting, 95);
    assert_learns("wang dim=48", &dates, 98);
    assert_learns("wang dim=48 score=projected", &reversing, 98);
}

/* What each row of some unseen sentences looked at: f(alpha, n_keys, position). */
typedef void look(const float *alpha, int m, int t, void *data);

static void look_at_all(struct learner *l, const struct toy *toy, look *look, void *data)
{
    static struct toy_batch toy_batch;
    struct hd_rng rng = {.key = 5};
    const struct hd_batch batch = make_toy_batch(&toy_batch, toy, &rng, true, 64);
    hd_tape_reset(l->tape);
    hd_tape_record(l->tape, false);
    const struct hd_memory *memory = hd_encode(l->net, l->tape, &batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(l->net, l->tape, memory, &batch, NULL);
    assert_non_null(forced);
    for (int r = 0; r < forced->n_rows; r++) {
        float alpha[MOST_WORDS];
        assert_true(hd_weights_of(l->net, &forced->cross, r, 0, -1, alpha));
        look(alpha, forced->cross.n_keys[r], forced->position[r], data);
    }
}

/* The largest weight as a share of e²/(e² + m - 1). */
static void share_of_bound(const float *alpha, int m, int t, void *data)
{
    double *share = data;
    (void)t;
    for (int j = 0; j < m; j++)
        *share = fmax(*share, (double)alpha[j] * (exp(2) + m - 1) / exp(2));
}

/* Its score is a tanh, in (-1, 1): it can look at no word alone, and has to make words out of mixtures. */
static void ferreira_learns_what_its_bounded_score_allows(void **state)
{
    (void)state;
    static const char ferreira[] = "ferreira dim=48";
    double bounded = 0, unbounded = 0;
    assert_answers(ferreira, &copying, &copying, 30, 80);
    assert_learns(ferreira, &reversing, 75);
    assert_learns(ferreira, &sorting, 88);
    assert_learns(ferreira, &dates, 95);
    look_at_all(pupil(ferreira, &copying), &copying, share_of_bound, &bounded);
    look_at_all(pupil(bahdanau, &copying), &copying, share_of_bound, &unbounded);
    print_message("  the largest weight is %.3f of its bound; bahdanau's %.3f of the same\n",
                  bounded, unbounded);
    assert_true(bounded <= 1.0001);
    assert_true(IS_SANITIZED || (bounded > 0.9 && unbounded > 1.5));
}

/* ---- the lectures' claims -------------------------------------------------------------------- */

/* "The fixed vector is a bottleneck." */
static void a_fixed_vector_holds_short_sentences_only(void **state)
{
    (void)state;
    static const struct toy short_ones = {"copy up to 3", 11, 1, 3, make_copy};
    static const struct toy long_ones = {"copy from 10", 11, 10, 12, make_copy};
    static const char first[] = "seq2seq dim=48 context=first";
    static const char every[] = "seq2seq dim=48 context=every";
    assert_answers(first, &copying, &short_ones, 90, 100);
    assert_answers(first, &copying, &long_ones, 0, 20);
    assert_answers(every, &copying, &short_ones, 90, 100);
    assert_answers(every, &copying, &long_ones, 0, 20);
    assert_answers(bahdanau, &copying, &short_ones, 99, 100);
    assert_answers(bahdanau, &copying, &long_ones, 99, 100);
}

struct aligned {
    bool is_reversed;
    int n, n_words;
};

static void count_aligned(const float *alpha, int m, int t, void *data)
{
    struct aligned *a = data;
    int best = 0;
    if (t == m - 1) /* END looks where it likes */
        return;
    for (int j = 0; j < m; j++)
        best = alpha[j] > alpha[best] ? j : best;
    a->n += best == (a->is_reversed ? m - 2 - t : t);
    a->n_words++;
}

/* "Attention learns (nearly) alignment", though nobody told it. */
static void attention_finds_the_word_that_is_written(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        const struct toy *toy;
    } cases[] = {
        {bahdanau, &copying}, {bahdanau, &reversing}, {luong, &copying}, {transformer, &copying}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct aligned a = {.is_reversed = cases[i].toy == &reversing};
        look_at_all(pupil(cases[i].settings, cases[i].toy), cases[i].toy, count_aligned, &a);
        const double percent = 100.0 * a.n / a.n_words;
        print_message("  %-60s %-14s %5.1f %% aligned\n", cases[i].settings, cases[i].toy->name,
                      percent);
        assert_that(IS_SANITIZED || percent >= 95, "%s: only %.1f %%", cases[i].settings, percent);
    }
}

/* "A transformer without positions does not know who stands where." */
static void without_positions_a_transformer_cannot_reverse(void **state)
{
    (void)state;
    static const struct toy longer = {"reverse from 4", 11, 4, 12, make_reverse};
    assert_answers("transformer dim=48 heads=4 ffn=96 norm=pre positions=none", &reversing, &longer,
                   0, 10);
    assert_answers(transformer, &reversing, &longer, 99, 100);
}

/* The largest difference that the order of the source's words makes to what is predicted. */
static double difference_by_order(const char *settings)
{
    struct learner l = learner_new(settings, &copying, 1);
    const int there[] = {1, 2, 3, 4, END}, back[] = {4, 2, 3, 1, END}, target[] = {5, END}, S = 5,
              T = 2;
    const int *const source[] = {there, back};
    const hd_node *out[2];
    for (int i = 0; i < 2; i++) {
        const struct hd_batch batch = {.n = 1,
                                       .source = source[i],
                                       .source_length = &S,
                                       .target = target,
                                       .target_length = &T};
        const struct hd_memory *memory = hd_encode(l.net, l.step[i], &batch, NULL);
        out[i] =
            hd_logits(&l.net->head, hd_teacher_force(l.net, l.step[i], memory, &batch, NULL)->out);
    }
    double largest = 0;
    for (size_t i = 0; i < hd_count(out[0]); i++)
        largest = fmax(largest, fabs((double)out[0]->x[i] - (double)out[1]->x[i]));
    learner_free(&l);
    return largest;
}

static void without_positions_order_makes_no_difference(void **state)
{
    (void)state;
    assert_true(difference_by_order("transformer positions=none") < 1e-5);
    assert_true(difference_by_order("transformer positions=sin") > 1e-3);
    assert_true(difference_by_order("transformer positions=learned") > 1e-3);
    assert_true(difference_by_order(bahdanau) > 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bahdanau_learns_all_toys),
        cmocka_unit_test(luong_learns_all_toys),
        cmocka_unit_test(the_transformer_learns_all_toys),
        cmocka_unit_test(wang_learns_with_both_of_its_scores),
        cmocka_unit_test(ferreira_learns_what_its_bounded_score_allows),
        cmocka_unit_test(a_fixed_vector_holds_short_sentences_only),
        cmocka_unit_test(attention_finds_the_word_that_is_written),
        cmocka_unit_test(without_positions_a_transformer_cannot_reverse),
        cmocka_unit_test(without_positions_order_makes_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, dismiss);
}
