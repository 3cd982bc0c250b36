/* sequence.h -- a source or a target as the model reads it: ids, with the end marker where one is wanted. */
#ifndef HD_MODEL_SEQUENCE_H
#define HD_MODEL_SEQUENCE_H

struct hd_sequence {
    const int *ids;
    int n;
};

#endif
