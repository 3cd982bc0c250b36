/* test_option.c -- rows fill a struct from text and JSON and tell it again; what is wrong is refused in the same words. */
#include "test.h"

#include "base/memory.h"
#include "option/option_json.h"

#include <jansson.h>
#include <locale.h>

struct values {
    bool is_quiet, is_tied;
    int joint, beam, any, cell, n_heads, heads[4], norm, steps, other_steps;
    float rate, eps, free, alpha;
    double exact;
    const char *out, *languages, *picture;
    heed_option_list src, freeze;
};

/* "none" or "power:X": one text, two fields. */
static bool set_norm(const heed_option *option, void *values, const char *text, heed_error *err)
{
    struct values *v = values;
    double x = 0;
    const bool is_none = strcmp(text, "none") == 0;
    if (!is_none && (strncmp(text, "power:", 6) != 0 || !hd_option_read_number(text + 6, &x)))
        return heed_option_refuse(option, text, err);
    v->norm = !is_none;
    v->alpha = (float)x;
    return true;
}

static void print_norm(const heed_option *option, const void *values, char *text, size_t size)
{
    const struct values *v = values;
    (void)option;
    snprintf(text, size, v->norm ? "power:%g" : "none", (double)v->alpha);
}

/* One number, two fields. */
static bool set_steps(const heed_option *option, void *values, const char *text, heed_error *err)
{
    struct values *v = values;
    if (!heed_option_set_by_kind(option, values, text, err))
        return false;
    v->other_steps = v->steps;
    return true;
}

static bool set_picture(const heed_option *option, void *values, const char *text, heed_error *err)
{
    return strstr(text, ".svg") ? heed_option_set_by_kind(option, values, text, err)
                                : heed_option_refuse(option, text, err);
}

/* clang-format off */
#define FIELD(member) HEED_OPTION_FIELD(struct values, member)
static const heed_option options[] = {
    {"quiet", 'q', .kind = HEED_OPTION_FLAG, FIELD(is_quiet)},
    {"tied", .kind = HEED_OPTION_YES_NO, FIELD(is_tied), .initial = "yes"},
    {"joint-vocab", .kind = HEED_OPTION_YES_NO, FIELD(joint), .flags = HEED_OPTION_AUTO},
    {"beam", 'b', .kind = HEED_OPTION_INT, FIELD(beam), .least = 1, .most = 1000, .initial = "5"},
    {"any", .kind = HEED_OPTION_INT, FIELD(any)},
    {"cell", .kind = HEED_OPTION_CHOICE, FIELD(cell), .choices = "rnn|gru|lstm|plain", .most = 3,
     .flags = HEED_OPTION_AUTO},
    {"heads", .kind = HEED_OPTION_NUMBERS, .offset = offsetof(struct values, n_heads), .size = 5 * sizeof(int), .most = 7},
    {"length-norm", .kind = HEED_OPTION_TEXT, FIELD(norm), .takes = "none or power:X",
     .set = set_norm, .print = print_norm, .initial = "power:1"},
    {"steps", .kind = HEED_OPTION_INT, FIELD(steps), .least = 1, .most = 9, .set = set_steps},
    {"rate", .kind = HEED_OPTION_FLOAT, FIELD(rate), .least = 0, .most = 1e3, .flags = HEED_OPTION_AUTO},
    {"eps", .kind = HEED_OPTION_FLOAT, FIELD(eps), .least = 0, .most = 1, .flags = HEED_OPTION_ABOVE, .initial = "1e-6"},
    {"free", .kind = HEED_OPTION_FLOAT, FIELD(free)},
    {"exact", .kind = HEED_OPTION_FLOAT, FIELD(exact), .flags = HEED_OPTION_AUTO},
    {"out", 'o', .kind = HEED_OPTION_TEXT, FIELD(out)},
    {"languages", .kind = HEED_OPTION_TEXT, FIELD(languages), .flags = HEED_OPTION_AUTO | HEED_OPTION_RECORDED},
    {"picture", .kind = HEED_OPTION_TEXT, FIELD(picture), .takes = "a file that ends in .svg", .set = set_picture},
    {"src", .kind = HEED_OPTION_LIST, FIELD(src)},
    {"freeze", .kind = HEED_OPTION_LIST, FIELD(freeze), .flags = HEED_OPTION_RECORDED},
    {0},
};
/* clang-format on */

static const char *told(const struct values *v, const char *name)
{
    static char text[64];
    return heed_option_text(heed_option_find(options, name), v, text, sizeof text);
}

static struct values defaults(void)
{
    struct values v = {0};
    heed_error err = {0};
    assert_that(heed_option_defaults(options, &v, &err), "%s", err.message);
    return v;
}

static void when_nothing_is_said_the_defaults_hold(void **state)
{
    (void)state;
    struct values v = defaults();
    assert_true(!v.is_quiet && v.is_tied && v.joint == -1 && v.beam == 5 && v.any == 0);
    assert_true(v.cell == -1 && v.n_heads == 0 && v.norm == 1 && v.alpha == 1 && v.rate == -1);
    assert_true(v.eps == 1e-6F && !v.out && !v.languages && v.src.n == 0);
    static const char *const open[] = {"joint-vocab", "cell", "rate", "exact", "languages"};
    for (size_t i = 0; i < 5; i++) {
        const heed_option *o = heed_option_find(options, open[i]);
        assert_true(hd_option_is_open(o, &v) && hd_option_is_valid(o, &v));
        assert_string_equal(told(&v, open[i]), "");
    }
    assert_false(hd_option_is_open(heed_option_find(options, "beam"), &v));
    heed_option_release(options, &v);
}

static void text_becomes_a_value_and_the_same_text_again(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *again;
    } known[] = {
        {"quiet", "yes", NULL},
        {"quiet", "false", "no"},
        {"tied", "no", NULL},
        {"tied", "true", "yes"},
        {"joint-vocab", "yes", NULL},
        {"joint_vocab", "no", NULL},
        {"beam", "1", NULL},
        {"beam", "1000", NULL},
        {"beam", "+7", "7"},
        {"any", "-2147483648", NULL},
        {"any", "2147483647", NULL},
        {"cell", "lstm", NULL},
        {"heads", "0,3", NULL},
        {"heads", "7,0,3,1", NULL},
        {"heads", "none", NULL},
        {"length-norm", "none", NULL},
        {"length-norm", "power:0.5", NULL},
        {"steps", "4", NULL},
        {"rate", "0.001", NULL},
        {"rate", "0", NULL},
        {"rate", "1000", "1e+03"},
        {"rate", ".5", "0.5"},
        {"rate", "5e-4", "0.0005"},
        {"rate", "1E+2", "1e+02"},
        {"eps", "1", NULL},
        {"free", "-3.25", NULL},
        {"free", "3e38", "3e+38"},
        {"exact", "0.1", NULL},
        {"out", "a file", NULL},
        {"out", "", NULL},
        {"out", "\xff", NULL},
        {"languages", "en-fr", NULL},
        {"picture", "a.svg", NULL},
    };
    struct values v = defaults();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        heed_error err = {0};
        assert_that(heed_option_set_named(options, &v, known[i].name, known[i].text, &err), "%s",
                    err.message);
        assert_string_equal(told(&v, known[i].name),
                            known[i].again ? known[i].again : known[i].text);
        assert_true(hd_option_is_valid(heed_option_find(options, known[i].name), &v));
    }
    assert_true(v.steps == 4 && v.other_steps == 4 && v.rate == 100 && v.exact == 0.1);
    heed_option_release(options, &v);
    assert_null(v.out);
}

static void a_list_gets_one_more(void **state)
{
    (void)state;
    struct values v = defaults();
    const heed_option *src = heed_option_find(options, "src");
    assert_string_equal(told(&v, "src"), "");
    assert_true(heed_option_set(src, &v, "a", NULL));
    assert_string_equal(told(&v, "src"), "a");
    for (int i = 0; i < 20; i++)
        assert_true(heed_option_set(src, &v, "b", NULL));
    assert_int_equal(v.src.n, 21);
    assert_string_equal(v.src.at[0], "a");
    assert_string_equal(v.src.at[20], "b");
    assert_string_equal(told(&v, "src"), "");
    heed_option_release(options, &v);
    assert_int_equal(v.src.n, 0);
}

static void wrong_text_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *says;
    } wrong[] = {
        {"beem", "1", "there is no option 'beem'; did you mean beam?"},
        {"joint_vocap", "1", "there is no option 'joint_vocap'; did you mean joint-vocab?"},
        {"xyzzy", "1", "there is no option 'xyzzy'"},
        {"", "1", "there is no option ''"},
        {"beam", "x", "beam must be a whole number from 1 to 1000, not 'x'"},
        {"beam", "0", "beam must be a whole number from 1 to 1000, not '0'"},
        {"beam", "1001", "not '1001'"},
        {"beam", "", "beam must be"},
        {"beam", " 5", "beam must be"},
        {"beam", "5 ", "beam must be"},
        {"beam", "1.5", "beam must be"},
        {"beam", "5,6", "beam must be"},
        {"beam", "99999999999999999999", "beam must be"},
        {"any", "2147483648", "any must be a whole number from -2147483648 to 2147483647, not"},
        {"quiet", "maybe", "quiet must be yes or no, not 'maybe'"},
        {"joint-vocab", "1", "joint-vocab must be yes or no, not '1'"},
        {"cell", "lsmt", "cell must be rnn, gru, lstm or plain, not 'lsmt'; did you mean lstm?"},
        {"cell", "banana", "cell must be rnn, gru, lstm or plain, not 'banana'"},
        {"cell", "", "cell must be rnn"},
        {"cell", "rnn|gru", "cell must be rnn"},
        {"heads", "1,1",
         "heads must be none, or different whole numbers from 0 to 7, such as 0,3, "
         "not '1,1'"},
        {"heads", "8", "heads must be"},
        {"heads", "-1", "heads must be"},
        {"heads", "", "heads must be"},
        {"heads", "1,", "heads must be"},
        {"heads", "1,,2", "heads must be"},
        {"heads", "1,2,3,4,5", "heads must be"},
        {"length-norm", "gnmt", "length-norm must be none or power:X, not 'gnmt'"},
        {"steps", "10", "steps must be a whole number from 1 to 9, not '10'"},
        {"rate", "fast", "rate must be a number from 0 to 1000, not 'fast'"},
        {"rate", "-1", "rate must be"},
        {"rate", "1001", "rate must be"},
        {"rate", "nan", "rate must be"},
        {"rate", "inf", "rate must be"},
        {"rate", "0x10", "rate must be"},
        {"rate", "0,5", "rate must be"},
        {"rate", ".", "rate must be"},
        {"rate", "1e", "rate must be"},
        {"rate", "1e+", "rate must be"},
        {"rate", "1 ", "rate must be"},
        {"rate", "", "rate must be"},
        {"eps", "0", "eps must be a number above 0 and at most 1, not '0'"},
        {"eps", "1e-60", "eps must be"},
        {"eps", "1.5", "eps must be"},
        {"free", "1e99", "free must be a number, not '1e99'"},
        {"languages", "\xff", "languages is recorded, so it must be UTF-8, not"},
        {"freeze", "\xff", "freeze is recorded"},
        {"picture", "a.gif", "picture must be a file that ends in .svg, not 'a.gif'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct values v = defaults(), before = v;
        heed_error err = {0};
        assert_that(!heed_option_set_named(options, &v, wrong[i].name, wrong[i].text, &err),
                    "%s %s is taken", wrong[i].name, wrong[i].text);
        assert_error(err, HEED_BAD_OPTION, wrong[i].says);
        assert_that(memcmp(&v, &before, sizeof v) == 0, "%s %s changes something", wrong[i].name,
                    wrong[i].text);
        assert_false(heed_option_set_named(options, &v, wrong[i].name, wrong[i].text, NULL));
        heed_option_release(options, &v);
    }
    heed_error err = {0};
    assert_false(heed_option_unknown("xyzzy", NULL, 0, "heed --help lists them all", &err));
    assert_error(err, HEED_BAD_OPTION, "there is no option 'xyzzy'; heed --help lists them all");
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    bool is_there = false;
    for (size_t i = 0; i < 4 && !is_there; i++)
        is_there = setlocale(LC_ALL, names[i]) != NULL;
    struct values v = defaults();
    assert_true(heed_option_set_named(options, &v, "rate", "0.25", NULL) && v.rate == 0.25F);
    assert_string_equal(told(&v, "rate"), "0.25");
    heed_option_release(options, &v);
    setlocale(LC_ALL, "C");
    if (!is_there)
        skip();
}

static void what_is_in_a_struct_can_be_checked(void **state)
{
    (void)state;
    struct values v = defaults();
    v.beam = 0, v.cell = 3, v.joint = 2, v.n_heads = 5, v.eps = 0, v.rate = -2;
    static const char *const wrong[] = {"beam", "cell", "joint-vocab", "heads", "eps", "rate"};
    for (size_t i = 0; i < 6; i++)
        assert_that(!hd_option_is_valid(heed_option_find(options, wrong[i]), &v), "%s", wrong[i]);
    v.cell = -2, v.n_heads = -1;
    assert_false(hd_option_is_valid(heed_option_find(options, "cell"), &v));
    assert_false(hd_option_is_valid(heed_option_find(options, "heads"), &v));
    v.n_heads = 0;
    heed_option_release(options, &v);
}

static bool set_json(struct values *v, const char *text, heed_error *err)
{
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    const bool ok = hd_options_from_json(options, v, json, NULL, err);
    json_decref(json);
    return ok;
}

static void json_sets_fields_and_comes_back(void **state)
{
    (void)state;
    struct values v = defaults();
    heed_error err = {0};
    assert_that(set_json(&v,
                         "{\"quiet\": true, \"joint_vocab\": false, \"beam\": 8, \"cell\": "
                         "\"gru\", \"heads\": [3, 0], \"length-norm\": \"power:0.5\", \"steps\": "
                         "3, \"rate\": 0.1, \"free\": 2, \"out\": \"x\", \"src\": [\"a\", \"b\"]}",
                         &err),
                "%s", err.message);
    assert_true(v.is_quiet && v.joint == 0 && v.beam == 8 && v.cell == 1 && v.n_heads == 2);
    assert_true(v.heads[0] == 3 && v.heads[1] == 0 && v.norm == 1 && v.alpha == 0.5F);
    assert_true(v.steps == 3 && v.other_steps == 3 && v.rate == 0.1F && v.free == 2);
    assert_int_equal(v.src.n, 2);
    json_t *all = json_object();
    for (const heed_option *o = options; o->name; o++)
        json_object_set_new(all, o->name, hd_option_to_json(o, &v));
    char *text = json_dumps(all, JSON_REAL_PRECISION(9));
    assert_string_equal(
        text, "{\"quiet\": true, \"tied\": true, \"joint-vocab\": false, \"beam\": 8, \"any\": 0, "
              "\"cell\": \"gru\", \"heads\": [3, 0], \"length-norm\": \"power:0.5\", \"steps\": 3, "
              "\"rate\": 0.1, \"eps\": 1e-6, \"free\": 2.0, \"exact\": null, \"out\": \"x\", "
              "\"languages\": null, \"picture\": \"\", \"src\": [\"a\", \"b\"], \"freeze\": []}");
    free(text);
    json_decref(all);
    heed_option_release(options, &v);
}

static void wrong_json_is_refused_by_its_type(void **state)
{
    (void)state;
    static const struct {
        const char *json, *says;
    } wrong[] = {
        {"{\"beem\": 5}", "there is no option 'beem'; did you mean beam?"},
        {"{\"beam\": \"5\"}", "beam must be a whole number from 1 to 1000, not '5'"},
        {"{\"beam\": 5.0}", "not 5.00000"},
        {"{\"beam\": true}", "not true"},
        {"{\"beam\": null}", "not null"},
        {"{\"beam\": []}", "not a list"},
        {"{\"beam\": {}}", "not an object"},
        {"{\"beam\": 4294967301}", "not 4294967301"},
        {"{\"quiet\": \"yes\"}", "quiet must be true or false, not 'yes'"},
        {"{\"joint-vocab\": 1}", "joint-vocab must be true or false, not 1"},
        {"{\"cell\": 1}", "cell must be rnn, gru, lstm or plain, not 1"},
        {"{\"cell\": \"lsmt\"}", "did you mean lstm?"},
        {"{\"heads\": 3}", "heads must be none, or different"},
        {"{\"heads\": [\"3\"]}", "not '3'"},
        {"{\"heads\": [0, 0]}", "not '0,0'"},
        {"{\"heads\": [8]}", "not '8'"},
        {"{\"length-norm\": true}", "length-norm must be none or power:X, not true"},
        {"{\"length-norm\": [1]}", "length-norm must be none or power:X, not a list"},
        {"{\"steps\": \"3\"}", "steps must be a whole number from 1 to 9, not '3'"},
        {"{\"steps\": 10}", "steps must be a whole number from 1 to 9, not '10'"},
        {"{\"rate\": \"0.1\"}", "rate must be a number"},
        {"{\"rate\": -0.5}", "not -0.500000"},
        {"{\"out\": 3}", "out must be text, not 3"},
        {"{\"src\": \"a\"}", "src must be text, not 'a'"},
        {"{\"src\": [1]}", "src must be text, not 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct values v = defaults();
        heed_error err = {0};
        assert_that(!set_json(&v, wrong[i].json, &err), "%s is taken", wrong[i].json);
        assert_error(err, HEED_BAD_OPTION, wrong[i].says);
        heed_option_release(options, &v);
    }
}

static void without_memory_there_is_a_sentence(void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        struct values v = {0};
        heed_error err = {0};
        hd_alloc_fail_after(n);
        const bool ok = heed_option_defaults(options, &v, &err) &&
                        heed_option_set_named(options, &v, "out", "x", &err) &&
                        heed_option_set_named(options, &v, "out", "y", &err) &&
                        heed_option_set_named(options, &v, "src", "a", &err);
        hd_alloc_fail_after(-1);
        heed_option_release(options, &v);
        if (ok)
            break;
        assert_int_equal(err.code, HEED_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(when_nothing_is_said_the_defaults_hold),
        cmocka_unit_test(text_becomes_a_value_and_the_same_text_again),
        cmocka_unit_test(a_list_gets_one_more),
        cmocka_unit_test(wrong_text_is_refused_and_changes_nothing),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(what_is_in_a_struct_can_be_checked),
        cmocka_unit_test(json_sets_fields_and_comes_back),
        cmocka_unit_test(wrong_json_is_refused_by_its_type),
        cmocka_unit_test(without_memory_there_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
