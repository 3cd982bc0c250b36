/* spm_check.h -- is it safe to let the SentencePiece library read these bytes?
 *
 * The library trusts the table of character rules inside a model: one wrong bit there, and it
 * reads outside of its memory. So the table is checked before the library sees it. */
#ifndef HD_TEXT_SPM_CHECK_H
#define HD_TEXT_SPM_CHECK_H

#include <heed.h>

/* False with the reason in `err`: HEED_BAD_MODEL when the bytes are no model that can be read
 * safely, HEED_NO_MEMORY. What passes may still be refused by the library itself. */
bool hd_spm_check(const void *data, size_t size, heed_error *err);

#endif
