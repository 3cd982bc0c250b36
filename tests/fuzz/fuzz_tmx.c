/* fuzz_tmx.c -- any bytes at all as a translation memory: a sentence, or units whose segments are UTF-8. The module's parts are inside this program. */
#include "fuzz/fuzz.h"

#include "base/utf8.h"
#include "markup/markup.h"

#include <string.h>

struct bytes {
    const uint8_t *at;
    size_t n;
};

/* A few at a time, as from a slow pipe. */
static bool next(void *context, char *to, size_t room, size_t *n, heed_error *err)
{
    struct bytes *b = context;
    (void)err;
    *n = b->n < 100 && b->n < room ? b->n : 100;
    memcpy(to, b->at, *n);
    b->at += *n;
    b->n -= *n;
    return true;
}

static bool unit(void *context, const struct hd_tmx_variant *variants, size_t n,
                 const char *source_language, size_t line, heed_error *err)
{
    (void)context, (void)err;
    must(strlen(source_language) < 32 && line > 0);
    for (size_t i = 0; i < n; i++)
        must(strlen(variants[i].language) < 32 &&
             hd_utf8_valid(variants[i].text, variants[i].n, NULL));
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    heed_error err = {0};
    struct bytes bytes = {data, size};
    const struct hd_tmx_reading reading = {"fuzz", next, unit, &bytes};
    const bool ok = hd_markup_module.read_tmx(&reading, &err);
    must(ok == (err.message[0] == '\0'));
    return 0;
}
