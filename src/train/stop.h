/* stop.h -- interrupting an update or a validation on the caller's request.
 *
 * watch() is only called by the thread that runs the training, about ten times a second; the other threads read a flag. Tapes check it
 * before every op, so stopping takes as long as the longest op. */
#ifndef HD_TRAIN_STOP_H
#define HD_TRAIN_STOP_H

#include <stdatomic.h>
#include <stdbool.h>

struct hd_stop {
    bool (*is_wanted)(void *context); /* calls watch() */
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
