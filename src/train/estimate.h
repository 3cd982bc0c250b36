/* estimate.h -- how long a run will take, as a sentence, from its first updates. */
#ifndef HD_TRAIN_ESTIMATE_H
#define HD_TRAIN_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

struct hd_estimate {
    double seconds_per_update;
    double seconds_left; /* below 0: nobody can say, as nothing ends the run */
    bool is_least;       /* patience alone ends the run: it lasts so long if nothing improves */
    int patience, valid_every;
    int n_threads, n_ranks;
    const char *shown; /* what a validation shows */
};

/* "about 25 minutes on 2 threads; ..." into `text`, cut where it is too long. */
void hd_estimate_text(const struct hd_estimate *estimate, char *text, size_t size);

#endif
