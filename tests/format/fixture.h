/* fixture.h -- what the files of tools/format_fixtures.py hold. */
#ifndef HD_TESTS_FORMAT_FIXTURE_H
#define HD_TESTS_FORMAT_FIXTURE_H

#include "format/tensor.h"
#include "test.h"

#include <string.h>

/* Element i of a fixture, see tools/format_fixtures.py. */
static inline void assert_fixture(const struct hd_tensor *t)
{
    if (t->dtype == HD_F32 || t->dtype == HD_F16 || t->dtype == HD_BF16 || t->dtype == HD_F64) {
        float x[8];
        assert_true(hd_read_f32(x, t, t->n, NULL));
        for (size_t i = 0; i < t->n; i++)
            assert_that(x[i] == (float)i / 2 - 1, "%s[%zu] is %g", t->name, i, (double)x[i]);
        return;
    }
    for (size_t i = 0; i < t->n; i++) {
        uint64_t x = 0;
        const size_t size = hd_dtype_size(t->dtype);
        memcpy(&x, (const char *)t->data + size * i, size);
        assert_that(x == (t->dtype == HD_BOOL ? i % 2 : i), "%s[%zu]", t->name, i);
    }
}

#endif
