/* error.c -- a failure is a code and a sentence; the first is kept.
 *
 * Invariant: a message is empty or whole characters of UTF-8 with its NUL inside the buffer,
 * however long the file names in it were. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void cut_between_characters(char *text, size_t length);

void hd_note_failure(heed_error *err, enum heed_code code, const char *format, ...)
{
    if (!err || err->code != HEED_OK)
        return;
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    err->code = code;
    if (length < 0)
        err->message[0] = '\0';
    else if ((size_t)length >= sizeof err->message)
        cut_between_characters(err->message, sizeof err->message - 1);
}

bool hd_failed(const heed_error *err)
{
    return err && err->code != HEED_OK;
}

/* The text was cut off after `length` bytes: end it with "..." at the start of a character. */
static void cut_between_characters(char *text, size_t length)
{
    size_t end = length - 3;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    memcpy(text + end, "...", 4);
}

bool hd_is_given(const void *argument, const char *what, heed_error *err)
{
    return argument || hd_fail(err, HEED_BAD_OPTION, "there is no %s; it is NULL", what);
}
