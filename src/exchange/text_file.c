/* text_file.c -- files with text in them, for programs: read, ask for texts, put translations, write. */
#include "exchange/text_file.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "text/character.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct hd_file_kind *const kinds[] = {&hd_po_kind, &hd_srt_kind, &hd_vtt_kind,
                                                   &hd_paragraph_kind};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* Files of texts with their translations. */
static const struct {
    const char *format, *what;
} pairs[] = {{"tmx", "a translation memory"}, {"csv", "a table"}};

/* ---- for kinds ----------------------------------------------------------------------------------- */

static char *copy(struct hd_text text, heed_error *err)
{
    char *to = hd_alloc(text.n + 1, 1, err);
    if (to && text.n > 0)
        memcpy(to, text.at, text.n);
    return to;
}

struct hd_file_unit *hd_file_add_unit(heed_file *file, struct hd_text text, heed_error *err)
{
    struct hd_file_unit *grown =
        hd_grow(file->units, &file->unit_capacity, file->n_units + 1, sizeof *grown, err);
    if (!grown)
        return NULL;
    file->units = grown;
    struct hd_file_unit *unit = &grown[file->n_units];
    *unit = (struct hd_file_unit){
        .text = copy(text, err), .has_tags = hd_has_tags(text), .flag = SIZE_MAX};
    if (!unit->text)
        return NULL;
    file->n_units++;
    return unit;
}

size_t hd_file_add_slot(heed_file *file, size_t begin, size_t end, heed_error *err)
{
    struct hd_slot *grown =
        hd_grow(file->slots, &file->slot_capacity, file->n_slots + 1, sizeof *grown, err);
    if (!grown)
        return SIZE_MAX;
    file->slots = grown;
    grown[file->n_slots] = (struct hd_slot){{begin, end}, NULL};
    return file->n_slots++;
}

bool hd_file_fill(heed_file *file, size_t slot, struct hd_text text, heed_error *err)
{
    char *filled = copy(text, err);
    if (!filled)
        return false;
    hd_free(file->slots[slot].text);
    file->slots[slot].text = filled;
    return true;
}

bool hd_file_warn(heed_file *file, heed_error *err, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char **grown =
        hd_grow(file->warnings, &file->warning_capacity, file->n_warnings + 1, sizeof *grown, err);
    if (!grown)
        return false;
    file->warnings = grown;
    char *warning = grown[file->n_warnings] = hd_copy_string(text, err);
    file->n_warnings += warning != NULL;
    return warning != NULL;
}

bool hd_has_tags(struct hd_text text)
{
    for (size_t i = 0; i + 1 < text.n; i++) {
        const char next = text.at[i + 1];
        const bool is_letter = (next | 32) >= 'a' && (next | 32) <= 'z';
        if ((text.at[i] == '<' && (is_letter || next == '/') &&
             memchr(text.at + i, '>', text.n - i)) ||
            (text.at[i] == '&' && (is_letter || next == '#') &&
             memchr(text.at + i, ';', text.n - i < 12 ? text.n - i : 12)))
            return true;
    }
    return false;
}

struct hd_text hd_file_line(const heed_file *file, size_t at, size_t *next)
{
    const char *end = memchr(file->bytes + at, '\n', file->n - at);
    size_t to = end ? (size_t)(end - file->bytes) : file->n;
    *next = end ? to + 1 : file->n;
    to -= to > at && file->bytes[to - 1] == '\r';
    return (struct hd_text){file->bytes + at, to - at};
}

/* ---- lines of about equal length ------------------------------------------------------------------ */

/* The space nearest to byte `ideal` within (from, to); `to` where there is none. */
static size_t nearest_space(struct hd_text text, size_t from, size_t ideal)
{
    for (size_t d = 0; d < text.n; d++) {
        if (ideal + d < text.n && text.at[ideal + d] == ' ')
            return ideal + d;
        if (ideal > from + d && text.at[ideal - d] == ' ')
            return ideal - d;
    }
    return text.n;
}

bool hd_wrap(struct hd_buffer *out, struct hd_text text, size_t width, const char *eol,
             heed_error *err)
{
    size_t from = 0, left = hd_utf8_count(text.at, text.n),
           n_lines = width > 0 ? (left + width - 1) / width : 1;
    bool ok = true;
    for (; ok && n_lines > 1 && from < text.n; n_lines--) {
        size_t ideal = from + (text.n - from) / n_lines;
        const size_t at = nearest_space(text, from, ideal);
        if (at == text.n)
            break;
        ok = hd_buffer_add(out, text.at + from, at - from, err) &&
             hd_buffer_add_string(out, eol, err);
        from = at + 1;
    }
    return ok && hd_buffer_add(out, text.at + from, text.n - from, err);
}

/* ---- the public functions -------------------------------------------------------------------------- */

const char *heed_file_format(const char *path)
{
    const size_t all = path ? strlen(path) : 0,
                 n = all > 3 && strcasecmp(path + all - 3, ".gz") == 0 ? all - 3 : all;
    size_t dot = n > 0 ? n - 1 : 0;
    while (dot > 0 && path[dot] != '.' && path[dot] != '/')
        dot--;
    char ending[8];
    if (n == 0 || path[dot] != '.' || n - dot + 2 > sizeof ending)
        return NULL;
    snprintf(ending, sizeof ending, "%.*s ", (int)(n - dot), path + dot);
    for (int i = 0; i < N_KINDS; i++)
        for (const char *at = kinds[i]->endings; *at; at++)
            if (strncasecmp(at, ending, strlen(ending)) == 0)
                return kinds[i]->name;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strncasecmp(ending + 1, pairs[i].format, strlen(pairs[i].format)) == 0 &&
            strlen(ending) == strlen(pairs[i].format) + 2)
            return pairs[i].format;
    return NULL;
}

static const struct hd_file_kind *find_kind(const char *format, const char *name, heed_error *err)
{
    for (int i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i]->name, format) == 0)
            return kinds[i];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(format, pairs[i].format) == 0) {
            hd_fail(err, HEED_BAD_OPTION,
                    "%s: %s can be learned from, not translated; write what is to be translated "
                    "into a file of its own, a text in each line, or say --format lines to have "
                    "the lines of this one translated as they are",
                    name, pairs[i].what);
            return NULL;
        }
    hd_fail(err, HEED_BAD_OPTION, "there is no format %s; there are po, srt, vtt and text",
            hd_quote(format).text);
    return NULL;
}

/* A copy of the bytes behind a byte order mark, that is UTF-8 and text. */
static bool take_bytes(heed_file *file, const char *bytes, size_t n, heed_error *err)
{
    const bool has_mark = n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0;
    size_t bad = n, line = 1;
    file->has_mark = has_mark;
    file->n = n - (has_mark ? 3 : 0);
    file->bytes = copy((struct hd_text){bytes + (has_mark ? 3 : 0), file->n}, err);
    if (!file->bytes)
        return false;
    const char *nul = file->n > 0 ? memchr(file->bytes, '\0', file->n) : NULL;
    const bool is_utf8 = hd_utf8_valid(file->bytes, file->n, &bad);
    bad = is_utf8 && nul ? (size_t)(nul - file->bytes) : bad;
    for (size_t i = 0; (!is_utf8 || nul) && i < bad; i++)
        line += file->bytes[i] == '\n';
    const char *newline = file->n > 0 ? memchr(file->bytes, '\n', file->n) : NULL;
    file->eol = newline > file->bytes && newline[-1] == '\r' ? "\r\n" : "\n";
    return (is_utf8 && !nul) ||
           hd_fail(err, HEED_BAD_TEXT,
                   "%s:%zu: not UTF-8; convert the file first, for example with iconv -f "
                   "WINDOWS-1252 -t UTF-8",
                   file->name, line);
}

heed_file *heed_file_read(const char *bytes, size_t n, const char *format, const char *name,
                          heed_error *err)
{
    if (!hd_is_given(bytes, "file's contents", err) || !hd_is_given(format, "format", err))
        return NULL;
    const struct hd_file_kind *kind = find_kind(format, name ? name : "the file", err);
    heed_file *file = kind ? hd_new(heed_file, err) : NULL;
    if (!file)
        return NULL;
    file->kind = kind;
    file->name = hd_copy_string(name ? name : "the file", err);
    if (file->name && take_bytes(file, bytes, n, err) && kind->read(file, err))
        return file;
    heed_file_free(file);
    return NULL;
}

void heed_file_free(heed_file *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->n_units; i++) {
        hd_free(file->units[i].text);
        hd_free(file->units[i].breaks);
    }
    for (size_t i = 0; i < file->n_slots; i++)
        hd_free(file->slots[i].text);
    for (size_t i = 0; i < file->n_warnings; i++)
        hd_free(file->warnings[i]);
    hd_free(file->units);
    hd_free(file->slots);
    hd_free(file->warnings);
    hd_free(file->bytes);
    hd_free(file->language);
    hd_free(file->name);
    hd_free(file);
}

size_t heed_file_size(const heed_file *file)
{
    return file ? file->n_units : 0;
}

const char *heed_file_text(const heed_file *file, size_t i)
{
    return file && i < file->n_units ? file->units[i].text : NULL;
}

size_t heed_file_line(const heed_file *file, size_t i)
{
    return file && i < file->n_units ? file->units[i].line : 0;
}

bool heed_file_has_tags(const heed_file *file, size_t i)
{
    return file && i < file->n_units && file->units[i].has_tags;
}

const char *heed_file_language(const heed_file *file)
{
    return file ? file->language : NULL;
}

const char *heed_file_warning(const heed_file *file, size_t i)
{
    return file && i < file->n_warnings ? file->warnings[i] : NULL;
}

bool heed_file_put(heed_file *file, size_t i, const char *translation, heed_error *err)
{
    if (!hd_is_given(file, "file", err) || !hd_is_given(translation, "translation", err))
        return false;
    if (i >= file->n_units)
        return hd_fail(err, HEED_BAD_OPTION, "%s has %zu texts, and no number %zu", file->name,
                       file->n_units, i);
    return file->kind->put(file, &file->units[i], translation, err);
}

char *heed_file_write(const heed_file *file, heed_error *err)
{
    struct hd_buffer out = {0};
    if (!hd_is_given(file, "file", err))
        return NULL;
    size_t at = 0;
    bool ok = hd_buffer_add(&out, "\xEF\xBB\xBF", file->has_mark ? 3 : 0, err);
    for (size_t i = 0; ok && i < file->n_slots; i++) {
        const struct hd_slot *s = &file->slots[i];
        if (!s->text)
            continue;
        ok = hd_buffer_add(&out, file->bytes + at, s->span.begin - at, err) &&
             hd_buffer_add_string(&out, s->text, err);
        at = s->span.end;
    }
    ok = ok && hd_buffer_add(&out, file->bytes + at, file->n - at, err) &&
         hd_buffer_add(&out, "", 1, err);
    if (ok)
        return out.at;
    hd_buffer_release(&out);
    return NULL;
}
