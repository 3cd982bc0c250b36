/* import_marian.h -- a model of Marian on its way into one of heed: its configuration, YAML inside the file, and its tensors. */
#ifndef HD_MODEL_IMPORT_MARIAN_H
#define HD_MODEL_IMPORT_MARIAN_H

#include "model/foreign.h"

struct hd_marian {
    struct hd_foreign in;
    char *yaml;
};

/* A value of the configuration, without quotes. */
struct hd_marian_word {
    char s[64];
};

/* The value of a key, "" when there is none; as a number, where what is negative is -1 and what is larger than any size can be one more
 * than that; the i-th of a list of numbers, 0 when there is none. */
struct hd_marian_word hd_marian_value(const struct hd_marian *m, const char *key);
bool hd_marian_is_true(const struct hd_marian *m, const char *key);
int hd_marian_number(const struct hd_marian *m, const char *key);
int hd_marian_listed(const struct hd_marian *m, const char *key, int i);

/* The configuration as ours; false with a sentence that names the option that heed cannot do. */
bool hd_marian_config(struct hd_marian *m, struct hd_config *config);

/* All tensors but the tables of words to their places. */
bool hd_marian_take_transformer(struct hd_marian *m);
bool hd_marian_take_recurrent(struct hd_marian *m);

/* The whole of one of our parameters, whose name is made from the format. */
bool hd_marian_take(struct hd_marian *m, const char *theirs, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
