/* protobuf.h -- the fields of a protocol buffer in memory, one after the other: as much as it takes
 * to look into a SentencePiece model. */
#ifndef HD_TEXT_PROTOBUF_H
#define HD_TEXT_PROTOBUF_H

#include <stdbool.h>
#include <stdint.h>

/* What is left of a message. */
struct hd_protobuf {
    const unsigned char *at, *end;
};

/* One field: a string or message has bytes, a number a value (a float's bits, too). */
struct hd_protobuf_field {
    uint64_t number;
    uint64_t value;
    struct hd_protobuf bytes;
};

/* The next field; false when the message is damaged. To be called while at < end. */
bool hd_protobuf_read(struct hd_protobuf *m, struct hd_protobuf_field *field);

/* What a SentencePiece model is made of. */
enum { HD_SPM_PIECE = 1, HD_SPM_TRAINER = 2, HD_SPM_NORMALIZER = 3, HD_SPM_DENORMALIZER = 5 };
enum { HD_SPM_MODEL_TYPE = 3 };                              /* of a trainer */
enum { HD_SPM_UNIGRAM = 1, HD_SPM_BPE = 2 };                 /* types of models, among others */
enum { HD_SPM_CHARSMAP = 2 };                                /* of a normalizer */
enum { HD_SPM_TEXT = 1, HD_SPM_SCORE = 2, HD_SPM_TYPE = 3 }; /* of a piece */
enum {
    HD_SPM_NORMAL = 1,
    HD_SPM_USER_DEFINED = 4,
    HD_SPM_BYTE = 6
}; /* types of pieces, likewise */

#endif
