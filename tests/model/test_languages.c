/* test_languages.c -- which languages a model translates: what its record and its vocabulary say. */
#include "test.h"

#include "model/languages.h"

static heed_model model_of(const char *languages)
{
    static const char *const tokens[] = {"<unk>", "</s>", "<2fr>", "<2de>", "a"};
    heed_model m = {.record = json_object(),
                    .source = hd_vocab_from_tokens(HD_VOCAB_WORDS, tokens, 5, NULL)};
    assert_true(m.record && m.source);
    if (languages)
        hd_languages_to_record(m.record, languages);
    return m;
}

static void directions_are_read_as_they_were_written(void **state)
{
    static const struct {
        const char *languages, *wanted;
    } cases[] = {{NULL, ""},
                 {"en-fr", "en>fr "},
                 {"en-fr,fr-en,en-de", "en>fr fr>en en>de "},
                 {"french", ""},
                 {"en-zh-Hans", ""}}; /* no name that a symbol could have */
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_model m = model_of(cases[i].languages);
        char all[200] = "";
        const char *from, *to;
        struct hd_model_languages languages;
        assert_true(hd_model_languages_init(&languages, m.record, NULL));
        m.languages = &languages;
        for (int k = 0; heed_model_direction(&m, k, &from, &to); k++)
            sprintf(all + strlen(all), "%s>%s ", from, to);
        assert_string_equal(all, cases[i].wanted);
        assert_true(!from && !to);
        if (cases[i].wanted[0])
            assert_string_equal(heed_model_languages(&m), cases[i].languages);
        else
            assert_null(heed_model_languages(&m));
        hd_model_languages_release(&languages);
        json_decref(m.record);
        hd_vocab_free(m.source);
    }
}

static void records_that_say_something_else_have_no_direction(void **state)
{
    static const char *const records[] = {
        "{\"languages\": \"english\"}", "{\"languages\": [\"en\"]}",  "{\"languages\": [1, 2]}",
        "{\"directions\": [7]}",        "{\"directions\": [\"en\"]}", "{\"directions\": {}}"};
    (void)state;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        json_t *record = json_loads(records[i], 0, NULL);
        struct hd_model_languages languages;
        assert_non_null(record);
        assert_true(hd_model_languages_init(&languages, record, NULL));
        assert_that(languages.n == 0 && !languages.text, "%s", records[i]);
        json_decref(record);
    }
}

static void a_target_language_has_its_symbol(void **state)
{
    (void)state;
    heed_model m = model_of("en-fr,en-de");
    assert_int_equal(hd_model_language_symbol(&m, "fr"), 2);
    assert_int_equal(hd_model_language_symbol(&m, "de"), 3);
    assert_int_equal(hd_model_language_symbol(&m, "en"), -1);
    json_decref(m.record);
    hd_vocab_free(m.source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions_are_read_as_they_were_written),
        cmocka_unit_test(records_that_say_something_else_have_no_direction),
        cmocka_unit_test(a_target_language_has_its_symbol),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
