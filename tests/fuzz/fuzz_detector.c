/* fuzz_detector.c -- any bytes at all as a detector of languages, and as text for one: probabilities that add up to 1, or a sentence.
 * Rows of weights are too many for a small file, so zeros follow the bytes. */
#include "fuzz/fuzz.h"

#include "text/detector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 4096, ROOM = MOST + HD_MOST_LANGUAGES * HD_DETECTOR_ROWS };
    static char bytes[ROOM];
    const char *end = size > 0 && size < MOST ? memchr(data, '\n', size) : NULL;
    if (!end)
        return 0;
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, data, size);
    const size_t head = (size_t)(end - (const char *)data) + 1;
    size_t n_spaces = 0;
    for (size_t i = 0; i < head; i++)
        n_spaces += data[i] == ' ';
    const size_t n = n_spaces > 2 ? n_spaces - 2 : 0;
    heed_error err = {0};
    struct hd_detector *d = hd_detector_from_memory(
        bytes, n <= HD_MOST_LANGUAGES ? head + n * HD_DETECTOR_ROWS : size, &err);
    must(d || err.message[0]);
    if (d) {
        double p[HD_MOST_LANGUAGES], sum = 0;
        hd_detect(d, (const char *)data, size, p);
        for (int i = 0; i < hd_detector_size(d); i++)
            sum += p[i];
        must(sum > 0.999 && sum < 1.001);
    }
    hd_detector_free(d);
    return 0;
}
