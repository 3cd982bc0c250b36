/* test_hf.c -- folders of transformers give what transformers made of them: the same ids of a text, the same logits, the same greedy
 * outputs and their text. tests/model/hf is made by tools/hf_golden.py: small random models in every way that files can be. */
#include "test.h"

#include "base/memory.h"
#include "model/import.h"
#include "search/search.h"
#include "text/vocab.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { LONGEST_OUTPUT = 12 };

static const char *const cases[] = {"tied",   "zip",      "old",  "separate",
                                    "untied", "gelu-new", "tanh", "pegasus"};

static json_t *golden;

static int read_golden(void **state)
{
    (void)state;
    golden = json_load_file("tests/model/hf/golden.json", 0, NULL);
    return golden ? 0 : -1;
}

static heed_model *open_folder(const char *name)
{
    heed_error err = {0};
    char path[128];
    snprintf(path, sizeof path, "tests/model/hf/%s", name);
    heed_model *model = heed_model_import(path, NULL, 0, &err);
    assert_that(model, "%s: %s", name, err.message);
    assert_that(hd_net_pack(model->net, &err), "%s", err.message);
    return model;
}

static struct hd_ids ids_of(const json_t *row, const char *key)
{
    struct hd_ids ids = {0};
    const json_t *list = json_object_get(row, key);
    for (size_t i = 0; i < json_array_size(list); i++)
        assert_true(hd_ids_add(&ids, (int)json_integer_value(json_array_get(list, i)), NULL));
    return ids;
}

static const char *text_of(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

static void each_row(void (*look)(const char *name, const heed_model *model, const json_t *row))
{
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        heed_model *model = open_folder(cases[c]);
        const json_t *rows = json_object_get(golden, cases[c]);
        assert_true(json_array_size(rows) >= 4);
        for (size_t i = 0; i < json_array_size(rows); i++)
            look(cases[c], model, json_array_get(rows, i));
        heed_model_free(model);
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

static void look_at_ids(const char *name, const heed_model *model, const json_t *row)
{
    heed_error err = {0};
    const char *text = text_of(row, "text");
    struct hd_ids wanted = ids_of(row, "ids"), there = {0};
    assert_true(hd_vocab_encode(model->source, text, strlen(text), true, &there, &err));
    assert_that(there.n == wanted.n && memcmp(there.at, wanted.at, wanted.n * sizeof(int)) == 0,
                "%s: other ids of \"%s\" than those of transformers", name, text);
    struct hd_encoding placed;
    assert_true(hd_vocab_encode_spans(model->source, text, strlen(text), &placed, &err));
    assert_that(placed.n + 1 == wanted.n &&
                    memcmp(placed.ids, wanted.at, placed.n * sizeof(int)) == 0,
                "%s: other ids of \"%s\" with places", name, text);
    for (size_t i = 0; i < placed.n; i++)
        assert_true(placed.spans[i].begin <= placed.spans[i].end &&
                    placed.spans[i].end <= strlen(text));
    hd_encoding_release(&placed);
    hd_ids_release(&wanted);
    hd_ids_release(&there);
}

static void texts_have_the_ids_of_transformers(void **state)
{
    (void)state;
    each_row(look_at_ids);
}

/* transformers leaves unknown words out of a text. */
static void look_at_text(const char *name, const heed_model *model, const json_t *row)
{
    heed_error err = {0};
    struct hd_ids ids = ids_of(row, "greedy");
    struct hd_span *spans = calloc(ids.n + 1, sizeof *spans);
    size_t n = 0;
    for (size_t i = 0; i < ids.n; i++)
        if (ids.at[i] != hd_vocab_unknown(model->target))
            ids.at[n++] = ids.at[i];
    char *text = hd_vocab_decode(model->target, ids.at, n, &err);
    char *placed = hd_vocab_decode_spans(model->target, ids.at, n, spans, &err);
    assert_that(text && placed, "%s", err.message);
    const char *wanted = text_of(row, "greedy_text");
    const char *there = text + strspn(text, " ");
    assert_that(strncmp(there, wanted, strlen(wanted)) == 0 &&
                    strspn(there + strlen(wanted), " ") == strlen(there + strlen(wanted)),
                "%s: the text is \"%s\", not \"%s\"", name, there, wanted);
    assert_string_equal(text, placed);
    hd_free(text);
    hd_free(placed);
    free(spans);
    hd_ids_release(&ids);
}

static void ids_become_the_text_of_transformers(void **state)
{
    (void)state;
    each_row(look_at_text);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static double largest_difference;

static void look_at_logits(const char *name, const heed_model *model, const json_t *row)
{
    heed_error err = {0};
    struct hd_ids x = ids_of(row, "ids"), y = ids_of(row, "greedy");
    const int S = (int)x.n, T = (int)y.n, pad = model->net->config.target_start;
    const struct hd_batch batch = {
        .n = 1, .source = x.at, .source_length = &S, .target = y.at, .target_length = &T};
    hd_tape *tape = hd_tape_new(&err);
    const struct hd_dropouts none = {0};
    const struct hd_memory *memory = hd_encode(model->net, tape, &batch, &none);
    const struct hd_forced *forced =
        memory ? hd_teacher_force(model->net, tape, memory, &batch, &none) : NULL;
    assert_that(forced, "%s", hd_tape_error(tape)->message);
    const hd_node *logits = hd_logits(&model->net->head, forced->out);
    const json_t *steps = json_object_get(row, "logits");
    assert_true(json_array_size(steps) >= 1 && (int)json_array_size(steps) <= T);
    const int V = hd_width(logits);
    for (size_t t = 0; t < json_array_size(steps); t++) {
        const json_t *wanted = json_array_get(steps, t);
        assert_int_equal(json_array_size(wanted), V);
        for (int v = 0; v < V; v++) {
            const double difference = fabs(json_number_value(json_array_get(wanted, (size_t)v)) -
                                           (double)logits->x[t * (size_t)V + (size_t)v]);
            assert_that(v == pad || difference < 1e-4, "%s: logit %d of word %zu is %g off", name,
                        v, t, difference);
            if (v != pad && difference > largest_difference)
                largest_difference = difference;
        }
    }
    hd_tape_free(tape);
    hd_ids_release(&x);
    hd_ids_release(&y);
}

static void logits_are_those_of_transformers(void **state)
{
    (void)state;
    each_row(look_at_logits);
    print_message("logits are %.1e off at most\n", largest_difference);
}

/* ---- search ---------------------------------------------------------------------------------- */

static bool is_found(const heed_model *model, const json_t *row, const char *key, int beam)
{
    heed_error err = {0};
    struct hd_ids x = ids_of(row, "ids"), wanted = ids_of(row, key);
    const int end = hd_vocab_end(model->target);
    const struct hd_search_input input = {.source = {.ids = x.at, .n = (int)x.n},
                                          .max_length = LONGEST_OUTPUT};
    struct hd_search_options options = hd_search_options_default();
    options.beam = beam;
    options.norm = HD_LENGTH_POWER;
    options.alpha = 1;
    struct hd_nbest found;
    const struct hd_net *net = model->net;
    assert_that(hd_search(&net, 1, end, &input, 1, &options, &found, &err), "%s", err.message);
    const struct hd_hypothesis *best = &found.best[0];
    const size_t n = wanted.n > 0 && wanted.at[wanted.n - 1] == end ? wanted.n - 1 : wanted.n;
    const bool is_same = (size_t)best->n == n && memcmp(best->ids, wanted.at, n * sizeof(int)) == 0;
    hd_nbest_release(&found);
    hd_ids_release(&x);
    hd_ids_release(&wanted);
    return is_same;
}

static void look_at_greedy(const char *name, const heed_model *model, const json_t *row)
{
    assert_that(is_found(model, row, "greedy", 1), "%s: another greedy output for \"%s\"", name,
                text_of(row, "text"));
}

static void greedy_outputs_are_those_of_transformers(void **state)
{
    (void)state;
    each_row(look_at_greedy);
}

/* A hypothesis that ends leaves its place for good here, and is replaced there; of random models some outputs differ. */
static int n_rows, n_same;

static void look_at_beam(const char *name, const heed_model *model, const json_t *row)
{
    const bool is_same = is_found(model, row, "beam", 4);
    if (!is_same)
        print_message("%s: another output of beam 4 for \"%s\"\n", name, text_of(row, "text"));
    n_same += is_same;
    n_rows++;
}

static void most_beam_outputs_are_those_of_transformers(void **state)
{
    (void)state;
    each_row(look_at_beam);
    print_message("%d of %d outputs of beam 4 are the same\n", n_same, n_rows);
    assert_true(n_same >= n_rows - 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_the_ids_of_transformers),
        cmocka_unit_test(ids_become_the_text_of_transformers),
        cmocka_unit_test(logits_are_those_of_transformers),
        cmocka_unit_test(greedy_outputs_are_those_of_transformers),
        cmocka_unit_test(most_beam_outputs_are_those_of_transformers),
    };
    return cmocka_run_group_tests(tests, read_golden, NULL);
}
