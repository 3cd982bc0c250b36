/* fuzz_csv.c -- any bytes at all as a table: a sentence, or lines of two columns. */
#include "fuzz/fuzz.h"

#include "base/utf8.h"
#include "exchange/pair_writer.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    heed_error err = {0};
    const struct hd_direction direction = {"en", "fr"};
    struct hd_pair_writer writer = {.fd = -1, .name = "fuzz"};
    const bool ok =
        hd_csv_read(&writer, (const char *)data, size, size % 2 ? &direction : NULL, &err);
    must(ok == (err.message[0] == '\0'));
    size_t n_lines = 0;
    for (size_t i = 0, n_tabs = 0; i < writer.buffer.n; i++) {
        n_tabs += writer.buffer.at[i] == '\t';
        if (writer.buffer.at[i] == '\n') {
            must(n_tabs == 1);
            n_tabs = 0;
            n_lines++;
        }
    }
    must(n_lines == writer.counts.n && hd_utf8_valid(writer.buffer.at, writer.buffer.n, NULL));
    hd_buffer_release(&writer.buffer);
    return 0;
}
