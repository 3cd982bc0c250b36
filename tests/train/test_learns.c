/* test_learns.c -- learning itself: ten sentences by heart, for every architecture. */
#include "model/learn.h" /* IS_SANITIZED */
#include "test.h"

#include "train/schedule.h"
#include "train/update.h"

static struct hd_ranks alone = {.n = 1, .n_here = 1};

enum { PAIRS = 10, LONGEST = 9 };

/* Ten pairs of three to eight words that have nothing to do with each other. */
static void make_pairs(struct hd_pair_ids pairs[PAIRS])
{
    static int ids[PAIRS][2][LONGEST];
    struct hd_rng rng = {.key = 99};
    for (int i = 0; i < PAIRS; i++) {
        int n[2];
        for (int side = 0; side < 2; side++) {
            n[side] = 4 + (int)hd_rng_below(&rng, 6);
            for (int k = 0; k < n[side] - 1; k++)
                ids[i][side][k] = 1 + (int)hd_rng_below(&rng, 29);
            ids[i][side][n[side] - 1] = 0;
        }
        pairs[i] = (struct hd_pair_ids){.source = {.ids = ids[i][0], .n = n[0]},
                                        .target = {.ids = ids[i][1], .n = n[1]}};
    }
}

/* The loss after some updates. */
static double loss_after(const char *settings, int n_updates)
{
    struct hd_pair_ids pairs[PAIRS];
    heed_error err = {0};
    struct hd_config c = preset_of(settings);
    c.source_vocab = c.target_vocab = 30;
    set_fields(&c, settings);
    assert_that(hd_config_check(&c, &err), "%s: %s", settings, err.message);
    struct hd_net *net = hd_net_new(&c, &err);
    assert_non_null(net);
    hd_net_init(net, 1);
    struct hd_recipe r;
    hd_recipe_init(&r);
    r.dropout_embed = r.dropout_state = r.dropout_attention = r.dropout_ffn = r.dropout_output = 0;
    r.label_smoothing = 0;
    r.ema = 0;
    r.rate = 0.005F;
    r.warmup = 20;
    r.schedule = HD_SCHEDULE_CONSTANT;
    struct hd_pool *threads = hd_pool_new(2, &err);
    struct hd_learner learner;
    assert_that(hd_learner_init(&learner, net, &r, threads, &alone, &err), "%s", err.message);
    make_pairs(pairs);
    struct hd_updated u = {0};
    for (long k = 1; k <= n_updates; k++)
        assert_that(hd_learn(&learner, pairs, PAIRS, k, hd_rate(&r, k, 1), &u, &err) && u.is_finite,
                    "%s: %s", settings, err.message);
    hd_learner_release(&learner);
    hd_pool_free(threads);
    hd_net_free(net);
    hd_recipe_release(&r);
    return u.loss;
}

static void ten_sentences_are_learned_by_heart(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double most; /* loss of a word; nothing learned is log 30 = 3.4 */
    } of[] = {{"seq2seq dim=32 embed=32 layers=1", 0.02},
              {"bahdanau dim=32 embed=32 layers=1", 0.02},
              {"luong dim=32 embed=32 layers=1", 0.02},
              {"wang dim=32 embed=32 layers=1", 0.02},
              {"ferreira dim=32 embed=32 layers=1", 0.05},
              {"transformer dim=32 ffn=64 heads=2 layers=1 norm=pre", 0.02}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const double before = loss_after(of[i].settings, 1),
                     after = loss_after(of[i].settings, IS_SANITIZED ? 10 : 200);
        print_message("  %.*s: %.3f, then %.4f\n", (int)strcspn(of[i].settings, " "),
                      of[i].settings, before, after);
        assert_that(before > 2.5 && after < (IS_SANITIZED ? before : of[i].most),
                    "%s: %.4f, then %.4f", of[i].settings, before, after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ten_sentences_are_learned_by_heart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
