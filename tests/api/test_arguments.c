/* test_arguments.c -- every function of heed.h and heed_draw.h with arguments that make no sense: NULL, numbers that cannot be, values
 * that an enum does not have. Each gives an error with a sentence, or the answer that its comment promises; none crashes.
 *
 * A function that is not called here fails the test. */
#include "folder.h"
#include "test.h"

#include <heed.h>
#include <heed_draw.h>

#include <limits.h>
#include <math.h>

static const char TOY[] = "tests/translate/toy.safetensors";

/* The call fails with a code and a sentence, and also without anybody to tell. `e` is its error. Pictures are to be refused for what is
 * wrong with them, not because they cannot be drawn here. */
#define assert_wrong(call)                                                               \
    do {                                                                                 \
        heed_error wrong = {0}, *e = &wrong;                                             \
        assert_that(!(call), "it succeeds: %s", #call);                                  \
        assert_that(wrong.code == HEED_BAD_OPTION, "another reason: %s", wrong.message); \
    } while (0)
#define assert_refused(call)                                                                 \
    do {                                                                                     \
        heed_error why = {0}, *e = &why;                                                     \
        assert_that(!(call), "it succeeds: %s", #call);                                      \
        assert_that(why.code != HEED_OK && why.message[0], "there is no reason: %s", #call); \
        e = NULL;                                                                            \
        assert_that(!(call), "it succeeds without an error to fill: %s", #call);             \
    } while (0)

static void files_refuse_nothing(void **state)
{
    (void)state;
    heed_error err = {0};
    heed_file *file = heed_file_read("a", 1, "text", NULL, &err);
    assert_non_null(file);
    assert_refused(heed_file_read(NULL, 1, "po", "x", e));
    assert_refused(heed_file_read("", 0, NULL, "x", e));
    assert_refused(heed_file_read("", 0, "", "x", e));
    assert_refused(heed_file_put(NULL, 0, "a", e));
    assert_refused(heed_file_put(file, 0, NULL, e));
    assert_refused(heed_file_put(file, 1, "a", e));
    assert_refused(heed_file_write(NULL, e));
    assert_null(heed_file_format(NULL));
    assert_null(heed_file_text(NULL, 0));
    assert_true(!heed_file_language(NULL) && !heed_file_language(file));
    assert_null(heed_file_text(file, SIZE_MAX));
    assert_null(heed_file_warning(NULL, 0));
    assert_true(heed_file_size(NULL) == 0 && heed_file_line(file, 1) == 0);
    assert_false(heed_file_has_tags(NULL, 0));
    heed_file_free(file);
    heed_file_free(NULL);
}

static void translators_refuse_nothing(void **state)
{
    (void)state;
    const char *texts[] = {"ein", NULL};
    const heed_text_pair pairs[] = {{"ein", NULL}, {NULL, "one"}};
    assert_refused(heed_translator_open(NULL, e));
    assert_refused(heed_translator_open("", e));
    assert_refused(heed_translator_open("tests", e));
    assert_refused(heed_translator_text(NULL, "ein", e));
    assert_refused(heed_translator_translate(NULL, texts, 1, e));
    assert_refused(heed_translator_align(NULL, pairs, 1, e));
    assert_refused(heed_translator_score(NULL, pairs, 1, e));
    assert_refused(heed_translator_complete(NULL, pairs, 1, e));
    assert_refused(heed_translator_set(NULL, "beam", "1", e));
    assert_refused(heed_translator_fuse(NULL, NULL, 0.2, e));
    assert_refused(heed_translator_submit(NULL, "ein", NULL, e));
    assert_refused(heed_translator_new(NULL, 1, e));
    assert_refused(heed_translator_new((const heed_model *const[]){NULL}, 1, e));
    assert_refused(heed_result_json(NULL, e));
    assert_refused(heed_options_set(NULL, "beam", "1", e));
    heed_options_watch(NULL, NULL, NULL);
    uint64_t id = 7;
    assert_null(heed_translator_take(NULL, -1, &id, NULL));
    assert_true(id == 0);
    assert_false(heed_translator_cancel(NULL, 1));
    assert_true(heed_translator_pending(NULL) == 0);
    heed_translator_watch(NULL, NULL, NULL);
    heed_translator_free(NULL);
    heed_results_free(NULL);
    heed_result_free(NULL);
    heed_options_free(NULL);
    heed_free(NULL);
}

static void a_translator_refuses_texts_that_are_none(void **state)
{
    (void)state;
    heed_translator *t = heed_translator_open(TOY, NULL);
    const char *texts[] = {"ein", NULL};
    const heed_text_pair no_target = {"ein", NULL}, no_source = {NULL, "one"};
    assert_refused(heed_translator_text(t, NULL, e));
    assert_refused(heed_translator_translate(t, NULL, 1, e));
    assert_refused(heed_translator_translate(t, texts, 2, e));
    assert_refused(heed_translator_translate(t, texts, SIZE_MAX / 2, e));
    assert_refused(heed_translator_align(t, NULL, 1, e));
    assert_refused(heed_translator_align(t, &no_target, 1, e));
    assert_refused(heed_translator_align(t, &no_source, 1, e));
    assert_refused(heed_translator_score(t, NULL, 1, e));
    assert_refused(heed_translator_score(t, &no_target, 1, e));
    assert_refused(heed_translator_complete(t, NULL, 1, e));
    assert_refused(heed_translator_complete(t, &no_source, 1, e));
    assert_refused(heed_translator_submit(t, NULL, NULL, e));
    heed_results *none = heed_translator_translate(t, NULL, 0, NULL);
    assert_true(none && none->n == 0);
    heed_results_free(none);
    heed_translator_watch(t, NULL, NULL);
    assert_null(heed_translator_take(t, INT_MIN, NULL, NULL));
    assert_null(heed_translator_take(t, 0, NULL, NULL));
    assert_false(heed_translator_cancel(t, 0));
    assert_false(heed_translator_cancel(t, UINT64_MAX));
    heed_translator_free(t);
}

static void a_translator_refuses_options_that_are_none(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {NULL, "1"},          {"beam", NULL},       {"", "1"},          {"beam", ""},
        {"beam", "0"},        {"beam", "-1"},       {"beam", "1e9"},    {"shift", "9"},
        {"shift", "-1"},      {"layer", "2000000"}, {"layer", "-1"},    {"head", "2000000"},
        {"head", "-1"},       {"n-best", "0"},      {"threads", "-1"},  {"batch", "0"},
        {"max-source", "-5"}, {"sample", "topk"},   {"attention", "7"}, {"temperature", "nan"},
        {"max-length", "inf"}};
    heed_translator *t = heed_translator_open(TOY, NULL);
    heed_options *options = heed_options_new(t, NULL), *fresh = heed_options_new(NULL, NULL);
    assert_true(t && options && fresh);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_refused(heed_translator_set(t, wrong[i][0], wrong[i][1], e));
        assert_refused(heed_options_set(options, wrong[i][0], wrong[i][1], e));
        assert_refused(heed_options_set(fresh, wrong[i][0], wrong[i][1], e));
    }
    for (int i = 0; heed_translator_option_at(i); i++)
        assert_refused(heed_translator_set(t, heed_translator_option_at(i)->name, NULL, e));
    assert_null(heed_translator_option_at(-1));
    assert_null(heed_translator_option_at(INT_MIN));
    assert_null(heed_translator_option_at(INT_MAX));
    heed_options_free(options);
    heed_options_free(fresh);
    heed_translator_free(t);
}

static void links_of_nobody_are_none(void **state)
{
    (void)state;
    const heed_link link = {1, 2};
    heed_link out[2];
    assert_true(heed_symmetrize(HEED_SYMMETRY_UNION, NULL, 9, NULL, 9, out) == 0);
    assert_true(heed_symmetrize(HEED_SYMMETRY_UNION, &link, 1, &link, 1, NULL) == 0);
    assert_true(heed_symmetrize((enum heed_symmetry)77, &link, 1, &link, 1, out) <= 2);
    assert_true(heed_symmetrize((enum heed_symmetry) - 1, NULL, 1, &link, 1, out) <= 2);
    heed_alignment_judge(NULL, &link, 1, NULL, 0, NULL, 0);
    heed_alignment_quality quality = {0};
    heed_alignment_judge(&quality, NULL, 3, NULL, 3, NULL, 3);
    assert_true(quality.n_links == 0 && quality.n_sure == 0 && isfinite(quality.error_rate));
    const heed_link odd = {INT_MIN, INT_MAX};
    heed_alignment_judge(&quality, &odd, 1, &odd, 1, NULL, 0);
    assert_true(isfinite(quality.error_rate));
}

static void models_refuse_nothing(void **state)
{
    (void)state;
    heed_model *m = heed_model_load(TOY, NULL);
    assert_non_null(m);
    assert_refused(heed_model_load(NULL, e));
    assert_refused(heed_model_load("", e));
    assert_refused(heed_model_load_memory(NULL, "x", 1, e));
    assert_refused(heed_model_load_memory("x", NULL, 1, e));
    assert_refused(heed_model_load_memory("x", "x", 0, e));
    assert_refused(heed_model_load_memory("x", "\377\377\377\377\377\377\377\377", 8, e));
    assert_refused(heed_model_import(NULL, NULL, 0, e));
    assert_refused(heed_model_import("", NULL, 0, e));
    assert_refused(heed_model_import(TOY, NULL, 1, e));
    assert_refused(heed_model_import(TOY, (const char *const[]){NULL}, 1, e));
    assert_refused(heed_model_import(TOY, NULL, -1, e));
    assert_refused(heed_model_import(TOY, (const char *const[]){"a", "b"}, INT_MAX, e));
    assert_refused(heed_model_save(NULL, in_folder("m"), HEED_STORE_F32, e));
    assert_refused(heed_model_save(m, NULL, HEED_STORE_F32, e));
    assert_refused(heed_model_export(NULL, in_folder("f"), HEED_STORE_F32, e));
    assert_refused(heed_model_export(m, NULL, HEED_STORE_F32, e));
    assert_refused(heed_model_export(m, "", HEED_STORE_F32, e));
    assert_refused(heed_model_export(m, in_folder("f"), (enum heed_store)99, e));
    assert_refused(heed_model_save(m, "", HEED_STORE_F32, e));
    assert_refused(heed_model_save(m, in_folder("m"), (enum heed_store)99, e));
    assert_refused(heed_model_save(m, in_folder("m"), (enum heed_store) - 1, e));
    assert_refused(heed_model_info(NULL, true, e));
    assert_refused(heed_model_recipe(NULL, e));
    assert_refused(heed_translator_new((const heed_model *const[]){m}, 0, e));
    assert_refused(heed_translator_new((const heed_model *const[]){m}, -1, e));
    assert_refused(heed_translator_new((const heed_model *const[]){m, NULL}, 2, e));
    assert_null(heed_model_architecture(NULL));
    assert_null(heed_model_task(NULL));
    assert_string_equal(heed_model_source(NULL), "text");
    assert_null(heed_model_languages(NULL));
    assert_false(heed_model_has_attention(NULL));
    assert_true(heed_model_size(NULL, HEED_MODEL_PARAMETERS) == -1);
    assert_true(heed_model_size(m, (enum heed_size)1000) == -1);
    assert_true(heed_model_size(m, (enum heed_size) - 1) == -1);
    heed_model_free(m);
    heed_model_free(NULL);
}

static void a_note_does_not_replace_what_heed_noted(void **state)
{
    (void)state;
    static const char *const own[] = {"recipe", "languages", "updates", "validation"};
    heed_model *m = heed_model_load(TOY, NULL);
    assert_refused(heed_model_note(NULL, "licence", "x", e));
    assert_refused(heed_model_note(m, NULL, "x", e));
    assert_refused(heed_model_note(m, "licence", NULL, e));
    assert_refused(heed_model_note(m, "", "x", e));
    assert_refused(heed_model_note(m, "licence", "\377", e));
    char *before = heed_model_info(m, true, NULL);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        assert_refused(heed_model_note(m, own[i], "x", e));
        assert_refused(heed_model_note(m, own[i], "", e));
    }
    char *after = heed_model_info(m, true, NULL);
    assert_string_equal(before, after);
    heed_free(before);
    heed_free(after);
    assert_true(heed_model_note(m, "licence", "CC0", NULL));
    assert_true(heed_model_note(m, "licence", "", NULL));
    heed_model_free(m);
}

static void trainings_refuse_nothing(void **state)
{
    (void)state;
    heed_training *t = heed_training_new(NULL);
    assert_refused(heed_training_set(NULL, "dim", "8", e));
    assert_refused(heed_training_set(t, NULL, "8", e));
    assert_refused(heed_training_set(t, "dim", NULL, e));
    assert_refused(heed_training_set(t, "", "", e));
    assert_refused(heed_training_set(t, "dim", "-8", e));
    assert_refused(heed_training_set(t, "updates", "1e300", e));
    assert_refused(heed_training_set(t, "rate", "nan", e));
    assert_refused(heed_training_read(NULL, "x", e));
    assert_refused(heed_training_read(t, NULL, e));
    assert_refused(heed_training_read(t, "", e));
    for (int i = 0; heed_training_option_at(i); i++)
        assert_refused(heed_training_set(t, heed_training_option_at(i)->name, NULL, e));
    assert_null(heed_training_option_at(-1));
    assert_null(heed_training_option_at(INT_MAX));
    assert_false(heed_training_is_yes(NULL, "quiet"));
    assert_false(heed_training_is_yes(t, NULL));
    assert_false(heed_training_is_yes(t, "nothing"));
    assert_false(heed_training_is_yes(t, "dim"));
    assert_refused(heed_training_run(NULL, NULL, NULL, e));
    assert_refused(heed_training_run(t, NULL, NULL, e));
    heed_training_free(t);
    heed_training_free(NULL);
}

static void evaluations_refuse_nothing(void **state)
{
    (void)state;
    heed_lines lines = {0};
    const heed_pair pair = {"a b", "a b"}, no_hyp = {NULL, "a"}, no_ref = {"a", NULL};
    const heed_pair *const systems[] = {&pair, NULL};
    const heed_eval_options no_size = {0}, unknown = {.size = sizeof no_size, .metrics = 1U << 20},
                            strange = {.size = sizeof no_size, .tok = (enum heed_tokeniser)50},
                            negative = {.size = sizeof no_size, .tok = (enum heed_tokeniser) - 1};
    heed_comparison room[16];
    assert_refused(heed_lines_read(NULL, "Makefile", e));
    assert_refused(heed_lines_read(&lines, NULL, e));
    assert_refused(heed_lines_read(&lines, "", e));
    heed_lines_release(NULL);
    heed_lines_release(&lines);
    heed_confusion_free(NULL);
    assert_refused(heed_confusion_new(NULL, 1, e));
    assert_refused(heed_confusion_new(&pair, 0, e));
    assert_refused(heed_confusion_new(&no_hyp, 1, e));
    assert_refused(heed_confusion_new(&no_ref, 1, e));
    heed_answer_scores scores;
    assert_refused(heed_score_answers(NULL, 1, &scores, e));
    assert_refused(heed_score_answers(&pair, 0, &scores, e));
    assert_refused(heed_score_answers(&pair, 1, NULL, e));
    assert_refused(heed_score_answers(&no_hyp, 1, &scores, e));
    assert_refused(heed_score_answers(&no_ref, 1, &scores, e));
    assert_refused(heed_evaluate(NULL, 1, NULL, e));
    assert_refused(heed_evaluate(&pair, 0, NULL, e));
    assert_refused(heed_evaluate(&no_hyp, 1, NULL, e));
    assert_refused(heed_evaluate(&no_ref, 1, NULL, e));
    assert_refused(heed_evaluate(&pair, 1, &no_size, e));
    assert_refused(heed_evaluate(&pair, 1, &unknown, e));
    assert_refused(heed_evaluate(&pair, 1, &strange, e));
    assert_refused(heed_evaluate(&pair, 1, &negative, e));
    assert_refused(heed_evaluate_files(NULL, NULL, e));
    assert_refused(heed_evaluate_files(&no_hyp, NULL, e));
    assert_refused(heed_evaluate_files(&no_ref, NULL, e));
    assert_refused(heed_compare(NULL, systems, 1, 1, NULL, 10, 1, e));
    assert_refused(heed_compare(room, NULL, 1, 1, NULL, 10, 1, e));
    assert_refused(heed_compare(room, systems, 2, 1, NULL, 10, 1, e));
    assert_refused(heed_compare(room, systems, 0, 1, NULL, 10, 1, e));
    assert_refused(heed_compare(room, systems, -1, 1, NULL, 10, 1, e));
    assert_refused(heed_compare(room, systems, 1, 0, NULL, 10, 1, e));
    assert_refused(heed_compare(room, systems, 1, 1, NULL, 0, 1, e));
    assert_refused(heed_compare(room, systems, 1, 1, NULL, -5, 1, e));
    assert_refused(heed_compare(room, systems, 1, 1, NULL, INT_MAX, 1, e));
    heed_evaluation_free(NULL);
}

static void option_tables_refuse_nothing(void **state)
{
    (void)state;
    struct settings {
        int beam;
        char *text;
    } s = {0};
    static const heed_option table[] = {
        {"beam", 'b', .kind = HEED_OPTION_INT, HEED_OPTION_FIELD(struct settings, beam), .least = 1,
         .most = 9, .initial = "5"},
        {"text", 't', .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct settings, text)},
        {0}};
    static const heed_option strange = {"strange", .kind = (enum heed_option_kind)99,
                                        HEED_OPTION_FIELD(struct settings, beam)};
    char text[8];
    assert_null(heed_option_find(NULL, "beam"));
    assert_null(heed_option_find(table, NULL));
    assert_refused(heed_option_defaults(NULL, &s, e));
    assert_refused(heed_option_defaults(table, NULL, e));
    assert_refused(heed_option_set(NULL, &s, "1", e));
    assert_refused(heed_option_set(table, NULL, "1", e));
    assert_refused(heed_option_set(table, &s, NULL, e));
    assert_refused(heed_option_set(&strange, &s, "1", e));
    assert_refused(heed_option_set_by_kind(NULL, &s, "1", e));
    assert_refused(heed_option_set_by_kind(table, NULL, "1", e));
    assert_refused(heed_option_set_by_kind(table, &s, NULL, e));
    assert_refused(heed_option_set_by_kind(&strange, &s, "1", e));
    assert_refused(heed_option_set_named(NULL, &s, "beam", "1", e));
    assert_refused(heed_option_set_named(table, NULL, "beam", "1", e));
    assert_refused(heed_option_set_named(table, &s, NULL, "1", e));
    assert_refused(heed_option_set_named(table, &s, "beam", NULL, e));
    assert_refused(heed_option_refuse(NULL, "x", e));
    assert_refused(heed_option_refuse(table, NULL, e));
    assert_refused(heed_option_unknown(NULL, NULL, 0, NULL, e));
    assert_refused(heed_option_unknown("x", NULL, 5, NULL, e));
    assert_refused(heed_option_unknown("x", (const char *const[]){NULL, "y"}, 2, NULL, e));
    assert_refused(heed_option_unknown("x", (const char *const[]){"y"}, -1, NULL, e));
    assert_string_equal(heed_option_text(NULL, &s, text, sizeof text), "");
    assert_string_equal(heed_option_text(table, NULL, text, sizeof text), "");
    assert_string_equal(heed_option_text(table, &s, NULL, 0), "");
    assert_string_equal(heed_option_text(table, &s, text, 0), "");
    heed_option_release(NULL, &s);
    heed_option_release(table, NULL);
    heed_option_release(table, &s);
}

static void facts_about_the_library_are_there(void **state)
{
    (void)state;
    assert_true(heed_version() && heed_compiler() && heed_kernel(NULL) && heed_cores() >= 1);
    (void)heed_kernel_note();
    assert_null(heed_kernel_available(-1));
    assert_null(heed_kernel_available(INT_MIN));
    assert_null(heed_kernel_available(INT_MAX));
    assert_null(heed_nearest(NULL, (const char *const[]){"a"}, 1));
    assert_null(heed_nearest("a", NULL, 1));
    assert_null(heed_nearest("a", (const char *const[]){NULL}, 1));
    assert_null(heed_nearest("a", (const char *const[]){"a"}, -1));
}

static void pictures_refuse_nothing(void **state)
{
    (void)state;
    const char *const words[] = {"a"}, *const no_words[] = {NULL};
    const float weight[] = {1}, nan_weight[] = {NAN};
    const double point[] = {1};
    size_t size;
    const heed_picture_words good = {words, 1, words, 1};
    const heed_picture_attention attentions[] = {
        {.words = good},
        {.words = {NULL, 1, words, 1}, .weights = weight},
        {.words = {words, -1, words, 1}, .weights = weight},
        {.words = {words, INT_MAX, words, INT_MAX}, .weights = weight},
        {.words = {no_words, 1, words, 1}, .weights = weight},
        {.words = good, .weights = nan_weight},
        {.words = good, .weights = weight, .n_links = 1},
        {.words = good, .weights = weight, .n_links = -1},
        {.words = good, .weights = weight, .links = &(heed_picture_link){-1, 99}, .n_links = 1},
        {.words = good, .weights = weight, .style = (enum heed_attention_style)9}};
    for (size_t i = 0; i < sizeof attentions / sizeof *attentions; i++) {
        const heed_picture p = {.attention = &attentions[i]};
        assert_wrong(heed_draw(&p, in_folder("p.svg"), e));
        assert_wrong(heed_draw_bytes(&p, "svg", &size, e));
        if (attentions[i].style == HEED_DRAW_BOTH) /* which text ignores */
            assert_wrong(heed_draw_text(&attentions[i], NULL, e));
    }
    const heed_picture_attention fine = {.words = good, .weights = weight};
    const heed_picture_heads heads[] = {{.weights = weight},
                                        {.words = good, .n_layers = 1, .n_heads = 1},
                                        {good, weight, -1, 1},
                                        {good, weight, INT_MAX, INT_MAX}};
    const heed_picture_series series[] = {
        {.n = 1},
        {.x = point, .y = point, .n = -1},
        {.x = point, .y = point, .n = 1, .has_best = true, .best = 7}};
    const heed_picture_panel panels[] = {
        {.series = NULL, .n_series = 1},       {.series = series, .n_series = 1},
        {.series = series + 1, .n_series = 1}, {.series = series + 2, .n_series = 1},
        {.series = series, .n_series = -1},    {.series = series, .n_series = 1000}};
    const heed_picture_bars bars[] = {
        {.n_groups = 1},
        {.groups = words, .n_groups = 1, .series = words, .n_series = 1},
        {.groups = words, .n_groups = -1, .series = words, .n_series = 1, .values = point},
        {.groups = no_words, .n_groups = 1, .series = words, .n_series = 1, .values = point},
        {.groups = words,
         .n_groups = INT_MAX,
         .series = words,
         .n_series = INT_MAX,
         .values = point}};
    assert_wrong(heed_draw(NULL, "x.svg", e));
    assert_wrong(heed_draw(&(heed_picture){0}, "x.svg", e));
    assert_wrong(heed_draw(&(heed_picture){.attention = &fine}, NULL, e));
    assert_wrong(heed_draw(&(heed_picture){.attention = &fine}, "", e));
    assert_wrong(heed_draw(&(heed_picture){.attention = &fine, .heads = heads}, "x.svg", e));
    assert_wrong(heed_draw_may_write(NULL, e));
    assert_wrong(heed_draw_bytes(NULL, "svg", &size, e));
    assert_wrong(heed_draw_bytes(&(heed_picture){.attention = &fine}, NULL, &size, e));
    assert_wrong(heed_draw_bytes(&(heed_picture){.attention = &fine}, "gif", &size, e));
    assert_wrong(heed_draw_bytes(&(heed_picture){.attention = &fine}, "svg", NULL, e));
    assert_wrong(heed_draw_text(NULL, NULL, e));
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        assert_wrong(heed_draw_bytes(&(heed_picture){.heads = &heads[i]}, "svg", &size, e));
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++)
        for (int n = -1; n <= 1; n++) {
            const heed_picture_chart chart = {.panels = n == 0 ? NULL : &panels[i],
                                              .n_panels = n ? n : 1};
            assert_wrong(heed_draw_bytes(&(heed_picture){.chart = &chart}, "svg", &size, e));
        }
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++)
        assert_wrong(heed_draw_bytes(&(heed_picture){.bars = &bars[i]}, "svg", &size, e));
    assert_refused(heed_result_picture(NULL, NULL, NULL, 0, e));
    static const int widths[] = {INT_MIN, -1, 1, INT_MAX};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) /* an answer or a sentence */
        heed_free(heed_draw_text(&fine, &(heed_text_options){.width = widths[i]}, NULL));
}

static void aligners_refuse_nothing(void **state)
{
    (void)state;
    const heed_text_pair pairs[] = {{"ein Haus", "a house"}, {"ein", NULL}, {NULL, "one"}};
    assert_refused(heed_aligner_new(NULL, 1, NULL, e));
    assert_refused(heed_aligner_new(NULL, 0, NULL, e));
    assert_refused(heed_aligner_new(pairs + 2, 1, NULL, e));
    heed_aligner *a =
        heed_aligner_new(pairs, 3, NULL, NULL); /* a text that is not there has no words */
    assert_non_null(a);
    assert_refused(heed_aligner_align(NULL, pairs, 1, HEED_SYMMETRY_UNION, e));
    assert_refused(heed_aligner_align(a, NULL, 1, HEED_SYMMETRY_UNION, e));
    heed_alignments_free(heed_aligner_align(a, pairs, 3, HEED_SYMMETRY_UNION, NULL));
    assert_refused(heed_aligner_lexicon(NULL, pairs, 1, e));
    assert_refused(heed_aligner_lexicon(a, NULL, 1, e));
    heed_lexicon_free(heed_aligner_lexicon(a, pairs, 3, NULL));
    heed_alignments_free(NULL);
    heed_lexicon_free(NULL);
    heed_aligner_free(NULL);
    heed_aligner_free(a);
}

static void servers_refuse_nothing(void **state)
{
    (void)state;
    heed_server *s = heed_server_new(NULL);
    assert_non_null(s);
    assert_refused(heed_server_set(NULL, "port", "0", e));
    assert_refused(heed_server_set(s, NULL, "0", e));
    assert_refused(heed_server_set(s, "port", NULL, e));
    assert_refused(heed_server_set(s, "port", "70000", e));
    assert_refused(heed_server_run(NULL, NULL, NULL, e));
    assert_null(heed_server_option_at(-1));
    assert_null(heed_server_option_at(INT_MAX));
    heed_server_inside(NULL, NULL, NULL, 0);
    heed_server_inside(s, NULL, NULL, 0);
    heed_server_stop(NULL);
    heed_server_reload(NULL);
    heed_server_free(NULL);
    heed_server_free(s);
}

static void languages_of_nobody_are_none(void **state)
{
    (void)state;
    const char *from = "", *to = "";
    heed_guess guess;
    heed_model *m = heed_model_load(TOY, NULL);
    assert_false(heed_model_direction(NULL, 0, &from, &to));
    assert_true(!from && !to);
    assert_false(heed_model_direction(m, -1, NULL, NULL));
    assert_false(heed_model_direction(m, INT_MAX, &from, NULL));
    assert_int_equal(heed_model_detect(NULL, "ein", &guess, 1), 0);
    assert_int_equal(heed_model_detect(m, NULL, &guess, 1), 0);
    heed_model_detect(m, "ein", NULL, 1); /* how many there would be */
    heed_model_detect(m, "ein", &guess, -1);
    assert_refused(heed_model_learn_detector(NULL, NULL, 0, e));
    assert_refused(heed_model_learn_detector(m, NULL, 1, e));
    assert_refused(heed_model_learn_detector(m, &(heed_language_text){NULL, "x"}, 1, e));
    assert_refused(heed_model_load_as(NULL, "f32", e));
    assert_refused(heed_model_load_as(TOY, "f64", e));
    heed_model_free(m);
}

/* A whole file as a string. */
static void features_refuse_nothing(void **state)
{
    (void)state;
    heed_lines lines = {0};
    heed_features_free(NULL);
    heed_features *f = heed_features_new(NULL);
    assert_non_null(f);
    assert_refused(heed_features_set(NULL, "mel", "40", e));
    assert_refused(heed_features_set(f, NULL, "40", e));
    assert_refused(heed_features_set(f, "mel", NULL, e));
    assert_refused(heed_features_set(f, "mel", "none", e));
    assert_refused(heed_features_set(f, "nothing", "1", e));
    assert_refused(heed_features_like(NULL, TOY, e));
    assert_refused(heed_features_like(f, NULL, e));
    assert_refused(heed_features_like(f, "", e));
    assert_refused(heed_features_add(NULL, "x.wav", e));
    assert_refused(heed_features_add(f, NULL, e));
    assert_refused(heed_features_add(f, "/nowhere.wav", e));
    assert_refused(heed_features_write(NULL, "x", e));
    assert_refused(heed_features_write(f, NULL, e));
    assert_refused(heed_features_write(f, "x", e));
    assert_true(heed_features_count(NULL, HEED_FEATURES_ITEMS) == 0);
    assert_true(heed_features_count(f, HEED_FEATURES_ITEMS) == 0);
    assert_null(heed_features_option_at(-1));
    assert_null(heed_features_option_at(1000));
    assert_non_null(heed_features_option_at(0));
    heed_features_free(f);
    assert_false(heed_is_vectors(NULL));
    assert_refused(heed_vector_names(NULL, "x.npy", e));
    assert_refused(heed_vector_names(&lines, NULL, e));
    assert_refused(heed_vector_names(&lines, "/nowhere.npy", e));
    assert_string_equal(heed_model_source(NULL), "text");
    assert_refused(heed_result_view(NULL, NULL, e));
}

static char *contents(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_that(file != NULL, "%s is not there", path);
    char *text = calloc(1, 1 << 18);
    assert_true(fread(text, 1, (1 << 18) - 1, file) > 0);
    fclose(file);
    return text;
}

static void every_function_is_called_here(void **state)
{
    (void)state;
    static const char *const headers[] = {"include/heed.h", "include/heed_draw.h"};
    char *own = contents("tests/api/test_arguments.c");
    int n = 0;
    for (int i = 0; i < 2; i++) {
        char *header = contents(headers[i]);
        for (char *at = header; (at = strstr(at, "\nHEED_API ")); n++) {
            at = strstr(
                at, "heed_"); /* the type's name or the function's own: the one before a bracket */
            char name[64];
            while (sscanf(at, "%63[a-z_](", name) != 1 || at[strlen(name)] != '(')
                at = strstr(at + 1, "heed_");
            strcat(name, "(");
            assert_that(strstr(own, name) != NULL, "%s is not called", name);
        }
        free(header);
    }
    assert_that(n > 60, "only %d functions were found", n);
    free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_refuse_nothing),
        cmocka_unit_test(translators_refuse_nothing),
        cmocka_unit_test(a_translator_refuses_texts_that_are_none),
        cmocka_unit_test(a_translator_refuses_options_that_are_none),
        cmocka_unit_test(links_of_nobody_are_none),
        cmocka_unit_test_setup_teardown(models_refuse_nothing, fresh_folder, remove_folder),
        cmocka_unit_test(a_note_does_not_replace_what_heed_noted),
        cmocka_unit_test(trainings_refuse_nothing),
        cmocka_unit_test(evaluations_refuse_nothing),
        cmocka_unit_test(option_tables_refuse_nothing),
        cmocka_unit_test(facts_about_the_library_are_there),
        cmocka_unit_test_setup_teardown(pictures_refuse_nothing, fresh_folder, remove_folder),
        cmocka_unit_test(aligners_refuse_nothing),
        cmocka_unit_test(servers_refuse_nothing),
        cmocka_unit_test(languages_of_nobody_are_none),
        cmocka_unit_test(features_refuse_nothing),
        cmocka_unit_test(every_function_is_called_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
