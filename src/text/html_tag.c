/* html_tag.c -- a tag is <, a name that HTML has, attributes with values, >. */
#include "text/html_tag.h"

#include <string.h>
#include <strings.h>

enum { LONGEST = 2048, LONGEST_NAME = 10, DEEPEST = 32 };

/* Elements whose tags stand in texts; those without an end first. */
static const char *const names[] = {
    "br",      "hr",    "img",   "input",   "wbr",     "a",       "abbr",   "article",   "aside",
    "b",       "bdi",   "bdo",   "big",     "button",  "caption", "center", "cite",      "code",
    "dd",      "del",   "dfn",   "div",     "dl",      "dt",      "em",     "font",      "footer",
    "h1",      "h2",    "h3",    "h4",      "h5",      "h6",      "header", "i",         "ins",
    "kbd",     "label", "li",    "main",    "mark",    "nav",     "ol",     "p",         "pre",
    "q",       "s",     "samp",  "section", "small",   "span",    "strike", "strong",    "sub",
    "summary", "sup",   "table", "tbody",   "td",      "tfoot",   "th",     "thead",     "title",
    "tr",      "tt",    "u",     "ul",      "details", "figure",  "var",    "blockquote"};
enum { N_NAMES = sizeof names / sizeof *names, N_WITHOUT_END = 5 };

struct tag {
    size_t length; /* 0: there is none */
    int name;
    bool is_begin, is_end;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static int name_of(const char *text, size_t n)
{
    for (int i = 0; i < N_NAMES; i++)
        if (strlen(names[i]) == n && strncasecmp(names[i], text, n) == 0)
            return i;
    return -1;
}

/* Bytes of name="value" at text[0..n), quotes of either kind or none; 0 where there is none. */
static size_t attribute_length(const char *text, size_t n)
{
    size_t i = 0;
    while (i < n && (is_alnum(text[i]) || text[i] == '-' || text[i] == '_' || text[i] == ':'))
        i++;
    if (i == 0 || i + 1 >= n || text[i] != '=')
        return 0;
    const char quote = text[++i];
    if (quote == '"' || quote == '\'') {
        const char *end = memchr(text + i + 1, quote, n - i - 1);
        return end ? (size_t)(end - text) + 1 : 0;
    }
    const size_t begin = i;
    while (i < n && !is_space(text[i]) && text[i] != '>' && text[i] != '<' && text[i] != '"')
        i++;
    return i > begin ? i : 0;
}

static struct tag tag_at(const char *text, size_t n)
{
    n = n < LONGEST ? n : LONGEST;
    const bool is_end = n > 1 && text[1] == '/';
    size_t i = 1 + is_end;
    if (n < 3 || text[0] != '<')
        return (struct tag){0};
    const size_t begin = i;
    while (i < n && i - begin <= LONGEST_NAME && is_alnum(text[i]))
        i++;
    const int name = name_of(text + begin, i - begin);
    if (name < 0)
        return (struct tag){0};
    for (;;) {
        const size_t before = i;
        while (i < n && is_space(text[i]))
            i++;
        const size_t attribute =
            i > before && !is_end && i < n ? attribute_length(text + i, n - i) : 0;
        if (attribute == 0)
            break;
        i += attribute;
    }
    const bool is_closed = !is_end && i < n && text[i] == '/';
    i += is_closed;
    if (i >= n || text[i] != '>')
        return (struct tag){0};
    return (struct tag){i + 1, name, !is_end && !is_closed && name >= N_WITHOUT_END, is_end};
}

size_t hd_html_tag_length(const char *text, size_t n)
{
    return tag_at(text, n).length;
}

bool hd_html_is_whole(const char *text, size_t n)
{
    int open[DEEPEST], depth = 0;
    bool has_tags = false;
    for (const char *at = text; (at = memchr(at, '<', n - (size_t)(at - text)));) {
        const struct tag tag = tag_at(at, n - (size_t)(at - text));
        has_tags |= tag.length > 0;
        if (tag.is_begin && depth == DEEPEST)
            return false;
        if (tag.is_begin)
            open[depth++] = tag.name;
        if (tag.is_end && (depth == 0 || open[--depth] != tag.name))
            return false;
        at += tag.length > 0 ? tag.length : 1;
    }
    return has_tags && depth == 0;
}
