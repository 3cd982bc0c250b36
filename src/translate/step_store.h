/* step_store.h -- steps of remembered sentences in a file beside the memory, so that the next run need not make them again.
 *
 * A file is of one model as it computes: its name and its head have a number made of all of that. Steps are appended as they are made, each
 * with a checksum, and who may not read the memory may not read them; what is not whole is as if it were not there; so a kill, a full disk, two runs at a time or a file of
 * anything else change the time and no bit of a result. */
#ifndef HD_TRANSLATE_STEP_STORE_H
#define HD_TRANSLATE_STEP_STORE_H

#include "search/neighbours.h"

struct hd_step_store;

/* The store of a memory's file for states of this width. NULL without memory; a file that cannot be read or written is none. One thread
 * at a time. */
struct hd_step_store *hd_step_store_open(const char *memory, uint64_t model, int width);
void hd_step_store_close(struct hd_step_store *store); /* NULL is fine */

/* The steps that are there under a number, to be given to hd_steps_release(); false where there are none. */
bool hd_step_store_find(const struct hd_step_store *store, uint64_t number, struct hd_steps *steps);

/* Some more, which go to the file sooner or later. */
void hd_step_store_add(struct hd_step_store *store, uint64_t number, const struct hd_steps *steps);

#endif
