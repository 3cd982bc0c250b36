/* ready.h -- a tape and the model of formula.h, made or the test is over. */
#ifndef HD_TEST_READY_H
#define HD_TEST_READY_H

#include "formula.h"
#include "test.h"

static const int some_lengths[] = {3, 0, 5, 1};

static hd_tape *new_tape(bool record)
{
    heed_error err = {0};
    hd_tape *t = hd_tape_new(&err);
    assert_that(t != NULL, "%s", err.message);
    hd_tape_record(t, record);
    return t;
}

static struct formula new_formula(int B, const int *lengths, int D)
{
    struct formula f;
    heed_error err = {0};
    assert_that(formula_make(&f, B, lengths, D, &err), "%s", err.message);
    return f;
}

#endif
