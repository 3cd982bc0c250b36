/* test_recipe.c -- every field of a recipe, from text and back; files of settings; what is refused. */
#include "test.h"
#include "text/files.h"

#include "base/memory.h"
#include "model/config.h"
#include "train/training.h"

/* A value that is not the default. */
static const char *other_value(const heed_option *o)
{
    static char text[64];
    switch (o->kind) {
    case HEED_OPTION_INT:
        snprintf(text, sizeof text, "%.0f", o->least + 3 < o->most ? o->least + 3 : o->most);
        return text;
    case HEED_OPTION_FLOAT:
        snprintf(text, sizeof text, "%g", o->least + 0.0625);
        return text;
    case HEED_OPTION_CHOICE:
        return strrchr(o->choices, '|') + 1;
    case HEED_OPTION_FLAG:
    case HEED_OPTION_YES_NO:
        return "yes";
    case HEED_OPTION_TEXT:
    case HEED_OPTION_LIST:
    case HEED_OPTION_NUMBERS:
        break;
    }
    return "some text";
}

static void every_field_is_set_from_text_and_told_as_text(void **state)
{
    (void)state;
    struct hd_recipe r;
    hd_recipe_init(&r);
    for (const heed_option *o = hd_recipe_options; o->name; o++) {
        char text[64];
        heed_error err = {0};
        const char *value = other_value(o), *now = hd_recipe_text(&r, o->name, text);
        assert_ptr_equal(heed_option_find(hd_recipe_options, o->name), o);
        if (o->initial)
            assert_that(strcmp(now, o->initial) == 0 ||
                            strtod(now, NULL) == strtod(o->initial, NULL),
                        "%s begins as '%s', not '%s'", o->name, now, o->initial);
        else
            assert_that(!*now, "%s begins as '%s'", o->name, now);
        assert_that(heed_option_set(o, &r, value, &err), "%s: %s", o->name, err.message);
        assert_string_equal(hd_recipe_text(&r, o->name, text), value);
        assert_that(o->help && *o->help, "%s has no help", o->name);
        assert_that(!(o->flags & HEED_OPTION_AUTO) == !(o->default_help && *o->default_help),
                    "%s: what is chosen later says how", o->name);
    }
    hd_recipe_release(&r);
}

static void json_brings_back_all_that_is_recorded(void **state)
{
    (void)state;
    struct hd_recipe r, back;
    heed_error err = {0};
    hd_recipe_init(&r);
    hd_recipe_init(&back);
    for (const heed_option *o = hd_recipe_options; o->name; o++)
        assert_true(heed_option_set(o, &r, other_value(o), &err));
    assert_true(heed_option_set_named(hd_recipe_options, &r, "freeze", "decoder.*", &err));
    assert_true(heed_option_set_named(hd_recipe_options, &r, "rate", "0.1", &err));
    json_t *json = hd_recipe_to_json(&r);
    assert_non_null(json);
    assert_that(hd_recipe_from_json(&back, json, &err), "%s", err.message);
    json_t *again = hd_recipe_to_json(&back);
    assert_true(json_equal(json, again));
    assert_true(back.rate == 0.1F);
    assert_int_equal(back.freeze.n, 2);
    for (const heed_option *o = hd_recipe_options; o->name; o++)
        assert_that((json_object_get(json, o->name) != NULL) ==
                        ((o->flags & HEED_OPTION_RECORDED) != 0),
                    "%s: what differs between machines is not recorded, all else is", o->name);
    json_decref(json);
    json_decref(again);
    hd_recipe_release(&r);
    hd_recipe_release(&back);
}

static void a_record_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static const char *const broken[] = {"{\"banana\": \"1\"}", "{\"rate\": 1}",
                                         "{\"rate\": \"x\"}",   "{\"freeze\": \"x\"}",
                                         "{\"freeze\": [1]}",   "{\"rate\": []}"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct hd_recipe r;
        heed_error err = {0};
        hd_recipe_init(&r);
        json_t *json = json_loads(broken[i], 0, NULL);
        assert_non_null(json);
        assert_that(!hd_recipe_from_json(&r, json, &err) && *err.message, "%s is accepted",
                    broken[i]);
        json_decref(json);
        hd_recipe_release(&r);
    }
}

static void names_are_those_of_one_thing_only(void **state)
{
    (void)state;
    const heed_option *o;
    int n = 0, n_recipe = 0;
    for (; (o = heed_training_option_at(n)); n++)
        for (int k = 0; k < n; k++)
            assert_that(strcmp(o->name, heed_training_option_at(k)->name) != 0,
                        "two options are called %s", o->name);
    while (hd_recipe_options[n_recipe].name)
        n_recipe++;
    assert_true(n > n_recipe + 2);
    assert_null(heed_training_option_at(-1));
}

static void wrong_values_are_told_with_what_is_right(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *says;
    } wrong[] = {
        {"rate", "fast", "rate must be a number from 0 to 1000, not 'fast'"},
        {"rate", "-1", "rate must be a number from 0 to 1000, not '-1'"},
        {"rate", "1e4", "rate must be a number from 0 to 1000, not '1e4'"},
        {"rate", "nan", "rate must be a number from 0 to 1000, not 'nan'"},
        {"rate", "inf", "rate must be a number"},
        {"rate", "", "rate must be a number"},
        {"rate", "0,5", "rate must be a number"},
        {"rate", "0.10000000000000000000000000000000000000000000000000000000000000000x",
         "rate must be a number"},
        {"ema", "1", "ema must be a number from 0 to 0.999999, not '1'"},
        {"updates", "1.5", "updates must be a whole number from 0 to"},
        {"updates", "99999999999", "updates must be a whole number from 0 to"},
        {"updates", "5 ", "updates must be a whole number"},
        {"batch-tokens", "0", "batch-tokens must be a whole number from 1 to"},
        {"skip-bad", "maybe", "skip-bad must be yes or no, not 'maybe'"},
        {"joint-vocab", "both", "joint-vocab must be yes or no, not 'both'"},
        {"schedule", "cosin",
         "schedule must be inv-sqrt, cosine, plateau or constant, not 'cosin'; did you mean "
         "cosine?"},
        {"optimizer", "zzzzzzz", "optimizer must be adam, adamw or sgd, not 'zzzzzzz'"},
        {"ratte", "1", "there is no option 'ratte'; did you mean rate?"},
        {"xyzxyzxyz", "1", "there is no option 'xyzxyzxyz'; 'heed train --help' lists them all"},
        {"dim", "wide", "dim must be a whole number from 1 to 65536, not 'wide'"},
        {"dim", "-3", "dim must be"},
        {"ffn", "wide", "ffn must be a whole number"},
        {"cell", "gur", "cell must be rnn, gru or lstm, not 'gur'; did you mean gru?"},
        {"arch", "transfomer", "did you mean transformer?"},
        {"size", "huge", "size must be tiny, small or base"},
        {"source-vocab", "5", "there is no option 'source-vocab'"},
    };
    heed_training *t = heed_training_new(NULL);
    assert_non_null(t);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        heed_error err = {0};
        assert_that(!heed_training_set(t, wrong[i].name, wrong[i].value, &err), "%s %s is accepted",
                    wrong[i].name, wrong[i].value);
        assert_error(err, HEED_BAD_OPTION, wrong[i].says);
    }
    heed_training_free(t);
}

static void edges_of_a_range_belong_to_it(void **state)
{
    (void)state;
    struct hd_recipe r;
    hd_recipe_init(&r);
    for (const heed_option *o = hd_recipe_options; o->name; o++) {
        char text[64];
        heed_error err = {0};
        if (o->kind != HEED_OPTION_INT && o->kind != HEED_OPTION_FLOAT)
            continue;
        for (int edge = 0; edge < 2; edge++) {
            snprintf(text, sizeof text, "%.17g", edge ? o->most : o->least);
            assert_that(heed_option_set(o, &r, text, &err), "%s", err.message);
        }
    }
    assert_true(heed_option_set_named(hd_recipe_options, &r, "rate", ".5", NULL) && r.rate == 0.5F);
    hd_recipe_release(&r);
}

static void what_was_said_before_a_file_wins(void **state)
{
    (void)state;
    heed_training *t = heed_training_new(NULL);
    heed_error err = {0};
    const char *path =
        put("config",
            "# how it is done\n\n  rate = 0.25\r\nwarmup=7\n\tsrc = a b.en\nsrc = c.en\ntgt = x\n"
            "arch = luong\ndim = 64\nscore = dot\nsize = small\n");
    assert_true(
        heed_training_set(t, "warmup", "9", &err) && heed_training_set(t, "dim", "32", &err) &&
        heed_training_set(t, "arch", "wang", &err) && heed_training_set(t, "tgt", "y", &err));
    assert_that(heed_training_read(t, path, &err), "%s", err.message);
    assert_true(t->recipe.rate == 0.25F);
    assert_int_equal(t->recipe.warmup, 9);
    assert_int_equal(t->recipe.src.n, 2);
    assert_string_equal(t->recipe.src.at[0], "a b.en");
    assert_int_equal(t->recipe.tgt.n, 1);
    assert_string_equal(t->recipe.tgt.at[0], "y");
    assert_true(t->preset.arch == HD_WANG && t->preset.size == HD_SIZE_SMALL);
    struct hd_config c = hd_config_preset(HD_WANG, HD_SIZE_SMALL);
    assert_that(hd_training_configure(t, &c, &err), "%s", err.message);
    assert_true(c.dim == 32 && c.score == HD_SCORE_DOT);
    assert_true(hd_training_is_given(t, "score") && hd_training_is_given(t, "size") &&
                hd_training_is_given(t, "rate") && !hd_training_is_given(t, "ffn"));
    c = hd_config_preset(HD_TRANSFORMER, HD_SIZE_SMALL);
    assert_false(hd_training_configure(t, &c, &err));
    assert_error(err, HEED_BAD_OPTION, "score is for recurrent models, but arch is transformer");
    heed_training_free(t);
}

static void files_are_refused_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } wrong[] = {{"rate = 1\nratte = 1\n", ":2: there is no option 'ratte'; did you mean rate?"},
                 {"\n\nrate = x\n", ":3: rate must be a number from 0 to 1000, not 'x'"},
                 {"rate\n", ":1: 'rate' is not of the form name = value"},
                 {"= 5\n", ":1: there is no option ''"},
                 {"dim = wide\n", ":1: dim"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        heed_training *t = heed_training_new(NULL);
        heed_error err = {0};
        assert_false(heed_training_read(t, put("config", wrong[i].text), &err));
        assert_error(err, HEED_BAD_OPTION, wrong[i].says);
        heed_training_free(t);
    }
    heed_training *t = heed_training_new(NULL);
    heed_error err = {0};
    assert_false(heed_training_read(t, in_folder("nowhere"), &err));
    assert_error(err, HEED_BAD_FILE, "there is no such file");
    assert_false(heed_training_is_yes(t, "quiet"));
    assert_true(heed_training_set(t, "quiet", "yes", NULL));
    assert_true(heed_training_is_yes(t, "quiet") && !heed_training_is_yes(t, "rate") &&
                !heed_training_is_yes(t, "banana"));
    heed_training_free(t);
}

static void without_memory_there_is_a_sentence(void **state)
{
    (void)state;
    put("config", "src = a\nrate = 0.1\ndim = 32\narch = luong\n");
    for (long n = 0;; n++) {
        heed_error err = {0};
        hd_alloc_fail_after(n);
        heed_training *t = heed_training_new(&err);
        const bool ok = t && heed_training_set(t, "tgt", "b", &err) &&
                        heed_training_read(t, in_folder("config"), &err);
        hd_alloc_fail_after(-1);
        assert_that(ok || err.code == HEED_NO_MEMORY, "allocation %ld: code %d, '%s'", n,
                    (int)err.code, err.message);
        heed_training_free(t);
        if (ok)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_set_from_text_and_told_as_text),
        cmocka_unit_test(json_brings_back_all_that_is_recorded),
        cmocka_unit_test(a_record_that_cannot_be_is_refused),
        cmocka_unit_test(names_are_those_of_one_thing_only),
        cmocka_unit_test(wrong_values_are_told_with_what_is_right),
        cmocka_unit_test(edges_of_a_range_belong_to_it),
        cmocka_unit_test(what_was_said_before_a_file_wins),
        cmocka_unit_test(files_are_refused_with_their_line),
        cmocka_unit_test(without_memory_there_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
