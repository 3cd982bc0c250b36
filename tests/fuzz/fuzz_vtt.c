/* fuzz_vtt.c -- any bytes at all as a file of the format vtt. */
#include "fuzz/text_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_file("vtt", data, size);
}
