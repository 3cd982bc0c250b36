/* sieve.h -- the likeliest word of one row: 4 bits of every weight say which words can be it, and these alone are multiplied out. */
#ifndef HD_MODEL_SIEVE_H
#define HD_MODEL_SIEVE_H

#include "model/head.h"

/* A sieve of the present values, which is empty until rows have come alone often enough to be worth it. NULL, without an error, where
 * the layer can have none. */
struct hd_sieve *hd_sieve_new(const struct hd_head *head, heed_error *err);
void hd_sieve_free(struct hd_sieve *sieve);
bool hd_sieve_is_current(const struct hd_sieve *sieve, const struct hd_head *head);

/* The likeliest word of one row x [1,R], the lower id of equal ones, to the last bit as all logits have it. -1: the sieve does not say,
 * since it is not there yet, is of older values, or would not pay. False with the reason on the tape. */
bool hd_sieve_ask(struct hd_sieve *sieve, const struct hd_head *head, hd_node *x, int *word);

#endif
