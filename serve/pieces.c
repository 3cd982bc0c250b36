/* pieces.c -- texts are cut at the ends of lines, markup at its tags. */
#define _GNU_SOURCE /* memmem */
#include "serve/pieces.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool add(struct hd_pieces *p, size_t begin, size_t end, char *text)
{
    if (begin == end)
        return true;
    struct hd_piece *grown = hd_grow(p->at, &p->capacity, p->n + 1, sizeof *grown, NULL);
    if (!grown) {
        hd_free(text);
        return false;
    }
    p->at = grown;
    p->at[p->n++] = (struct hd_piece){.begin = begin, .end = end, .text = text};
    p->n_translated += text != NULL;
    return true;
}

static char *copy(const char *from, size_t n)
{
    char *text = hd_alloc(n + 1, 1, NULL);
    if (text)
        memcpy(text, from, n);
    return text;
}

/* ---- lines --------------------------------------------------------------------------------------------------- */

static bool cut_lines(struct hd_pieces *p)
{
    const char *t = p->whole;
    for (size_t i = 0; t[i];) {
        const size_t n = strcspn(t + i, "\r\n"), blank = strspn(t + i, " \t");
        char *text = blank < n ? copy(t + i, n) : NULL;
        if ((blank < n && !text) || !add(p, i, i + n, text))
            return false;
        const size_t ends = strspn(t + i + n, "\r\n");
        if (!add(p, i + n, i + n + ends, NULL))
            return false;
        i += n + ends;
    }
    return true;
}

/* ---- characters with names -------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint32_t cp;
} entities[] = {
    {"lt", '<'},       {"gt", '>'},        {"quot", '"'},     {"apos", '\''},    {"nbsp", 0xA0},
    {"ndash", 0x2013}, {"mdash", 0x2014},  {"lsquo", 0x2018}, {"rsquo", 0x2019}, {"ldquo", 0x201C},
    {"rdquo", 0x201D}, {"hellip", 0x2026}, {"laquo", 0xAB},   {"raquo", 0xBB},   {"euro", 0x20AC},
    {"copy", 0xA9},    {"eacute", 0xE9},   {"egrave", 0xE8},  {"agrave", 0xE0},  {"ccedil", 0xE7},
    {"auml", 0xE4},    {"ouml", 0xF6},     {"uuml", 0xFC},    {"szlig", 0xDF},
};

/* The character that text[0..n), which begins with &, is the name of; 0: of none. */
static uint32_t entity(const char *text, size_t n, size_t *length)
{
    const char *end = memchr(text, ';', n < 12 ? n : 12);
    if (!end)
        return 0;
    *length = (size_t)(end - text) + 1;
    if (text[1] == '#') {
        const bool is_hex = text[2] == 'x' || text[2] == 'X';
        char *stop;
        const unsigned long cp = strtoul(text + 2 + is_hex, &stop, is_hex ? 16 : 10);
        return stop == end && cp >= 0x20 && cp <= 0x10FFFF && (cp < 0xD800 || cp > 0xDFFF) &&
                       isxdigit((unsigned char)text[2 + is_hex])
                   ? (uint32_t)cp
                   : 0;
    }
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
        if (strlen(entities[i].name) == *length - 2 &&
            strncmp(entities[i].name, text + 1, *length - 2) == 0)
            return entities[i].cp;
    return 0;
}

static bool looks_like_entity(const char *text)
{
    size_t n = 1 + (text[1] == '#');
    while (n < 12 && isalnum((unsigned char)text[n]))
        n++;
    return n > 1 && text[n] == ';';
}

/* What is between tags, as plain text: &lt; is <, and white space is one space. &amp; becomes & unless that would make a name of
 * what follows. */
static char *plain(const char *from, size_t n)
{
    struct hd_bytes text = {0};
    hd_bytes_add(&text, "", 0);
    for (size_t i = 0; i < n;) {
        size_t length = 1;
        char bytes[4];
        const uint32_t cp = from[i] == '&' ? entity(from + i, n - i, &length) : 0;
        const int m = cp ? hd_utf8_encode(bytes, cp) : 0;
        if (m > 0) {
            hd_bytes_add(&text, bytes, (size_t)m);
            i += length;
        } else if (n - i >= 5 && strncmp(from + i, "&amp;", 5) == 0) {
            char ahead[16];
            snprintf(ahead, sizeof ahead, "&%.*s", (int)(n - i - 5 < 13 ? n - i - 5 : 13),
                     from + i + 5);
            hd_bytes_text(&text, looks_like_entity(ahead) ? "&amp;" : "&");
            i += 5;
        } else if (is_space(from[i])) {
            hd_bytes_add(&text, " ", 1);
            while (i < n && is_space(from[i]))
                i++;
        } else
            hd_bytes_add(&text, from + i++, 1);
    }
    if (text.has_failed) {
        hd_free(text.at);
        return NULL;
    }
    return text.at;
}

/* And back. */
static void add_escaped(struct hd_bytes *out, const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c == '<')
            hd_bytes_text(out, "&lt;");
        else if (*c == '>')
            hd_bytes_text(out, "&gt;");
        else if (*c == '&' && !looks_like_entity(c))
            hd_bytes_text(out, "&amp;");
        else if (strncmp(c, "\xC2\xA0", 2) == 0) {
            hd_bytes_text(out, "&nbsp;");
            c++;
        } else
            hd_bytes_add(out, c, 1);
}

/* ---- tags -------------------------------------------------------------------------------------------------------- */

enum { LONGEST_TAG = 8192 }; /* so that a text of beginnings without ends takes no time */

struct tag {
    size_t end; /* behind its > */
    char name[24];
    bool is_end, is_alone; /* </p>; <br/> */
    bool is_kept;          /* translate="no" */
};

static size_t name_length(const char *t)
{
    size_t n = 0;
    while (isalnum((unsigned char)t[n]) || t[n] == '-' || t[n] == ':')
        n++;
    return n;
}

/* Does the tag say that what is in it stays? */
static bool says_no(const char *t, size_t n)
{
    static const char *const signs[] = {"translate=\"no\"", "translate='no'", "translate=no",
                                        "notranslate"};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
            if (n - i >= strlen(signs[k]) && strncasecmp(t + i, signs[k], strlen(signs[k])) == 0)
                return true;
    return false;
}

/* The tag, comment or declaration at t[at], if one begins there. */
static bool read_tag(const char *t, size_t at, struct tag *tag)
{
    const char *begin = t + at, *end = NULL;
    *tag = (struct tag){0};
    if (strncmp(begin, "<!--", 4) == 0) {
        end = strstr(begin + 4, "-->");
        tag->end = end ? (size_t)(end - t) + 3 : at + strlen(begin);
        tag->is_alone = true;
        return true;
    }
    const bool is_declaration = begin[1] == '!' || begin[1] == '?';
    tag->is_end = begin[1] == '/';
    if (!is_declaration && !isalpha((unsigned char)begin[1 + tag->is_end]))
        return false;
    char quote = 0;
    for (end = begin + 1; *end && end - begin < LONGEST_TAG && (quote || *end != '>'); end++)
        if (quote ? *end == quote : *end == '"' || *end == '\'')
            quote = quote ? 0 : *end;
    if (quote || *end != '>')
        return false;
    tag->end = (size_t)(end - t) + 1;
    tag->is_alone = is_declaration || end[-1] == '/';
    const char *name = begin + 1 + tag->is_end;
    snprintf(tag->name, sizeof tag->name, "%.*s", (int)name_length(name), name);
    tag->is_kept = !tag->is_end && says_no(begin, (size_t)(end - begin));
    return true;
}

static bool is_among(const char *const *names, const char *name)
{
    while (*names && strcasecmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static bool has_no_end(const char *name)
{
    static const char *const names[] = {"area",  "base",   "br",    "col",  "embed",
                                        "hr",    "img",    "input", "link", "meta",
                                        "param", "source", "track", "wbr",  NULL};
    return is_among(names, name);
}

static bool is_code(const char *name)
{
    static const char *const names[] = {"script", "style", "code", "kbd",      "samp",
                                        "var",    "math",  "svg",  "textarea", NULL};
    return is_among(names, name);
}

/* Where the element that the tag opens ends: behind its own end tag, or at the end of the text. */
static size_t element_end(const char *t, const struct tag *open)
{
    size_t depth = 1, i = open->end;
    const bool is_raw =
        strcasecmp(open->name, "script") == 0 || strcasecmp(open->name, "style") == 0;
    while (t[i] && depth > 0) {
        struct tag tag;
        if (t[i] != '<' || !read_tag(t, i, &tag)) {
            i++;
            continue;
        }
        const bool is_same = strcasecmp(tag.name, open->name) == 0;
        if (is_raw && !(is_same && tag.is_end)) {
            i++;
            continue;
        }
        if (is_same && !tag.is_alone)
            depth += tag.is_end ? (size_t)-1 : 1;
        i = tag.end;
    }
    return i;
}

/* What is between tags: white space around it stays. */
static bool add_run(struct hd_pieces *p, size_t begin, size_t end)
{
    size_t from = begin, to = end;
    while (from < to && is_space(p->whole[from]))
        from++;
    while (to > from && is_space(p->whole[to - 1]))
        to--;
    bool has_letters = false;
    for (size_t i = from; i < to; i++)
        has_letters = has_letters || isalnum((unsigned char)p->whole[i]) || p->whole[i] & 0x80;
    char *text = has_letters ? plain(p->whole + from, to - from) : NULL;
    if (has_letters && !text)
        return false;
    return add(p, begin, from, NULL) && add(p, from, to, text) && add(p, to, end, NULL);
}

static bool cut_tags(struct hd_pieces *p)
{
    const char *t = p->whole;
    size_t begin = 0, i = 0;
    while (t[i]) {
        struct tag tag;
        if (t[i] != '<' || !read_tag(t, i, &tag)) {
            i++;
            continue;
        }
        const bool stays = !tag.is_end && !tag.is_alone && !has_no_end(tag.name) &&
                           (tag.is_kept || is_code(tag.name));
        const size_t end = stays ? element_end(t, &tag) : tag.end;
        if (!add_run(p, begin, i) || !add(p, i, end, NULL))
            return false;
        begin = i = end;
    }
    return add_run(p, begin, i);
}

/* ---- from outside --------------------------------------------------------------------------------------------------- */

bool hd_pieces_init(struct hd_pieces *p, const char *text, bool is_markup)
{
    *p = (struct hd_pieces){.is_markup = is_markup, .whole = hd_copy_string(text, NULL)};
    return p->whole && (is_markup ? cut_tags(p) : cut_lines(p));
}

void hd_pieces_release(struct hd_pieces *p)
{
    for (size_t i = 0; i < p->n; i++)
        hd_free(p->at[i].text);
    hd_free(p->at);
    hd_free(p->whole);
    *p = (struct hd_pieces){0};
}

void hd_pieces_join(struct hd_bytes *out, const struct hd_pieces *p,
                    const char *const *translations)
{
    hd_bytes_add(out, "", 0);
    for (size_t i = 0, k = 0; i < p->n; i++) {
        const struct hd_piece *piece = &p->at[i];
        if (!piece->text)
            hd_bytes_add(out, p->whole + piece->begin, piece->end - piece->begin);
        else if (p->is_markup)
            add_escaped(out, translations[k++]);
        else
            hd_bytes_text(out, translations[k++]);
    }
}
