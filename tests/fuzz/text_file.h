/* text_file.h -- any bytes as a file to be translated: a sentence, or texts that can be put back; what is then written can be read again. */
#ifndef HD_FUZZ_TEXT_FILE_H
#define HD_FUZZ_TEXT_FILE_H

#include "fuzz/fuzz.h"

#include "base/utf8.h"

#include <heed.h>
#include <string.h>

static inline int fuzz_text_file(const char *format, const uint8_t *data, size_t size)
{
    heed_error err = {0};
    heed_file *file = heed_file_read((const char *)data, size, format, "fuzz", &err);
    must((file != NULL) == (err.message[0] == '\0'));
    if (!file)
        return 0;
    for (size_t i = 0; i < heed_file_size(file); i++) {
        const char *text = heed_file_text(file, i);
        must(hd_utf8_valid(text, strlen(text), NULL) && heed_file_line(file, i) > 0);
        must(heed_file_put(file, i, text, &err));
    }
    char *written = heed_file_write(file, &err);
    must(written && hd_utf8_valid(written, strlen(written), NULL));
    heed_file *again = heed_file_read(written, strlen(written), format, "again", &err);
    must(again != NULL);
    heed_file_free(again);
    heed_free(written);
    heed_file_free(file);
    return 0;
}
#endif
