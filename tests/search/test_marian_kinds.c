/* test_marian_kinds.c -- small models of every kind that Marian trains (tools/marian_golden.py) give what Marian gets from them: the same
 * scores, the same greedy translations. */
#include "model/oracle.h"

#include "search/search.h"

#include <math.h>

#define FOLDER "tests/model/marian/"

/* Marian's decoder does not normalise the keys that it has kept of words before, where norms stand before each part; its scorer and its
 * training do, and so does heed. In 8 bits Marian rounds what goes into a product, too. */
enum told { TELLS_ALL, TELLS_SCORES };

struct kind {
    const char *file;
    bool is_joint;
    enum told told;
    double within; /* of a score; 0: 1e-3 */
};

static heed_model *open_kind(const struct kind *k)
{
    static const char *const joint[] = {FOLDER "joint.yml"}, *const two[] = {FOLDER "source.yml",
                                                                             FOLDER "target.yml"};
    char path[128];
    heed_error err = {0};
    snprintf(path, sizeof path, FOLDER "%s", k->file);
    heed_model *m = heed_model_import(path, k->is_joint ? joint : two, k->is_joint ? 1 : 2, &err);
    assert_that(m != NULL, "%s", err.message);
    assert_true(hd_net_pack(m->net, &err) && hd_screen_make(&m->net->head, &err));
    return m;
}

/* Greedy search as Marian has it, 3 words for each of the source. */
static char *found_for(const heed_model *m, const struct hd_search_input *in)
{
    struct hd_search_options options = hd_search_options_default();
    struct hd_nbest found;
    heed_error err = {0};
    const struct hd_net *net = m->net;
    options.beam = 1;
    assert_that(hd_search(&net, 1, hd_vocab_end(m->target), in, 1, &options, &found, &err), "%s",
                err.message);
    char *text = hd_vocab_decode(m->target, found.best->ids, (size_t)found.best->n, &err);
    assert_that(text != NULL, "%s", err.message);
    hd_nbest_release(&found);
    return text;
}

static double score_of(const heed_model *m, struct hd_search_input in, const char *target)
{
    const struct hd_search_options options = hd_search_options_default();
    struct hd_ids ids = encode(m->target, target);
    struct hd_nbest found;
    heed_error err = {0};
    const struct hd_net *net = m->net;
    in.prefix = (struct hd_sequence){.ids = ids.at, .n = (int)ids.n - 1};
    assert_that(hd_force_decode(&net, 1, hd_vocab_end(m->target), &in, 1, &options, &found, &err),
                "%s", err.message);
    const double total = found.best->total;
    hd_nbest_release(&found);
    hd_ids_release(&ids);
    return total;
}

/* A line: source, Marian's greedy translation, a target, and its score. */
static void compare_line(const struct kind *k, const heed_model *m, char *line)
{
    const char *source = strsep(&line, "\t"), *greedy = strsep(&line, "\t"),
               *target = strsep(&line, "\t"), *told = strsep(&line, "\t");
    assert_that(told != NULL, "%s: a line has no four columns", k->file);
    struct hd_ids ids = encode(m->source, source);
    const struct hd_search_input in = {.source = {.ids = ids.at, .n = (int)ids.n},
                                       .max_length = 3 * (int)ids.n};
    const double score = score_of(m, in, target), wanted = strtod(told, NULL);
    assert_that(fabs(score - wanted) <= (k->within > 0 ? k->within : 1e-3), "%s: %s: %g, not %s",
                k->file, target, score, told);
    if (k->told == TELLS_ALL) {
        char *text = found_for(m, &in);
        assert_that(strcmp(text, greedy) == 0, "%s: %s: %s, not %s", k->file, source, text, greedy);
        hd_free(text);
    }
    hd_ids_release(&ids);
}

static void compare(const struct kind *k)
{
    char path[128], *line = NULL;
    size_t size = 0;
    int n = 0;
    heed_model *m = open_kind(k);
    snprintf(path, sizeof path, FOLDER "%.*s.tsv", (int)(strrchr(k->file, '.') - k->file), k->file);
    FILE *in = fopen(path, "r");
    assert_that(in != NULL, "%s", path);
    for (; getline(&line, &size, in) > 0; n++) {
        line[strcspn(line, "\n")] = '\0';
        compare_line(k, m, line);
    }
    assert_int_equal(n, 8);
    free(line);
    fclose(in);
    heed_model_free(m);
}

static void transformers_are_marians(void **state)
{
    (void)state;
    static const struct kind kinds[] = {
        {.file = "post.npz", .is_joint = true},
        {.file = "pre.npz", .told = TELLS_SCORES},
        {.file = "tied-layers.npz"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        compare(&kinds[i]);
}

static void students_are_marians(void **state)
{
    (void)state;
    static const struct kind kinds[] = {
        {.file = "ssru.bin", .is_joint = true},
        {.file = "ssru-pre.npz"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        compare(&kinds[i]);
}

static void weights_of_8_bits_are_marians(void **state)
{
    (void)state;
    compare(&(struct kind){.file = "int8.bin", .is_joint = true, .within = 0.2});
}

static void recurrent_models_are_marians(void **state)
{
    (void)state;
    static const struct kind kinds[] = {
        {.file = "amun.npz"},          {.file = "nematus.npz"},
        {.file = "s2s-lstm.npz"},      {.file = "s2s.npz", .is_joint = true},
        {.file = "s2s-tanh.npz"},      {.file = "s2s-alternating.bin"},
        {.file = "s2s-deep.npz"},      {.file = "nematus-deep.npz"},
        {.file = "s2s-skip.npz"},      {.file = "s2s-norm.npz"},
        {.file = "s2s-norm-lstm.npz"}, {.file = "s2s-norm-tanh.npz"},
        {.file = "s2s-norm-deep.npz"}, {.file = "amun-norm.npz"},
        {.file = "nematus-norm.npz"},  {.file = "nematus-norm-deep.npz"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        compare(&kinds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transformers_are_marians),
        cmocka_unit_test(students_are_marians),
        cmocka_unit_test(weights_of_8_bits_are_marians),
        cmocka_unit_test(recurrent_models_are_marians),
    };
    return cmocka_run_group_tests_name("search/marian_kinds", tests, NULL, NULL);
}
