/* translated.h -- translators for tests: options as one line, "beam=1 n-best=2". */
#ifndef HD_TEST_TRANSLATED_H
#define HD_TEST_TRANSLATED_H

#include "test.h"

#include <heed.h>

static inline bool set_all(heed_translator *t, const char *options, heed_error *err)
{
    char copy[512], *rest = copy;
    snprintf(copy, sizeof copy, "%s", options ? options : "");
    for (char *name; (name = strsep(&rest, " ")) != NULL;) {
        char *value = strchr(name, '=');
        if (!value)
            continue;
        *value = '\0';
        if (!heed_translator_set(t, name, value + 1, err))
            return false;
    }
    return true;
}

/* A translator of one model; `options` may be NULL. */
static inline heed_translator *translator_of(const heed_model *m, const char *options)
{
    heed_error err = {0};
    heed_translator *t = heed_translator_new(&m, 1, &err);
    assert_that(t != NULL && set_all(t, options, &err), "%s: %s", options ? options : "",
                err.message);
    return t;
}

static inline heed_results *translated(const heed_model *m, const char *const *texts, size_t n,
                                       const char *options)
{
    heed_error err = {0};
    heed_translator *t = translator_of(m, options);
    heed_results *r = heed_translator_translate(t, texts, n, &err);
    heed_translator_free(t);
    assert_that(r != NULL, "%s", err.message);
    assert_int_equal(r->n, n);
    return r;
}

static inline heed_results *aligned(const heed_model *m, const heed_text_pair *pairs, size_t n,
                                    const char *options)
{
    heed_error err = {0};
    heed_translator *t = translator_of(m, options);
    heed_results *r = heed_translator_align(t, pairs, n, &err);
    heed_translator_free(t);
    assert_that(r != NULL, "%s", err.message);
    return r;
}

#endif
