/* result.h -- the memory of a result: it grows while the result is made, and is freed as a whole. */
#ifndef HD_TRANSLATE_RESULT_H
#define HD_TRANSLATE_RESULT_H

#include <heed.h>

/* An empty result, to be given to heed_result_free(). NULL with the reason in `err`. */
heed_result *hd_result_new(heed_error *err);

/* Zeroed memory that belongs to a result and is freed with it, aligned for any type. NULL without memory. */
void *hd_result_keep(heed_result *result, size_t count, size_t size, heed_error *err);

/* One more warning. Without memory there is none. */
void hd_result_warn(heed_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Results that have no memory yet, `n` of them, all NULL. */
heed_results *hd_results_new(size_t n, heed_error *err);
#endif
