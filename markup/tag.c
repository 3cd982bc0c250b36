/* tag.c -- the bytes of one tag, by the rules of the HTML standard's tokeniser, of which XML's are a part: a '>' ends a tag
 * unless it stands in the quotes of an attribute's value. */
#include "markup/tag.h"

#include "base/memory.h"

#include <string.h>
#include <strings.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* What a name may begin with: in XML also letters of other scripts. */
static bool begins_name(enum hd_markup_kind kind, char c)
{
    return is_letter(c) || (kind == HD_MARKUP_XML && (c == '_' || c == ':' || (c & 0x80)));
}

/* Behind the first `what` from i on; 0: there is none. */
static size_t behind(const char *text, size_t n, size_t i, const char *what)
{
    const size_t size = strlen(what);
    for (; i + size <= n; i++)
        if (memcmp(text + i, what, size) == 0)
            return i + size;
    return 0;
}

/* ---- attributes -------------------------------------------------------------------------------------- */

struct attribute {
    size_t name, n_name, value, n_value;
    bool ends_whole; /* there is none, but "/>" */
};

static size_t skip_space(const char *text, size_t n, size_t i)
{
    while (i < n && is_space(text[i]))
        i++;
    return i;
}

static size_t read_value(struct attribute *a, const char *text, size_t n, size_t i)
{
    i = skip_space(text, n, i);
    const char quote = i < n && (text[i] == '"' || text[i] == '\'') ? text[i] : 0;
    a->value = i + (quote != 0);
    i = a->value;
    while (i < n && (quote ? text[i] != quote : !is_space(text[i]) && text[i] != '>'))
        i++;
    a->n_value = i - a->value;
    return i + (quote && i < n);
}

/* The next attribute from *i on, before the end of the tag; false at the end, where *i is behind the '>', or n + 1 where
 * there is none. */
static bool next_attribute(struct attribute *a, const char *text, size_t n, size_t *i)
{
    *a = (struct attribute){0};
    for (; *i < n && (is_space(text[*i]) || text[*i] == '/'); ++*i)
        a->ends_whole = text[*i] == '/';
    if (*i >= n || text[*i] == '>') {
        *i = *i < n ? *i + 1 : n + 1;
        return false;
    }
    a->name = (*i)++; /* whatever it is, '=' included */
    while (*i < n && !is_space(text[*i]) && text[*i] != '/' && text[*i] != '>' && text[*i] != '=')
        ++*i;
    a->n_name = *i - a->name;
    const size_t sign = skip_space(text, n, *i);
    if (sign < n && text[sign] == '=')
        *i = read_value(a, text, n, sign + 1);
    return true;
}

static bool is_text(const char *text, size_t n, const char *what)
{
    return n == strlen(what) && strncasecmp(text, what, n) == 0;
}

/* Is `word` one of those in text[0..n)? */
static bool has_word(const char *text, size_t n, const char *word)
{
    for (size_t i = 0, begin; i < n; i++) {
        for (begin = i; i < n && !is_space(text[i]);)
            i++;
        if (is_text(text + begin, i - begin, word))
            return true;
    }
    return false;
}

enum hd_tag_wish hd_tag_says(const struct hd_tag *tag, const char *text)
{
    struct attribute a;
    enum hd_tag_wish wish = HD_TAG_SAYS_NOTHING;
    for (size_t i = tag->name + tag->n_name; next_attribute(&a, text, tag->end, &i);) {
        const char *name = text + a.name, *value = text + a.value;
        const bool is_told =
            is_text(name, a.n_name, "translate") || is_text(name, a.n_name, "its:translate");
        if ((is_told && is_text(value, a.n_value, "no")) ||
            (is_text(name, a.n_name, "class") && has_word(value, a.n_value, "notranslate")))
            return HD_TAG_SAYS_NO;
        if (is_told && (a.n_value == 0 || is_text(value, a.n_value, "yes")))
            wish = HD_TAG_SAYS_YES;
    }
    return wish;
}

/* ---- tags -------------------------------------------------------------------------------------------- */

/* <!...> and <?...>; 0 without an end. */
static size_t end_of_declaration(struct hd_tag *tag, enum hd_markup_kind kind, const char *text,
                                 size_t n, size_t i)
{
    const bool is_xml = kind == HD_MARKUP_XML;
    tag->kind = HD_TAG_COMMENT;
    if (n - i >= 4 && memcmp(text + i, "<!--", 4) == 0) {
        if (!is_xml && n - i >= 5 && text[i + 4] == '>') /* <!--> */
            return i + 5;
        const size_t end = behind(text, n, i + 4 - !is_xml, "-->"),
                     odd = is_xml ? 0 : behind(text, n, i + 4, "--!>");
        return odd && (!end || odd < end) ? odd : end;
    }
    if (is_xml && text[i + 1] == '?')
        return behind(text, n, i + 2, "?>");
    if (is_xml && n - i >= 9 && memcmp(text + i, "<![CDATA[", 9) == 0) {
        tag->kind = HD_TAG_CDATA;
        return behind(text, n, i + 9, "]]>");
    }
    if (text[i + 1] == '!' && n - i >= 9 && strncasecmp(text + i + 2, "doctype", 7) == 0) {
        tag->kind = HD_TAG_DOCTYPE;
        const size_t end = behind(text, n, i, ">"), inside = behind(text, n, i, "[");
        if (is_xml && inside && inside < end) /* the subset in brackets has declarations */
            return behind(text, n, inside, "]>");
        return end;
    }
    return behind(text, n, i, ">");
}

bool hd_tag_read(struct hd_tag *tag, enum hd_markup_kind kind, const char *text, size_t n, size_t i)
{
    *tag = (struct hd_tag){.begin = i};
    if (i + 1 >= n)
        return false;
    const bool is_end = text[i + 1] == '/';
    if (text[i + 1] == '!' || text[i + 1] == '?' ||
        (is_end && i + 2 < n && !begins_name(kind, text[i + 2]))) {
        tag->end = end_of_declaration(tag, kind, text, n, i);
        return tag->end > 0;
    }
    tag->name = i + 1 + is_end;
    if (tag->name >= n || !begins_name(kind, text[tag->name]))
        return false;
    size_t at = tag->name;
    while (at < n && !is_space(text[at]) && text[at] != '/' && text[at] != '>')
        at++;
    tag->n_name = at - tag->name;
    struct attribute a;
    while (next_attribute(&a, text, n, &at)) {
    }
    tag->end = at;
    tag->kind = is_end ? HD_TAG_END : a.ends_whole ? HD_TAG_WHOLE : HD_TAG_START;
    return at <= n;
}

bool hd_tags_add(struct hd_tags *tags, const struct hd_tag *tag, heed_error *err)
{
    struct hd_tag *grown = hd_grow(tags->at, &tags->capacity, tags->n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    tags->at = grown;
    grown[tags->n++] = *tag;
    return true;
}

/* ---- names ------------------------------------------------------------------------------------------- */

static bool is_name(const struct hd_tag *tag, enum hd_markup_kind kind, const char *text,
                    const char *name, size_t n)
{
    const char *own = text + tag->name, *colon = memchr(own, ':', tag->n_name);
    const size_t skipped = kind == HD_MARKUP_XML && colon ? (size_t)(colon - own) + 1 : 0;
    return tag->n_name - skipped == n && strncasecmp(own + skipped, name, n) == 0;
}

bool hd_tag_is(const struct hd_tag *tag, enum hd_markup_kind kind, const char *text,
               const char *name)
{
    return is_name(tag, kind, text, name, strlen(name));
}

bool hd_tag_is_one_of(const struct hd_tag *tag, enum hd_markup_kind kind, const char *text,
                      const char *names)
{
    for (size_t n; *names; names += n + (names[n] == ' ')) {
        n = strcspn(names, " ");
        if (is_name(tag, kind, text, names, n))
            return true;
    }
    return false;
}

bool hd_tag_same_name(const struct hd_tag *a, const struct hd_tag *b, enum hd_markup_kind kind,
                      const char *text)
{
    if (a->n_name != b->n_name)
        return false;
    return kind == HD_MARKUP_XML ? memcmp(text + a->name, text + b->name, a->n_name) == 0
                                 : strncasecmp(text + a->name, text + b->name, a->n_name) == 0;
}
