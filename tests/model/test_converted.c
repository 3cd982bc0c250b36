/* test_converted.c -- models of OpenNMT-py and CTranslate2, converted by tools/convert_*.py, give what
 * their makers got from them.
 *
 * The tools write a model file, which is loaded and decoded greedily. Without the files, which are
 * not part of the project, or without python3 the tests say so and are skipped. */
#include "oracle.h"

/* Convert `file` of the folder (the folder itself, when "") with a tool, and load what it wrote. */
static void convert(struct oracle *o, const char *tool, const char *file)
{
    char ours[] = "/tmp/heed-converted-XXXXXX", command[2400], path[1024];
    if (system("python3 -c '' 2>/dev/null") != 0) {
        print_message("skipped: there is no python3 to run tools/%s\n", tool);
        skip();
    }
    close(mkstemp(ours));
    snprintf(command, sizeof command, "python3 tools/%s '%s' -o %s", tool, in_folder(o, file, path),
             ours);
    const int status = system(command);
    if (status != 0)
        unlink(ours);
    assert_that(status == 0, "%s: status %d", command, status);
    load_oracle(o, ours);
}

/* The greedy output for a source, to be given to hd_free(). */
static char *answer(struct oracle *o, const char *source)
{
    struct hd_ids x = encode(o->model->source, source);
    int words[LONGEST];
    const int T = greedy(o, &x, words, NULL, LONGEST);
    hd_ids_release(&x);
    return text_of(o, words, T);
}

/* ---- Luong: letters to sounds ---------------------------------------------------------------- */

/* A line: source, tab, what the model's own toolkit decoded, tab, what would be right. */
static void the_luong_model_says_what_it_said_to_its_makers(void **state)
{
    (void)state;
    struct oracle o = find_oracle("luong-letters-to-ipa", "luong_2406536.npz");
    convert(&o, "convert_luong.py", "luong_2406536.npz");
    int n, n_same = 0;
    char **lines = lines_of(&o, "greedy.tsv", &n);
    for (int i = 0; i < n; i++) {
        char *rest = lines[i];
        const char *source = strsep(&rest, "\t"), *wanted = strsep(&rest, "\t");
        assert_that(wanted != NULL, "greedy.tsv, line %d has no second column", i + 1);
        char *there = answer(&o, source);
        if (strcmp(there, wanted) == 0)
            n_same++;
        else
            print_message("line %d: %s: %s, not %s\n", i + 1, source, there, wanted);
        hd_free(there);
    }
    print_message("luong-letters-to-ipa: %d of %d greedy outputs are the same\n", n_same, n);
    assert_int_equal(n_same, n);
    free_lines(lines, n);
    close_oracle(&o);
}

/* ---- Transformer: Arabic names --------------------------------------------------------------- */

static void names_are_transliterated(const char *name)
{
    static const struct {
        const char *source, *wanted;
    } names[] = {{"آ ت ز م و ن", "a t z m o n"}, {"آ ت ش ي س و ن", "a c h i s o n"}};
    struct oracle o = find_oracle(name, "model.bin");
    char ours[] = "/tmp/heed-converted-XXXXXX";
    heed_error err = {0};
    heed_model *model = heed_model_import(o.folder, NULL, 0, &err);
    assert_that(model, "%s", err.message);
    close(mkstemp(ours));
    assert_that(heed_model_save(model, ours, HEED_STORE_F32, &err), "%s", err.message);
    heed_model_free(model);
    load_oracle(&o, ours);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *there = answer(&o, names[i].source);
        assert_that(strcmp(there, names[i].wanted) == 0, "%s: %s: %s, not %s", name,
                    names[i].source, there, names[i].wanted);
        hd_free(there);
    }
    close_oracle(&o);
}

static void the_transformer_transliterates_as_ctranslate2_does(void **state)
{
    (void)state;
    names_are_transliterated("aren-transliteration");
}

static void its_int8_weights_give_the_same(void **state)
{
    (void)state;
    names_are_transliterated("aren-transliteration-i8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_luong_model_says_what_it_said_to_its_makers),
        cmocka_unit_test(the_transformer_transliterates_as_ctranslate2_does),
        cmocka_unit_test(its_int8_weights_give_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
