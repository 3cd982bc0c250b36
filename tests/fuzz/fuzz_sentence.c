/* fuzz_sentence.c -- any bytes at all as a text: its sentences follow each other without a gap and together are the text. The
 * first byte chooses the language. */
#include "fuzz/fuzz.h"

#include "text/sentence.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const languages[] = {NULL, "en", "de", "fr", "ru", "it", "ar", "xx"};
    if (size == 0)
        return 0;
    struct hd_sentences s;
    struct hd_span span;
    size_t end = 0;
    hd_sentences_begin(&s, (const char *)data + 1, size - 1, languages[data[0] % 8]);
    while (hd_sentences_next(&s, &span)) {
        must(span.begin == end && span.end > end && span.end < size);
        end = span.end;
    }
    must(end == size - 1);
    return 0;
}
