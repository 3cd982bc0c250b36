/* other_kind.c -- the first bytes of files that people have when they are asked for text. */
#include "text/other_kind.h"

#include "base/error.h"

#include <string.h>
#include <strings.h>

enum { LOOK = 4096 }; /* bytes that are looked at */

static const struct kind {
    const char *begins;
    size_t n;
    const char *is, *advice;
} kinds[] = {
    {"%PDF-", 5, "a PDF", "take its text out first, with pdftotext"},
    {"PK\3\4", 4, "a zip archive, or a document that is one (.docx, .xlsx)",
     "unpack it, or save the document as plain text"},
    {"\xFD"
     "7zXZ",
     6, "compressed by xz", "unpack it first, with xz -d"},
    {"BZh", 3, "compressed by bzip2", "unpack it first, with bzip2 -d"},
    {"\x28\xB5\x2F\xFD", 4, "compressed by zstd", "unpack it first, with zstd -d"},
    {"7z\xBC\xAF", 4, "a 7z archive", "unpack it first"},
    {"\xD0\xCF\x11\xE0", 4, "an office document", "save it as plain text"},
    {"{\\rtf", 5, "an RTF document", "save it as plain text"},
    {"\x7F"
     "ELF",
     4, "a program", "name a file of text"},
};

static const struct markup {
    const char *tag, *is, *advice;
} markups[] = {
    {"<tmx", "a TMX translation memory", "give it as --tsv FILE.tmx, or as --pair en-fr=FILE.tmx"},
    {"<xliff", "an XLIFF file", "write its segments as lines of source, TAB, target"},
    {"<html", "a page of HTML", "take its text out first, a sentence a line"},
    {"<!DOCTYPE html", "a page of HTML", "take its text out first, a sentence a line"},
};

static bool fail(const char *name, const char *is, const char *advice, heed_error *err)
{
    return hd_fail(err, HEED_BAD_TEXT, "%s: this is %s, not lines of text; %s", name, is, advice);
}

/* A mark, or every other byte 0 as Latin letters have it. */
static bool is_utf16(const char *bytes, size_t n)
{
    if (n >= 2 && (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "\xFE\xFF", 2) == 0))
        return true;
    size_t zeros[2] = {0, 0};
    const size_t look = n < 64 ? n / 2 * 2 : 64;
    for (size_t i = 0; i < look; i++)
        zeros[i % 2] += bytes[i] == 0;
    return look >= 8 &&
           ((zeros[0] == 0 && zeros[1] == look / 2) || (zeros[1] == 0 && zeros[0] == look / 2));
}

/* Columns of another kind, where there is no TAB far and wide. */
static const char *columns_of(const char *bytes, size_t n)
{
    const char *end = memchr(bytes, '\n', n);
    const size_t line = end ? (size_t)(end - bytes) : n;
    if (memchr(bytes, '\t', n) || n == 0)
        return NULL;
    if (bytes[0] == '{' || bytes[0] == '[')
        return "JSON";
    return memchr(bytes, ',', line) || memchr(bytes, ';', line) ? "CSV, columns with commas" : NULL;
}

/* Two columns of CSV where lines of one text are wanted: by its name, or each line of several has one quoted field after the other. Commas
 * alone are in every text. */
static bool is_csv(const char *name, const char *bytes, size_t n)
{
    const size_t length = strlen(name);
    if (length > 4 && strcasecmp(name + length - 4, ".csv") == 0)
        return true;
    int n_lines = 0;
    for (const char *end; (end = memchr(bytes, '\n', n)); n_lines++) {
        const size_t line = (size_t)(end - bytes);
        bool has_fields = false;
        for (size_t i = 0; bytes[0] == '"' && i + 3 <= line; i++)
            has_fields = has_fields || memcmp(bytes + i, "\",\"", 3) == 0;
        if (!has_fields)
            return false;
        bytes = end + 1;
        n -= line + 1;
    }
    return n_lines >= 2;
}

bool hd_check_kind(const char *name, const char *bytes, size_t n, bool is_tsv, heed_error *err)
{
    n = n < LOOK ? n : LOOK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (n >= kinds[i].n && memcmp(bytes, kinds[i].begins, kinds[i].n) == 0)
            return fail(name, kinds[i].is, kinds[i].advice, err);
    if (is_utf16(bytes, n))
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s: this is UTF-16, not UTF-8; convert it first, with iconv -f UTF-16 -t "
                       "UTF-8",
                       name);
    if (n > 0 && bytes[0] == '<')
        for (size_t i = 0; i < sizeof markups / sizeof *markups; i++)
            for (size_t at = 0, m = strlen(markups[i].tag); at + m <= n; at++)
                if (strncasecmp(bytes + at, markups[i].tag, m) == 0)
                    return fail(name, markups[i].is, markups[i].advice, err);
    if (!is_tsv && is_csv(name, bytes, n))
        return fail(name, "CSV", "give it as --tsv FILE.csv, or as --pair en-fr=FILE.csv", err);
    const char *columns = is_tsv ? columns_of(bytes, n) : NULL;
    if (columns)
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s: this looks like %s, not like source TAB target; write it with TABs, or "
                       "%s",
                       name, columns,
                       columns[0] == 'C' ? "say --format csv" : "as two files for --src and --tgt");
    return true;
}
