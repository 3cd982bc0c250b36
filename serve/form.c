/* form.c -- bodies of requests are taken apart. Nothing in them is believed: whatever the bytes are, what comes out lies in them. */
#define _GNU_SOURCE /* memmem, strcasestr */
#include "serve/form.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <string.h>
#include <strings.h>

enum { MOST_FIELDS = 100000, LONGEST_BOUNDARY = 70 };

enum hd_form_kind hd_form_kind(const char *type)
{
    static const struct {
        const char *name;
        enum hd_form_kind kind;
    } kinds[] = {{"application/json", HD_FORM_JSON},
                 {"application/x-www-form-urlencoded", HD_FORM_URLENCODED},
                 {"multipart/form-data", HD_FORM_MULTIPART}};
    for (size_t i = 0; type && i < sizeof kinds / sizeof *kinds; i++) {
        const size_t n = strlen(kinds[i].name);
        if (strncasecmp(type, kinds[i].name, n) == 0 && strchr("; \t", type[n]))
            return kinds[i].kind;
    }
    return HD_FORM_NONE;
}

/* ---- fields ------------------------------------------------------------------------------------------ */

/* A string of any bytes: what is no character becomes U+FFFD, a NUL as well, since a C string ends there. */
static json_t *string_of(const char *bytes, size_t n)
{
    if (hd_utf8_valid(bytes, n, NULL) && !memchr(bytes, '\0', n))
        return json_stringn(bytes, n);
    struct hd_bytes text = {0};
    hd_bytes_add(&text, "", 0);
    for (size_t i = 0; i < n;) {
        const int length = hd_utf8_decode(bytes + i, n - i, NULL);
        if (length > 0 && bytes[i])
            hd_bytes_add(&text, bytes + i, (size_t)length);
        else
            hd_bytes_text(&text, "\xEF\xBF\xBD");
        i += length > 0 ? (size_t)length : 1;
    }
    json_t *string = text.has_failed ? NULL : json_stringn(text.at, text.n);
    hd_free(text.at);
    return string;
}

bool hd_form_add(json_t *form, const char *name, size_t n_name, const char *value, size_t n)
{
    json_t *key = string_of(name, n_name), *text = string_of(value, n);
    bool ok = key && text;
    json_t *there = ok ? json_object_get(form, json_string_value(key)) : NULL;
    if (ok && !there)
        ok = json_object_set(form, json_string_value(key), text) == 0;
    else if (ok && json_is_array(there))
        ok = json_array_size(there) >= MOST_FIELDS || json_array_append(there, text) == 0;
    else if (ok) {
        json_t *both = json_array();
        ok = both && json_array_append(both, there) == 0 && json_array_append(both, text) == 0 &&
             json_object_set(form, json_string_value(key), both) == 0;
        json_decref(both);
    }
    json_decref(key);
    json_decref(text);
    return ok;
}

const char *hd_form_text(const json_t *form, const char *name)
{
    return json_string_value(json_object_get(form, name));
}

int hd_form_truth_of(const json_t *value)
{
    static const char *const yes[] = {"true", "yes", "on", "1"}, *const no[] = {"false", "no",
                                                                                "off", "0"};
    const char *text = json_string_value(value);
    if (json_is_boolean(value))
        return json_is_true(value);
    if (json_is_integer(value) &&
        (json_integer_value(value) == 0 || json_integer_value(value) == 1))
        return (int)json_integer_value(value);
    for (size_t i = 0; text && i < sizeof yes / sizeof *yes; i++) {
        if (strcasecmp(text, yes[i]) == 0)
            return 1;
        if (strcasecmp(text, no[i]) == 0)
            return 0;
    }
    return -1;
}

int hd_form_truth(const json_t *form, const char *name)
{
    return hd_form_truth_of(json_object_get(form, name));
}

/* ---- application/x-www-form-urlencoded ------------------------------------------------------------------ */

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* from[0..n) with + and %41 read, written to `to`, which has room for n bytes and may be `from`. */
static size_t unescape(char *to, const char *from, size_t n)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        const int high = from[i] == '%' && n - i > 2 ? hex(from[i + 1]) : -1,
                  low = high >= 0 ? hex(from[i + 2]) : -1;
        to[m++] = low >= 0 ? (char)(16 * high + low) : from[i] == '+' ? ' ' : from[i];
        i += low >= 0 ? 2 : 0;
    }
    return m;
}

static bool read_urlencoded(json_t *form, const char *body, size_t n)
{
    char *copy = hd_alloc(n + 1, 1, NULL);
    bool ok = copy != NULL;
    for (size_t i = 0; ok && i < n;) {
        const char *end = memchr(body + i, '&', n - i);
        const size_t length = end ? (size_t)(end - body) - i : n - i;
        const char *equals = memchr(body + i, '=', length);
        const size_t n_name = equals ? (size_t)(equals - body) - i : length,
                     n_name_read = unescape(copy, body + i, n_name),
                     n_value =
                         equals ? unescape(copy + n_name, equals + 1, length - n_name - 1) : 0;
        ok = length == 0 || hd_form_add(form, copy, n_name_read, copy + n_name, n_value);
        i += length + 1;
    }
    hd_free(copy);
    return ok;
}

/* ---- multipart/form-data ------------------------------------------------------------------------------------ */

/* The value of a parameter such as boundary=x or name="x" in head[0..n); its length, -1 where there is none. */
static long parameter(const char *head, size_t n, const char *name, const char **value)
{
    const size_t n_name = strlen(name);
    for (size_t i = 0; i + n_name < n; i++) {
        const bool begins = i == 0 || strchr("; \t", head[i - 1]);
        if (!begins || strncasecmp(head + i, name, n_name) != 0 || head[i + n_name] != '=')
            continue;
        const char *from = head + i + n_name + 1, *end = head + n;
        const bool is_quoted = from < end && *from == '"';
        from += is_quoted;
        const char *to = from;
        while (to < end && (is_quoted ? *to != '"' : !strchr("; \t\r\n", *to)))
            to++;
        *value = from;
        return to - from;
    }
    return -1;
}

/* The line of a part's head that says what the part is. */
static const char *disposition(const char *head, size_t n, size_t *length)
{
    static const char name[] = "content-disposition:";
    for (size_t i = 0; i < n;) {
        const char *end = memchr(head + i, '\n', n - i);
        const size_t line = end ? (size_t)(end - head) - i : n - i;
        if (line >= sizeof name - 1 && strncasecmp(head + i, name, sizeof name - 1) == 0) {
            *length = line;
            return head + i;
        }
        i += line + 1;
    }
    return NULL;
}

/* A part: its head, an empty line, its value. */
static bool read_part(json_t *form, const char *part, size_t n)
{
    const char *gap = memmem(part, n, "\r\n\r\n", 4), *name = NULL, *file = NULL;
    size_t n_line = 0;
    const char *line = gap ? disposition(part, (size_t)(gap - part), &n_line) : NULL;
    const long n_name = line ? parameter(line, n_line, "name", &name) : -1,
               n_file = line ? parameter(line, n_line, "filename", &file) : -1;
    if (n_name <= 0)
        return line != NULL || gap != NULL; /* a part without a name says nothing */
    const char *value = gap + 4;
    if (!hd_form_add(form, name, (size_t)n_name, value, (size_t)(part + n - value)))
        return false;
    char key[128];
    if (n_file < 0 || (size_t)n_name + sizeof ".filename" > sizeof key)
        return true;
    memcpy(key, name, (size_t)n_name);
    memcpy(key + n_name, ".filename", sizeof ".filename");
    return hd_form_add(form, key, (size_t)n_name + sizeof ".filename" - 1, file, (size_t)n_file);
}

/* Parts stand between lines of two dashes and the boundary; two more dashes end them. */
static bool read_multipart(json_t *form, const char *type, const char *body, size_t n)
{
    const char *boundary = NULL;
    const long length = parameter(type, strlen(type), "boundary", &boundary);
    if (length <= 0 || length > LONGEST_BOUNDARY)
        return false;
    char mark[LONGEST_BOUNDARY + 4] = "\r\n--";
    memcpy(mark + 4, boundary, (size_t)length);
    const size_t n_mark = 4 + (size_t)length;
    const char *end = body + n, *at = body;
    if (n == 0)
        return true;
    if (n < n_mark - 2 ||
        memcmp(at, mark + 2, n_mark - 2) != 0) /* the first has no line before it */
        at = memmem(at, n, mark, n_mark);
    else
        at -= 2; /* as if there were one; only what is behind the mark is read */
    for (int i = 0; at && i < MOST_FIELDS; i++) {
        const char *part = at + n_mark;
        if (end - part < 2 || memcmp(part, "--", 2) == 0)
            return end - part >= 2;
        const char *next = memmem(part, (size_t)(end - part), mark, n_mark);
        if (!next || !read_part(form, part, (size_t)(next - part)))
            return false;
        at = next;
    }
    return false;
}

/* ---- application/json --------------------------------------------------------------------------------------- */

/* The number of an escape \uXXXX that begins a text; -1: it begins otherwise. */
static long escaped(const char *text, size_t n)
{
    long x = 0;
    if (n < 6 || text[0] != '\\' || text[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        if (hex(text[i]) < 0)
            return -1;
        x = 16 * x + hex(text[i]);
    }
    return x;
}

/* Escapes that stand for no character, or for a NUL, become that of U+FFFD. */
static void mend_escapes(char *text, size_t n)
{
    for (size_t i = 0; i + 1 < n;) {
        const long x = escaped(text + i, n - i);
        const bool is_high = x >= 0xD800 && x < 0xDC00, is_low = x >= 0xDC00 && x < 0xE000;
        const long next = is_high ? escaped(text + i + 6, n - i - 6) : -1;
        const bool is_pair = next >= 0xDC00 && next < 0xE000;
        if (x == 0 || is_low || (is_high && !is_pair))
            memcpy(text + i + 2, (const char[4]){'F', 'F', 'F', 'D'}, 4);
        i += is_pair ? 12 : x >= 0 ? 6 : text[i] == '\\' ? 2 : 1;
    }
}

static bool read_json(json_t *form, const char *body, size_t n)
{
    const size_t skipped = n >= 3 && memcmp(body, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    char *copy = hd_alloc(n + 1, 1, NULL);
    if (!copy)
        return false;
    n -= skipped;
    memcpy(copy, body + skipped, n);
    mend_escapes(copy, n);
    json_t *said = json_loadb(copy, n, JSON_REJECT_DUPLICATES, NULL);
    const bool ok = json_is_object(said) && json_object_update(form, said) == 0;
    json_decref(said);
    hd_free(copy);
    return ok;
}

bool hd_form_read(json_t *form, const char *type, const char *body, size_t n)
{
    switch (hd_form_kind(type)) {
    case HD_FORM_URLENCODED:
        return read_urlencoded(form, body ? body : "", n);
    case HD_FORM_MULTIPART:
        return read_multipart(form, type, body ? body : "", n);
    case HD_FORM_JSON:
        return read_json(form, body ? body : "", n);
    case HD_FORM_NONE:
        break;
    }
    return true;
}
