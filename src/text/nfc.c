/* nfc.c -- normal form C by utf8proc, into our own memory. */
#include "text/nfc.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>
#include <utf8proc.h>

/* Below U+0300, where the accents begin, all text is NFC. */
static bool may_need_it(struct hd_text text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.at[i] >= 0xCC)
            return true;
    return false;
}

bool hd_nfc(struct hd_nfc *out, struct hd_text text, heed_error *err)
{
    *out = (struct hd_nfc){.text = text};
    if (!may_need_it(text))
        return true;
    const utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)text.at;
    const utf8proc_ssize_t n_bytes = (utf8proc_ssize_t)text.n;
    utf8proc_ssize_t n = utf8proc_decompose(bytes, n_bytes, NULL, 0, options);
    utf8proc_int32_t *buffer =
        n < 0 ? NULL : hd_alloc((size_t)n + 1, sizeof *buffer, err); /* and a NUL */
    if (buffer) {
        n = utf8proc_decompose(bytes, n_bytes, buffer, n, options);
        n = n < 0 ? n : utf8proc_reencode(buffer, n, options);
    }
    if (n < 0) {
        hd_free(buffer);
        return hd_fail(err, HEED_BAD_TEXT, "the text cannot be normalised: %s", utf8proc_errmsg(n));
    }
    if (!buffer)
        return false;
    const char *normal = (const char *)buffer;
    if ((size_t)n == text.n && memcmp(normal, text.at, text.n) == 0)
        hd_free(buffer);
    else
        *out = (struct hd_nfc){{normal, (size_t)n}, (char *)buffer};
    return true;
}

int hd_nfd_of(uint32_t out[4], uint32_t cp)
{
    utf8proc_int32_t parts[4];
    const utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)cp, parts, 4,
                                                       UTF8PROC_STABLE | UTF8PROC_DECOMPOSE, NULL);
    if (n < 1 || n > 4 || (uint32_t)parts[0] == cp)
        return 0;
    for (int i = 0; i < n; i++)
        out[i] = (uint32_t)parts[i];
    return (int)n;
}
