/* stop.h -- leaving an update or a validation in the middle, when whoever watches asks for it.
 *
 * The watcher is asked by the thread that trains and by no other, a few times a second; what it said is known to all threads. Tapes look
 * before every op, so a stop takes as long as the longest op. */
#ifndef HD_TRAIN_STOP_H
#define HD_TRAIN_STOP_H

#include <stdatomic.h>
#include <stdbool.h>

struct hd_stop {
    bool (*is_wanted)(void *context); /* asks the watcher */
    void *context;
    double asked; /* when it was last asked, hd_seconds() */
    unsigned n_looks;
    atomic_bool is_set;
};

/* The same question for tapes; `stop` is a struct hd_stop. The first asks the watcher now and then, and is for the thread that trains. */
bool hd_stop_ask(void *stop);
bool hd_stop_is_set(void *stop);

/* Asks at once; for when nothing else is to be done. */
void hd_stop_ask_now(void *stop);

#endif
