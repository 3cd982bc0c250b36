/* test_module.c -- without the module that draws there is a sentence that says what to do, and
 * everything else works. */
#include "test.h"

#include "base/module.h"

#include <heed_draw.h>

#include <unistd.h>

static const char *const words[] = {"one"};
static const float one[] = {1};
static const heed_picture_attention attention = {.words = {words, 1, words, 1}, .weights = one};

static void fails_with(const char *module, const char *first, const char *second)
{
    heed_error err = {0};
    size_t size;
    setenv("HEED_DRAW_MODULE", module, 1);
    assert_null(heed_draw_bytes(&(heed_picture){.attention = &attention}, "svg", &size, &err));
    assert_error(err, HEED_BAD_FILE, first);
    assert_error(err, HEED_BAD_FILE, second);
}

static void a_missing_module_says_what_to_install(void **state)
{
    (void)state;
    fails_with(
        "/nowhere/heed_draw.so",
        "pictures need the module heed_draw.so, which cannot be loaded: /nowhere/heed_draw.so",
        "apt-get install libcairo2-dev libpango1.0-dev");
}

static void what_is_no_module_is_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/heed-module-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "text", 4) == 4 && close(fd) == 0);
    fails_with(path, "cannot be loaded", path);
    unlink(path);
    fails_with("libm.so.6", "cannot be loaded", "hd_draw_module");
}

static void a_module_that_is_nowhere_is_named_with_the_way_to_get_it(void **state)
{
    (void)state;
    heed_error err = {0};
    const struct hd_module_name name = {"heed_nothing.so", "HEED_NOTHING_MODULE", "nothing",
                                        "wonders", "install wonders"};
    assert_null(hd_module_open(&name, &err));
    assert_error(
        err, HEED_BAD_FILE,
        "wonders need the module heed_nothing.so, which is neither beside heed nor in its "
        "lib/heed; "
        "build it: install wonders, then make (or say where it is in HEED_NOTHING_MODULE)");
    setenv("HEED_NOTHING_MODULE", "", 1); /* as if it were not set */
    err = (heed_error){0};
    assert_null(hd_module_open(&name, &err));
    assert_error(err, HEED_BAD_FILE, "neither beside heed");
}

static void attention_as_characters_needs_no_module(void **state)
{
    (void)state;
    setenv("HEED_DRAW_MODULE", "/nowhere", 1);
    char *text = heed_draw_text(&attention, NULL, NULL);
    assert_non_null(text);
    heed_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_module_says_what_to_install),
        cmocka_unit_test(what_is_no_module_is_refused),
        cmocka_unit_test(a_module_that_is_nowhere_is_named_with_the_way_to_get_it),
        cmocka_unit_test(attention_as_characters_needs_no_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
