/* nfc.h -- Unicode's normal form C: "é" is one character, however it was typed. */
#ifndef HD_TEXT_NFC_H
#define HD_TEXT_NFC_H

#include "text/lines.h"

#include <stdint.h>

/* A text in NFC. `memory` is to be given to hd_free(); it is NULL when the text was so already, and
 * is itself the answer. */
struct hd_nfc {
    struct hd_text text;
    char *memory;
};

/* `text` is valid UTF-8 and outlives the answer. False without memory. */
bool hd_nfc(struct hd_nfc *out, struct hd_text text, heed_error *err);

/* The characters that one is made of, "e" and an accent; 0 when it is made of itself alone. `out`
 * has room for four. */
int hd_nfd_of(uint32_t out[4], uint32_t cp);

#endif
