/* svg.h -- reads an SVG as strictly as an XML parser would, and keeps what tests ask for: each
 * element with its attributes and text. */
#ifndef HD_TESTS_DRAW_SVG_H
#define HD_TESTS_DRAW_SVG_H

#include "test.h"

#include "base/utf8.h"

enum { MOST_ELEMENTS = 60000, MOST_DEPTH = 16 };

struct element {
    char tag[16];
    const char *attributes; /* as they stand in the file */
    size_t attributes_size;
    char text[400];  /* without entities */
    char title[400]; /* of the <title> inside */
};

struct svg {
    struct element *elements;
    int n;
};

static void unescape(char *out, size_t room, const char *from, size_t n)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    size_t length = strlen(out);
    for (size_t i = 0; i < n && length + 1 < room;) {
        assert_that(from[i] != '<' && from[i] != '>', "a bare %c", from[i]);
        int known = -1;
        for (int e = 0; from[i] == '&' && e < 4; e++)
            if (strncmp(from + i, entities[e], strlen(entities[e])) == 0)
                known = e;
        assert_that(from[i] != '&' || known >= 0, "an unknown entity: %.10s", from + i);
        out[length++] = known >= 0 ? "&<>\""[known] : from[i];
        i += known >= 0 ? strlen(entities[known]) : 1;
    }
    out[length] = '\0';
}

/* One name="value" after the other, and nothing else. */
static void check_attributes(const char *at, size_t n)
{
    const char *end = at + n;
    while (at < end) {
        assert_that(*at == ' ', "between attributes stands '%c'", *at);
        at++;
        const size_t name = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
        assert_that(name > 0 && at[name] == '=' && at[name + 1] == '"', "no attribute: %.20s", at);
        const char *value = at + name + 2, *close = memchr(value, '"', (size_t)(end - value));
        assert_that(close && !memchr(value, '<', (size_t)(close - value)), "no value: %.20s", at);
        at = close + 1;
    }
}

/* The value of an attribute in a buffer that the next calls reuse, "" when there is none. */
static const char *attribute(const struct element *e, const char *name)
{
    static char values[4][400];
    static int next;
    char wanted[40];
    char *value = values[next++ % 4];
    value[0] = '\0';
    snprintf(wanted, sizeof wanted, " %s=\"", name);
    for (size_t i = 0; i + strlen(wanted) <= e->attributes_size; i++)
        if (strncmp(e->attributes + i, wanted, strlen(wanted)) == 0) {
            const char *from = e->attributes + i + strlen(wanted);
            snprintf(value, sizeof values[0], "%.*s", (int)strcspn(from, "\""), from);
        }
    return value;
}

static inline double number_of(const struct element *e, const char *name)
{
    return strtod(attribute(e, name), NULL);
}

static struct svg svg_read(const char *bytes, size_t size)
{
    struct svg svg = {calloc(MOST_ELEMENTS, sizeof(struct element)), 0};
    int open[MOST_DEPTH], depth = 0;
    size_t bad;
    assert_that(hd_utf8_valid(bytes, size, &bad), "byte %zu is no UTF-8", bad);
    for (size_t i = 0; i < size; i++)
        assert_that((unsigned char)bytes[i] >= 0x20 || bytes[i] == '\n', "control character %d",
                    bytes[i]);
    for (const char *at = bytes, *end = bytes + size; at < end;) {
        const char *tag = memchr(at, '<', (size_t)(end - at));
        if (!tag) {
            assert_string_equal(at, "\n");
            break;
        }
        if (depth > 0) { /* the text before this tag */
            struct element *e = &svg.elements[open[depth - 1]];
            if (strcmp(e->tag, "text") == 0)
                unescape(e->text, sizeof e->text, at, (size_t)(tag - at));
            else if (strcmp(e->tag, "title") == 0 && depth > 1)
                unescape(svg.elements[open[depth - 2]].title, sizeof e->title, at,
                         (size_t)(tag - at));
            else if (strcmp(e->tag, "style") != 0)
                assert_true(strspn(at, "\n") == (size_t)(tag - at));
        }
        const char *close = memchr(tag, '>', (size_t)(end - tag));
        assert_non_null(close);
        if (tag[1] == '/') {
            assert_true(depth > 0);
            const char *name = svg.elements[open[--depth]].tag;
            assert_that(strncmp(tag + 2, name, strlen(name)) == 0 &&
                            tag + 2 + strlen(name) == close,
                        "%.20s closes <%s>", tag, name);
        } else {
            assert_true(svg.n < MOST_ELEMENTS && depth < MOST_DEPTH);
            struct element *e = &svg.elements[svg.n];
            const bool is_empty = close[-1] == '/';
            const size_t name = strcspn(tag + 1, " />");
            snprintf(e->tag, sizeof e->tag, "%.*s", (int)name, tag + 1);
            e->attributes = tag + 1 + name;
            e->attributes_size = (size_t)(close - is_empty - e->attributes);
            check_attributes(e->attributes, e->attributes_size);
            if (!is_empty)
                open[depth++] = svg.n;
            svg.n++;
        }
        at = close + 1;
    }
    assert_int_equal(depth, 0);
    assert_string_equal(svg.elements[0].tag, "svg");
    return svg;
}

static inline int svg_count(const struct svg *svg, const char *tag, const char *name)
{
    int n = 0;
    for (int i = 0; i < svg->n; i++)
        n += strcmp(svg->elements[i].tag, tag) == 0 &&
             strcmp(attribute(&svg->elements[i], "class"), name) == 0;
    return n;
}

/* The i-th element of this class. */
static inline const struct element *svg_find(const struct svg *svg, const char *name, int which)
{
    for (int i = 0; i < svg->n; i++)
        if (strcmp(attribute(&svg->elements[i], "class"), name) == 0 && which-- == 0)
            return &svg->elements[i];
    fail_msg("there is no element of class %s", name);
    return NULL;
}

static void svg_free(struct svg *svg)
{
    free(svg->elements);
}

#endif
