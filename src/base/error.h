/* error.h -- how a failure travels: a code and a sentence in the caller's heed_error, first one
 * kept. */
#ifndef HD_BASE_ERROR_H
#define HD_BASE_ERROR_H

#include <heed.h>

/* bool hd_fail(heed_error *err, enum heed_code code, const char *format, ...)
 *
 * Note a failure: `format` makes a sentence that says what, where, and what to do. An error that is
 * already there stays, since the first one is the cause and the rest are its echoes. `err` may be
 * NULL. Always false, so that `return hd_fail(...)` works (a macro, so that compilers and
 * analysers know it too). What does not fit is cut between characters, never inside one. */
#define hd_fail(...) (hd_note_failure(__VA_ARGS__), hd_false())

void hd_note_failure(heed_error *err, enum heed_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline bool hd_false(void)
{
    return false;
}

/* Is an argument of a public function there? If not: "there is no TRANSLATOR; it is NULL". */
bool hd_is_given(const void *argument, const char *what, heed_error *err);

/* Does `err` hold an error? NULL holds none. */
bool hd_failed(const heed_error *err);

#endif
