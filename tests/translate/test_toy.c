/* test_toy.c -- the toy model of the tests: it says German numbers backwards in English, and training makes it anew bit for bit.
 *
 *     test_toy FILE    writes it, for tests/translate/toy.safetensors
 *
 * Its vocabularies have words; one that is not known is told as <unk>. */
#include "model/learn.h"

#include "base/memory.h"
#include "model/model_file.h"

#include <unistd.h>

static const char *const german[] = {"</s>", "<unk>", "eins",   "zwei", "drei", "vier",
                                     "fünf", "sechs", "sieben", "acht", "neun"};
static const char *const english[] = {"</s>", "<unk>", "one",   "two",   "three", "four",
                                      "five", "six",   "seven", "eight", "nine"};
static const struct toy backwards = {"backwards", 11, 1, 8, make_reverse};

static heed_model *train(void)
{
    const struct course course = {
        .n_updates = 700, .batch_size = 48, .warm_up = 60, .rate = 0.012F, .seed = 3};
    struct learner l = learner_new("bahdanau dim=20 embed=12 attention-dim=16", &backwards, 5);
    learn(&l, &backwards, &course);
    print_message("%.1f %% of unseen numbers are right\n", exact_answers(&l, &backwards, 7));
    heed_error err = {0};
    heed_model *m =
        hd_model_of(l.net, hd_vocab_from_tokens(HD_VOCAB_WORDS, german, 11, &err),
                    hd_vocab_from_tokens(HD_VOCAB_WORDS, english, 11, &err),
                    json_pack("{s:s, s:{s:s, s:s, s:[s,s]}}", "languages", "de-en", "recipe",
                              "max-length", "12", "rate", "0.012", "freeze", "a", "b"),
                    &err);
    assert_that(m != NULL, "%s", err.message);
    l.net = NULL;
    learner_free(&l);
    return m;
}

static void training_makes_the_toy_model_bit_for_bit(void **state)
{
    (void)state;
    if (IS_SANITIZED)
        skip();
    char path[] = "/tmp/heed-toy-XXXXXX";
    heed_error err = {0};
    const int fd = mkstemp(path);
    heed_model *m = train();
    assert_true(fd >= 0 && close(fd) == 0);
    assert_that(hd_model_save(m, path, HD_F16, &err), "%s", err.message);
    heed_model_free(m);
    char command[128];
    snprintf(command, sizeof command, "cmp %s tests/translate/toy.safetensors", path);
    const int differs = system(command);
    unlink(path);
    assert_int_equal(differs, 0);
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        heed_error err = {0};
        heed_model *m = train();
        const bool ok = hd_model_save(m, argv[1], HD_F16, &err);
        heed_model_free(m);
        return !ok;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_makes_the_toy_model_bit_for_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
