/* test_state.c -- what a run needs to go on: saved and restored exactly, with a good state to go back to. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "model/settings.h"
#include "test.h"
#include "text/files.h"

#include "base/memory.h"
#include "format/safetensors.h"
#include "train/state.h"

static struct hd_ranks alone = {.n = 1, .n_here = 1};

enum { N_WORDS = 9 };

struct bench {
    struct hd_recipe recipe;
    struct hd_net *net;
    struct hd_pool *threads;
    struct hd_learner learner;
    struct hd_run_state state;
    struct hd_vocab *source, *target;
};

static struct hd_vocab *words_of(const char *last)
{
    const char *const words[N_WORDS] = {"<unk>", "</s>", "a", "b", "c", "d", "e", "f", last};
    struct hd_vocab *v = hd_vocab_from_tokens(HD_VOCAB_WORDS, words, N_WORDS, NULL);
    assert_non_null(v);
    return v;
}

static void set_up(struct bench *b, enum hd_optimizer optimizer)
{
    static const char settings[] = "luong dim=8 embed=8 layers=1";
    heed_error err = {0};
    *b = (struct bench){
        .threads = hd_pool_new(1, &err), .source = words_of("g"), .target = words_of("h")};
    hd_recipe_init(&b->recipe);
    b->recipe.ema = 0.9F;
    b->recipe.optimizer = optimizer;
    struct hd_config c = preset_of(settings);
    c.source_vocab = c.target_vocab = N_WORDS;
    set_fields(&c, settings);
    assert_true(hd_config_check(&c, &err));
    b->net = hd_net_new(&c, &err);
    assert_true(b->net &&
                hd_learner_init(&b->learner, b->net, &b->recipe, b->threads, &alone, &err));
    b->state.progress.factor = 1;
}

static void clear(struct bench *b)
{
    hd_learner_release(&b->learner);
    hd_run_state_release(&b->state);
    hd_net_free(b->net);
    hd_pool_free(b->threads);
    hd_vocab_free(b->source);
    hd_vocab_free(b->target);
    hd_recipe_release(&b->recipe);
}

/* Numbers everywhere that only this seed has. */
static void fill(struct bench *b, int seed, int n_kept)
{
    struct hd_learner *l = &b->learner;
    float *blocks[4] = {hd_params_values(b->net->params), l->m, l->v, l->ema};
    for (int k = 0; k < 4; k++)
        for (size_t i = 0; blocks[k] && i < l->size; i++)
            blocks[k][i] = (float)(seed * 1000 + k * 100) + (float)i / 7;
    l->power1 = 1.0 / (3 + seed);
    l->power2 = 0.1 + seed / 7.0;
    b->state.progress = (struct hd_progress){.update = 1000000000000 + seed,
                                             .place = {seed + 1, seed + 2, seed + 3},
                                             .n_tokens = 77 + seed,
                                             .factor = 1.0 / (seed + 3),
                                             .n_bad = seed % 5,
                                             .n_skipped = 4,
                                             .n_returns = 2,
                                             .has_best = true,
                                             .best = -1e-17 * seed - 0.1,
                                             .best_ce = seed / 3.0,
                                             .lowest_ce = seed / 9.0,
                                             .best_update = 3 + seed,
                                             .n_stale = 5,
                                             .n_stale_plateau = 2,
                                             .looked_update = 12 + seed,
                                             .is_closed = seed % 2 == 1,
                                             .closed_update = 13,
                                             .closed_best = 1.0 / 3,
                                             .closed_best_update = 14,
                                             .n_kept = n_kept,
                                             .n_validations = 9};
    for (int i = 0; i < n_kept; i++) {
        if (!b->state.kept[i])
            b->state.kept[i] = hd_alloc(l->size, sizeof(float), NULL);
        b->state.kept[i][0] = (float)(seed + i);
        b->state.progress.kept_score[i] = 1e300 / (seed + i + 1);
    }
}

static bool save(struct bench *b, bool is_good, heed_error *err)
{
    const struct hd_identity identity = {
        "{\"dim\":8}", "{\"rate\":\"0.1\"}", UINT64_C(0xfedcba9876543210), b->source, b->target,
        NULL};
    return hd_state_save(in_folder("m.state.safetensors"), &b->learner, &b->state, &identity,
                         is_good, err);
}

static void assert_same(struct bench *a, struct bench *b)
{
    const size_t bytes = a->learner.size * sizeof(float);
    assert_memory_equal(hd_params_values(a->net->params), hd_params_values(b->net->params), bytes);
    assert_memory_equal(a->learner.m, b->learner.m, bytes);
    if (a->learner.v)
        assert_memory_equal(a->learner.v, b->learner.v, bytes);
    assert_memory_equal(a->learner.ema, b->learner.ema, bytes);
    assert_true(a->learner.power1 == b->learner.power1 && a->learner.power2 == b->learner.power2);
    const struct hd_progress *p = &a->state.progress, *q = &b->state.progress;
    assert_true(p->update == q->update && p->place.epoch == q->place.epoch &&
                p->place.pool == q->place.pool && p->place.batch == q->place.batch &&
                p->n_tokens == q->n_tokens && p->factor == q->factor && p->n_bad == q->n_bad);
    assert_true(p->n_skipped == q->n_skipped && p->n_returns == q->n_returns &&
                p->has_best == q->has_best && p->best == q->best &&
                p->best_update == q->best_update && p->n_stale == q->n_stale &&
                p->n_stale_plateau == q->n_stale_plateau);
    assert_true(p->looked_update == q->looked_update && p->is_closed == q->is_closed &&
                p->closed_best == q->closed_best && p->best_ce == q->best_ce &&
                p->lowest_ce == q->lowest_ce && p->closed_update == q->closed_update &&
                p->closed_best_update == q->closed_best_update && p->n_kept == q->n_kept &&
                p->n_validations == q->n_validations);
    for (int i = 0; i < p->n_kept; i++) {
        assert_true(p->kept_score[i] == q->kept_score[i]);
        assert_memory_equal(a->state.kept[i], b->state.kept[i], bytes);
    }
}

static struct hd_saved_state *open_state(void)
{
    heed_error err = {0};
    struct hd_saved_state *s = hd_state_open(in_folder("m.state.safetensors"), &err);
    assert_that(s != NULL, "%s", err.message);
    return s;
}

static void restore(struct bench *b, bool to_good)
{
    heed_error err = {0};
    struct hd_saved_state *s = open_state();
    assert_that(hd_state_restore(s, to_good, &b->learner, &b->state, &err), "%s", err.message);
    hd_state_close(s);
}

static void a_state_comes_back_as_it_was(void **state)
{
    (void)state;
    for (int rule = HD_ADAM; rule <= HD_SGD; rule++)
        for (int n_kept = 0; n_kept < 4; n_kept += 3) {
            struct bench a, b;
            heed_error err = {0};
            set_up(&a, (enum hd_optimizer)rule);
            set_up(&b, (enum hd_optimizer)rule);
            fill(&a, 1, n_kept);
            fill(&b, 2, 2);
            assert_that(save(&a, true, &err), "%s", err.message);
            restore(&b, false);
            assert_same(&a, &b);
            fill(&b, 3, 1);
            restore(&b, true);
            assert_same(&a, &b);
            clear(&a);
            clear(&b);
        }
}

static void what_it_belongs_to_is_known(void **state)
{
    (void)state;
    struct bench a;
    set_up(&a, HD_ADAM);
    fill(&a, 1, 0);
    assert_true(save(&a, true, NULL));
    struct hd_saved_state *s = open_state();
    assert_true(s->fingerprint == UINT64_C(0xfedcba9876543210));
    assert_int_equal(json_integer_value(json_object_get(s->config, "dim")), 8);
    assert_string_equal(json_string_value(json_object_get(s->recipe, "rate")), "0.1");
    assert_int_equal(hd_vocab_find(s->source, "g"), 8);
    assert_int_equal(hd_vocab_find(s->target, "h"), 8);
    assert_null(hd_state_before(s));
    hd_state_close(s);
    struct hd_vocab *target = a.target; /* shared vocabularies stay one */
    a.target = a.source;
    assert_true(save(&a, true, NULL));
    s = open_state();
    assert_ptr_equal(s->source, s->target);
    hd_state_close(s);
    a.target = target;
    a.state.before = (struct hd_map){"a model", 7};
    assert_true(save(&a, false, NULL));
    a.state.before = (struct hd_map){0};
    s = open_state();
    const struct hd_tensor *before = hd_state_before(s);
    assert_true(before && before->bytes == 7 && memcmp(before->data, "a model", 7) == 0);
    hd_state_close(s);
    a.state.has_before = true; /* it is carried along until the next validation */
    assert_true(save(&a, false, NULL) && save(&a, true, NULL));
    s = open_state();
    assert_non_null(hd_state_before(s));
    hd_state_close(s);
    a.state.has_before = false;
    assert_true(save(&a, false, NULL));
    s = open_state();
    assert_null(hd_state_before(s));
    hd_state_close(s);
    clear(&a);
}

static void the_last_good_state_stays_until_the_next(void **state)
{
    (void)state;
    struct bench good, now, back;
    set_up(&good, HD_ADAM);
    set_up(&now, HD_ADAM);
    set_up(&back, HD_ADAM);
    fill(&good, 1, 2);
    assert_true(save(&good, true, NULL));
    for (int i = 0; i < 3; i++) { /* by the clock, again and again */
        fill(&now, 10 + i, 3);
        assert_true(save(&now, false, NULL));
        restore(&back, false);
        assert_same(&now, &back);
        restore(&back, true);
        assert_same(&good, &back);
    }
    fill(&now, 20, 1);
    assert_true(save(&now, true, NULL));
    restore(&back, true);
    assert_same(&now, &back);
    struct hd_saved_state *s = open_state();
    assert_null(hd_safetensors_metadata(s->file, "good.progress"));
    hd_state_close(s);
    clear(&good);
    clear(&now);
    clear(&back);
}

static void without_a_state_there_is_none(void **state)
{
    (void)state;
    heed_error err = {0};
    assert_null(hd_state_open(in_folder("nowhere"), &err));
    assert_int_equal(err.code, HEED_OK);
}

/* The state's file as it is. */
static char bytes[1 << 18];
static size_t read_bytes(void)
{
    FILE *f = fopen(in_folder("m.state.safetensors"), "rb");
    const size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    if (f)
        fclose(f);
    assert_true(n > 1000 && n < sizeof bytes);
    return n;
}

static char *find(char *in, size_t n, const char *what)
{
    char *at = memmem(in, n, what, strlen(what));
    assert_that(at != NULL, "there is no %s", what);
    return at;
}

/* The same as a state of the first kind, which has no checksums. */
static void make_old(char *file, size_t n)
{
    memcpy(find(file, n, "\"checksums\""), "\"checkzums\"", 11);
    memcpy(find(file, n, "heed-state-2"), "heed-state-1", 12);
}

static void one_flipped_bit_is_found_and_named(void **state)
{
    (void)state;
    struct bench a;
    set_up(&a, HD_ADAM);
    fill(&a, 1, 2);
    assert_true(save(&a, true, NULL));
    assert_true(save(&a, false, NULL)); /* good.* as well */
    const size_t n = read_bytes();
    struct hd_saved_state *s = open_state();
    const char *data = s->file->data;
    size_t begin = n;
    for (size_t i = 0; i < s->file->tensors.n; i++) {
        const struct hd_tensor *t = &s->file->tensors.at[i];
        const size_t from = (size_t)((const char *)t->data - data);
        begin = from < begin ? from : begin;
        for (size_t at = from; at < from + t->bytes; at += t->bytes / 3) {
            heed_error err = {0};
            char wanted[100];
            snprintf(wanted, sizeof wanted, "flipped: the tensor '%s' is damaged", t->name);
            bytes[at] ^= 1 << at % 8;
            assert_null(hd_state_open(put_n("flipped", bytes, n), &err));
            assert_that(strstr(err.message, wanted) && strstr(err.message, "--fresh"), "'%s'",
                        err.message);
            bytes[at] ^= 1 << at % 8;
        }
    }
    assert_true(s->file->tensors.n == 14);
    hd_state_close(s);
    for (size_t at = 0; at < begin; at++) {
        heed_error err = {0};
        bytes[at] ^= 1 << at % 8;
        s = hd_state_open(put_n("flipped", bytes, n), &err);
        assert_that(!s && strstr(err.message, "flipped: "), "byte %zu: '%s'", at, err.message);
        bytes[at] ^= 1 << at % 8;
    }
    clear(&a);
}

static void the_state_before_is_kept_and_offered(void **state)
{
    (void)state;
    struct bench a, b;
    set_up(&a, HD_ADAM);
    set_up(&b, HD_ADAM);
    fill(&a, 1, 0);
    assert_true(save(&a, true, NULL));
    fill(&b, 2, 0);
    assert_true(save(&b, true, NULL));
    const size_t n = read_bytes();
    bytes[n / 2] ^= 4;
    (void)put_n("m.state.safetensors", bytes, n);
    heed_error err = {0};
    assert_null(hd_state_open(in_folder("m.state.safetensors"), &err));
    assert_that(strstr(err.message, " is damaged: ") &&
                    strstr(err.message, "the state before it is whole: to go on from there, type "
                                        "mv '") &&
                    strstr(err.message, "m.state.safetensors.previous' '"),
                "'%s'", err.message);
    /* A run that saves over a damaged state keeps the whole one before it. */
    fill(&b, 3, 0);
    assert_true(save(&b, false, NULL));
    restore(&b, true);
    assert_true(
        rename(in_folder("m.state.safetensors.previous"), in_folder("m.state.safetensors")) == 0);
    restore(&b, false);
    assert_same(&a, &b);
    clear(&a);
    clear(&b);
}

static void a_state_of_the_first_kind_is_read(void **state)
{
    (void)state;
    struct bench a, b;
    set_up(&a, HD_ADAM);
    set_up(&b, HD_ADAM);
    fill(&a, 1, 2);
    a.state.progress.lowest_ce = a.state.progress.best_ce;
    a.state.progress.closed_update = a.state.progress.update;
    assert_true(save(&a, true, NULL));
    const size_t n = read_bytes();
    make_old(bytes, n);
    memcpy(find(bytes, n, "\"lowest_ce"), "\"lOwest_ce", 10);
    memcpy(find(bytes, n, "\"closed_update"), "\"clOsed_update", 14);
    (void)put_n("m.state.safetensors", bytes, n);
    restore(&b, false);
    assert_same(&a, &b);
    clear(&a);
    clear(&b);
}

static void broken_states_are_told(void **state)
{
    (void)state;
    struct bench a;
    set_up(&a, HD_ADAM);
    fill(&a, 1, 2);
    assert_true(save(&a, true, NULL));
    const size_t n = read_bytes();
    for (size_t cut = 1; cut < n; cut += cut < 600 ? 37 : 997) {
        heed_error err = {0};
        assert_null(hd_state_open(put_n("cut", bytes, cut), &err));
        assert_that(err.code != HEED_OK && strstr(err.message, "cut"), "%zu bytes: '%s'", cut,
                    err.message);
    }
    /* words of its description, changed to others of the same length, where no checksum tells */
    static const struct {
        const char *from, *to, *says;
    } changes[] = {
        {"heed-state-1", "heed-state-9",
         "has no usable description; remove it or start over with --fresh"},
        {"heed-state-1", "heed-state-2", "has no usable description"},
        {"\"text\":\"fe", "\"text\":\"zz", "has no usable description"},
        {"{\\\"rate\\\"", "[\\\"rate\\\"", "has no usable description"},
        {"\"vocab.source\":\"words\"", "\"vocab.source\":\"wOrds\"", "has no usable vocabulary"},
        {"\\\"update\\\"", "\\\"upDate\\\"", "has no usable progress"},
        {"\\\"epoch\\\":2", "\\\"epoch\\\":-", ""},
        {"\"kept.1\"", "\"kept.9\"", "has no usable kept.1"},
        {"\"params\"", "\"pArams\"", "has no usable params"}};
    make_old(bytes, n);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        static char changed[sizeof bytes];
        memcpy(changed, bytes, n);
        assert_true(strlen(changes[i].from) == strlen(changes[i].to));
        memcpy(find(changed, n, changes[i].from), changes[i].to, strlen(changes[i].to));
        heed_error err = {0};
        struct hd_saved_state *s = hd_state_open(put_n("changed", changed, n), &err);
        const bool ok = s && hd_state_restore(s, false, &a.learner, &a.state, &err);
        assert_that(!ok && strstr(err.message, changes[i].says), "%s: '%s'", changes[i].to,
                    err.message);
        hd_state_close(s);
    }
    clear(&a);
}

static void without_memory_or_room_the_old_state_stays(void **state)
{
    (void)state;
    struct bench a, b;
    set_up(&a, HD_ADAM);
    set_up(&b, HD_ADAM);
    fill(&a, 1, 1);
    assert_true(save(&a, true, NULL));
    for (long i = 0;; i++) {
        heed_error err = {0};
        fill(&b, 2, 1);
        hd_alloc_fail_after(i);
        const bool ok = save(&b, false, &err);
        hd_alloc_fail_after(-1);
        if (ok)
            break;
        assert_int_equal(err.code, HEED_NO_MEMORY);
        restore(&b, false);
        assert_same(&a, &b);
    }
    for (long i = 0;; i++) {
        heed_error err = {0};
        hd_alloc_fail_after(i);
        struct hd_saved_state *s = hd_state_open(in_folder("m.state.safetensors"), &err);
        const bool ok = s && hd_state_restore(s, true, &b.learner, &b.state, &err);
        hd_alloc_fail_after(-1);
        hd_state_close(s);
        assert_that(ok || err.code == HEED_NO_MEMORY, "allocation %ld: %d '%s'", i, (int)err.code,
                    err.message);
        if (ok && i > 40)
            break;
    }
    assert_same(&a, &b);
    clear(&a);
    clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_comes_back_as_it_was),
        cmocka_unit_test(what_it_belongs_to_is_known),
        cmocka_unit_test(the_last_good_state_stays_until_the_next),
        cmocka_unit_test(without_a_state_there_is_none),
        cmocka_unit_test(one_flipped_bit_is_found_and_named),
        cmocka_unit_test(the_state_before_is_kept_and_offered),
        cmocka_unit_test(a_state_of_the_first_kind_is_read),
        cmocka_unit_test(broken_states_are_told),
        cmocka_unit_test(without_memory_or_room_the_old_state_stays),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
