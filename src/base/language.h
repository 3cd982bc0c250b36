/* language.h -- what people call languages: en, eng, English. */
#ifndef HD_BASE_LANGUAGE_H
#define HD_BASE_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

/* "French"; the code itself where the name is not known. */
const char *hd_language_name(const char *code);

/* Do the n bytes name a language: by a code of two or three letters or its English name, in either case, with a region or without (en-US, English (US))? */
bool hd_language_is_known(const char *text, size_t n);

/* Do they name this one, that is called by any of its names? */
bool hd_language_is(const char *text, size_t n, const char *wanted);

/* Is this code the language, "en" for "en-US" and "EN_us" as well? */
bool hd_language_fits(const char *language, size_t n, const char *wanted);
#endif
