/* test_stop.c -- a run that is asked to stop: what is saved already is not saved again. */
#include "test.h"

#include <heed.h>
#include <stdio.h>
#include <sys/stat.h>

static const char *folder(void)
{
    static char path[300];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof path, "%s/tests/train/stop", build ? build : "build");
    mkdir(path, 0777);
    return path;
}

static const char *in_folder(const char *name)
{
    static char paths[4][400];
    static int n;
    snprintf(paths[n % 4], sizeof paths[0], "%s/%s", folder(), name);
    return paths[n++ % 4];
}

static void write_pairs(const char *name, int n)
{
    static const char *const words[][2] = {
        {"eins", "one"}, {"zwei", "two"}, {"drei", "three"}, {"vier", "four"}};
    FILE *f = fopen(in_folder(name), "w");
    assert_non_null(f);
    for (int i = 0; i < n; i++)
        fprintf(f, "%s %s %s\t%s %s %s\n", words[i % 4][0], words[i / 4 % 4][0],
                words[i / 16 % 4][0], words[i % 4][1], words[i / 4 % 4][1], words[i / 16 % 4][1]);
    fclose(f);
}

/* What a run has done, and where it is asked to stop: after so many updates, or when the state has been saved once. */
struct watched {
    long last;
    int n_saved;
};

static bool stop_when_saved(void *context, const heed_training_event *e)
{
    struct watched *w = context;
    w->n_saved += e->news == HEED_TRAINING_SAVED;
    return w->n_saved == 0;
}

static bool stop_after(void *context, const heed_training_event *e)
{
    struct watched *w = context;
    w->n_saved += e->news == HEED_TRAINING_SAVED;
    return e->news != HEED_TRAINING_LEARNED || e->update < w->last;
}

static long run(bool (*watch)(void *, const heed_training_event *), struct watched *w)
{
    const char *const settings[][2] = {{"tsv", in_folder("t.tsv")},
                                       {"dev-tsv", in_folder("d.tsv")},
                                       {"tokens", "words"},
                                       {"dim", "8"},
                                       {"ffn", "8"},
                                       {"heads", "1"},
                                       {"layers", "1"},
                                       {"valid-every", "4"},
                                       {"updates", "1000"},
                                       {"patience", "0"},
                                       {"threads", "1"},
                                       {"ema", "0.9"},
                                       {"batch-tokens", "40"},
                                       {"out", in_folder("m.safetensors")}};
    heed_error err = {0};
    heed_training *training = heed_training_new(&err);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_that(heed_training_set(training, settings[i][0], settings[i][1], &err), "%s",
                    err.message);
    assert_false(heed_training_run(training, watch, w, &err));
    assert_error(err, HEED_CANCELLED, "the same command goes on");
    heed_training_free(training);
    struct stat st;
    assert_int_equal(stat(in_folder("m.state.safetensors"), &st), 0);
    return (long)st.st_size;
}

static void what_is_saved_is_not_saved_again(void **state)
{
    (void)state;
    static const char *const left[] = {"m.safetensors", "m.state.safetensors",
                                       "m.state.safetensors.previous"};
    for (size_t i = 0; i < 3; i++)
        (void)remove(in_folder(left[i]));
    write_pairs("t.tsv", 60);
    write_pairs("d.tsv", 5);
    struct watched w = {0};
    const long good = run(stop_when_saved, &w);
    assert_int_equal(w.n_saved, 1);
    w = (struct watched){.last = 6};
    const long between = run(stop_after, &w);
    assert_int_equal(w.n_saved, 1); /* after update 6, with the good state of update 4 */
    assert_that(between > good * 3 / 2, "%ld bytes, and %ld where the good state is apart", good,
                between);
    w = (struct watched){.last = 8};
    assert_in_range(run(stop_after, &w), good - 1000, good + 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_saved_is_not_saved_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
