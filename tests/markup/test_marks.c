/* test_marks.c -- what tags mean for a translator, case by case. The module's parts are inside this program, so that its memory
 * can be made to fail. */
#include "test.h"

#include "base/memory.h"
#include "markup/markup.h"

/* The text with its marks in brackets, each after a letter: Break, Open, Close, Object, Entity, Drop; "+" where an end was missing,
 * "!" where there is something to read in an object. */
static const char *shown(enum hd_markup_kind kind, const char *text)
{
    static const char letters[] = "BOCXED";
    static char out[4096];
    struct hd_marks marks = {0};
    heed_error err = {0};
    size_t n = 0, at = 0;
    if (!hd_markup_module.read(&marks, kind, text, strlen(text), &err))
        n = (size_t)snprintf(out, sizeof out, "%s", err.message);
    for (size_t i = 0; err.code == HEED_OK && i < marks.n; i++) {
        const struct hd_markup_mark *m = &marks.at[i];
        assert_true(m->begin >= at && m->end >= m->begin && m->end <= strlen(text));
        n += (size_t)snprintf(out + n, sizeof out - n, "%.*s[%c%.*s%s%s%s%s]", (int)(m->begin - at),
                              text + at, letters[m->kind], (int)(m->end - m->begin),
                              text + m->begin, m->kind == HD_MARK_ENTITY ? "=" : "",
                              m->kind == HD_MARK_ENTITY ? m->text : "", m->is_missing ? "+" : "",
                              m->has_content ? "!" : "");
        at = m->end;
        if (m->kind == HD_MARK_OPEN)
            assert_true(marks.at[m->other].kind == HD_MARK_CLOSE && marks.at[m->other].other == i);
    }
    if (err.code == HEED_OK)
        snprintf(out + n, sizeof out - n, "%s", text + at);
    hd_markup_module.free(marks.at);
    return out;
}

static const struct {
    const char *given, *marks;
} html[] =
    {
#include "markup/html_cases.inc"
},
  xml[] = {
#include "markup/xml_cases.inc"
};

static void html_is_read_case_by_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof html / sizeof *html; i++) {
        const char *said = shown(HD_MARKUP_HTML, html[i].given);
        assert_that(strcmp(said, html[i].marks) == 0, "%s\n  %s\n  instead of\n  %s", html[i].given,
                    said, html[i].marks);
    }
}

static void xml_is_read_case_by_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof xml / sizeof *xml; i++) {
        const char *said = shown(HD_MARKUP_XML, xml[i].given);
        assert_that(strcmp(said, xml[i].marks) == 0, "%s\n  %s\n  instead of\n  %s", xml[i].given,
                    said, xml[i].marks);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char text[] = "<p>a &eacute; <b>b<i>c</b> <code>d</code><td>e</p>";
    for (int kind = HD_MARKUP_HTML; kind <= HD_MARKUP_XML; kind++) {
        const char *given = kind == HD_MARKUP_XML ? "<p>a <b>b</b></p>" : text;
        int n_refused = 0;
        for (long n = 0;; n++) {
            struct hd_marks marks = {0};
            heed_error err = {0};
            hd_alloc_fail_after(n);
            const bool ok = hd_markup_module.read(&marks, (enum hd_markup_kind)kind, given,
                                                  strlen(given), &err);
            hd_alloc_fail_after(-1);
            hd_markup_module.free(marks.at);
            if (ok)
                break;
            assert_error(err, HEED_NO_MEMORY, "memory");
            n_refused++;
        }
        assert_that(n_refused > 3, "only %d allocations failed", n_refused);
    }
}

static void deep_and_wide_texts_are_read(void **state)
{
    (void)state;
    enum { N = 3000 };
    static char text[N * 8 + 1];
    const char *const pieces[] = {"<b>x", "<p>", "</b>", "<div>", "&amp;", "<a "};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        text[0] = '\0';
        for (int k = 0; k < N; k++)
            strcpy(text + (size_t)k * strlen(pieces[i]), pieces[i]);
        struct hd_marks marks = {0};
        assert_true(hd_markup_module.read(&marks, HD_MARKUP_HTML, text, strlen(text), NULL));
        hd_markup_module.free(marks.at);
    }
}

int main(int argc, char **argv)
{
    if (argc > 2) { /* test_marks html|xml TEXT shows it, for more cases */
        puts(shown(argv[1][0] == 'x' ? HD_MARKUP_XML : HD_MARKUP_HTML, argv[2]));
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(html_is_read_case_by_case),
        cmocka_unit_test(xml_is_read_case_by_case),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(deep_and_wide_texts_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
