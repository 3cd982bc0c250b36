/* vocab_file.c -- vocabularies as other toolkits keep them.
 *
 * Marian's vocab.yml is read line by line: it is YAML, but only ever a token, a colon and an id,
 * and people's files have tokens that YAML libraries lose. Invariant: tokens come out in the order
 * of their ids, none twice. */
#include "text/vocab_file.h"

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"

#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ----------------------------------------------------------------------------------- */

/* Where a reader is. A line never includes its end. */
struct lines {
    const char *name;
    const char *at, *end; /* what is left */
    const char *line;     /* the present line, line[0..n) */
    size_t n;
    size_t number; /* of the line, from 1 */
};

static struct lines lines_of(const char *name, const char *data, size_t size)
{
    if (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
        data += 3;
        size -= 3;
    }
    return (struct lines){.name = name, .at = data, .end = data + size};
}

static bool next_line(struct lines *lines)
{
    if (lines->at == lines->end)
        return false;
    const char *end = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    lines->line = lines->at;
    lines->n = (size_t)((end ? end : lines->end) - lines->at);
    lines->at = end ? end + 1 : lines->end;
    lines->number++;
    if (lines->n > 0 && lines->line[lines->n - 1] == '\r')
        lines->n--;
    return true;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

void hd_tokens_release(struct hd_tokens *tokens)
{
    hd_free(tokens->text);
    hd_free(tokens->ids);
    hd_free(tokens->memory);
    *tokens = (struct hd_tokens){0};
}

/* Room for what `size` bytes of text can hold: a token is no longer than its line. */
static bool make_room(struct hd_tokens *tokens, const char *data, size_t size, heed_error *err)
{
    size_t n = 1;
    for (size_t i = 0; i < size; i++)
        n += data[i] == '\n';
    tokens->text = hd_alloc(n, sizeof *tokens->text, err);
    tokens->ids = hd_alloc(n, sizeof *tokens->ids, err);
    tokens->memory = hd_alloc(size + n + 1, 1, err);
    return tokens->text && tokens->ids && tokens->memory;
}

static bool check_text(const char *name, const char *data, size_t size, heed_error *err)
{
    size_t bad_at;
    if (!hd_utf8_valid(data, size, &bad_at))
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: the vocabulary is not UTF-8 at byte %zu; convert it first, for example "
                       "with iconv -t UTF-8",
                       name, bad_at);
    if (size > INT_MAX || memchr(data, '\0', size))
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: this is no text, as there is a NUL byte in it; is it a vocabulary of "
                       "another kind?",
                       name);
    return true;
}

struct pair {
    char *text;
    int id;
};

static int compare_ids(const void *a, const void *b)
{
    const struct pair *x = a;
    const struct pair *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int compare_texts(const void *a, const void *b)
{
    const struct pair *x = a;
    const struct pair *y = b;
    return strcmp(x->text, y->text);
}

/* Into the order of ids, none twice. */
static bool sort_tokens(struct hd_tokens *tokens, const char *name, heed_error *err)
{
    const size_t n = tokens->n;
    struct pair *pairs = hd_alloc(n, sizeof *pairs, err);
    if (!pairs)
        return false;
    for (size_t i = 0; i < n; i++)
        pairs[i] = (struct pair){tokens->text[i], tokens->ids[i]};
    bool ok =
        n > 0 || hd_fail(err, HEED_BAD_MODEL, "%s: there is no token in this vocabulary", name);
    qsort(pairs, n, sizeof *pairs, compare_texts);
    for (size_t i = 1; ok && i < n; i++)
        ok = strcmp(pairs[i - 1].text, pairs[i].text) != 0 ||
             hd_fail(err, HEED_BAD_MODEL,
                     "%s: the token %s is there twice, with the ids %d and %d; take one out", name,
                     hd_quote(pairs[i].text).text, pairs[i - 1].id, pairs[i].id);
    qsort(pairs, n, sizeof *pairs, compare_ids);
    for (size_t i = 1; ok && i < n; i++)
        ok = pairs[i - 1].id != pairs[i].id ||
             hd_fail(err, HEED_BAD_MODEL,
                     "%s: the tokens %s and %s have the same id, %d; take one out", name,
                     hd_quote(pairs[i - 1].text).text, hd_quote(pairs[i].text).text, pairs[i].id);
    for (size_t i = 0; i < n; i++) {
        tokens->text[i] = pairs[i].text;
        tokens->ids[i] = pairs[i].id;
    }
    hd_free(pairs);
    return ok;
}

/* ---- plain lists ----------------------------------------------------------------------------- */

static bool read_list(struct hd_tokens *tokens, struct lines lines, heed_error *err)
{
    char *out = tokens->memory;
    while (next_line(&lines)) {
        if (lines.n == 0)
            return hd_fail(
                err, HEED_BAD_MODEL,
                "%s:%zu: this line is empty; each line is a token, and its number the id",
                lines.name, lines.number);
        tokens->text[tokens->n] = memcpy(out, lines.line, lines.n);
        tokens->ids[tokens->n] = (int)tokens->n;
        tokens->n++;
        out += lines.n + 1; /* the NUL is there already */
    }
    return true;
}

bool hd_tokens_from_list(struct hd_tokens *tokens, const char *name, const char *data, size_t size,
                         heed_error *err)
{
    *tokens = (struct hd_tokens){0};
    const bool ok = check_text(name, data, size, err) && make_room(tokens, data, size, err) &&
                    read_list(tokens, lines_of(name, data, size), err) &&
                    sort_tokens(tokens, name, err);
    if (!ok)
        hd_tokens_release(tokens);
    return ok;
}

/* ---- Marian's vocab.yml ---------------------------------------------------------------------- */

static bool fail_line(const struct lines *lines, const char *what, heed_error *err)
{
    return hd_fail(err, HEED_BAD_MODEL, "%s:%zu: %s %s", lines->name, lines->number,
                   hd_quote_n(lines->line, lines->n).text, what);
}

static const char *skip_spaces(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* ": id" and nothing after it. */
static bool read_id(const char *at, const char *end, int *id)
{
    at = skip_spaces(at, end);
    if (at == end || *at++ != ':')
        return false;
    at = skip_spaces(at, end);
    if (at == end)
        return false;
    long number = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        if ((number = 10 * number + (*at - '0')) > INT_MAX - 1)
            return false;
    if (at[-1] < '0' || at[-1] > '9')
        return false;
    *id = (int)number;
    return skip_spaces(at, end) == end;
}

/* 'it''s' */
static const char *read_single(const char *at, const char *end, char **out)
{
    for (at++; at < end; at++) {
        if (*at == '\'') {
            if (at + 1 == end || at[1] != '\'')
                return at + 1;
            at++;
        }
        *(*out)++ = *at;
    }
    return NULL;
}

/* The character a backslash in double quotes stands for, after the backslash; NULL when it is
 * none. */
static const char *read_escape(const char *at, const char *end, uint32_t *cp)
{
    static const char letters[] = "0abtnvfre \"/\\N_";
    static const uint32_t meanings[] = {0,    '\a', '\b', '\t', '\n', '\v', '\f', '\r',
                                        0x1B, ' ',  '"',  '/',  '\\', 0x85, 0xA0};
    if (at == end)
        return NULL;
    const char *letter = memchr(letters, *at, sizeof letters - 1);
    if (letter) {
        *cp = meanings[letter - letters];
        return at + 1;
    }
    const int n_digits = *at == 'x' ? 2 : *at == 'u' ? 4 : *at == 'U' ? 8 : 0;
    if (n_digits == 0 || end - at <= n_digits)
        return NULL;
    *cp = 0;
    for (int i = 1; i <= n_digits; i++) {
        const char c = at[i];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return NULL;
        *cp = *cp << 4 | (uint32_t)digit;
    }
    return at + 1 + n_digits;
}

/* "a \"b\" \x84" */
static const char *read_double(const char *at, const char *end, char **out)
{
    for (at++; at < end && *at != '"';) {
        if (*at != '\\') {
            *(*out)++ = *at++;
            continue;
        }
        uint32_t cp;
        char bytes[4];
        at = read_escape(at + 1, end, &cp);
        const int length =
            at ? hd_utf8_encode(bytes, cp) : 0; /* never longer than it was written */
        if (length == 0)
            return NULL;
        *out = (char *)memcpy(*out, bytes, (size_t)length) + length;
    }
    return at < end ? at + 1 : NULL;
}

/* A token as it is, without the spaces after it. */
static const char *read_plain(const char *at, const char *end, char **out)
{
    const char *last = end;
    while (last > at && (last[-1] == ' ' || last[-1] == '\t'))
        last--;
    *out = (char *)memcpy(*out, at, (size_t)(last - at)) + (last - at);
    return end;
}

/* The token at the start of at[0..end) to *out; returns where it ended, or NULL. A plain one is all
 * there is. */
static const char *read_token(const char *at, const char *end, char **out)
{
    if (at < end && *at == '\'')
        return read_single(at, end, out);
    if (at < end && *at == '"')
        return read_double(at, end, out);
    return read_plain(at, end, out);
}

/* The present line, and the next when the token stands alone: `? token` and `: id`. */
static bool read_pair(struct hd_tokens *tokens, struct lines *lines, char **out, heed_error *err)
{
    const char *at = lines->line, *end = at + lines->n;
    char *token = *out;
    int id = 0;
    bool is_good;
    if (lines->n >= 2 && at[0] == '?' && (at[1] == ' ' || at[1] == '\t')) {
        const char *stop = read_token(skip_spaces(at + 1, end), end, out);
        is_good = stop && skip_spaces(stop, end) == end && next_line(lines) &&
                  read_id(lines->line, lines->line + lines->n, &id);
    } else {
        const bool is_quoted = lines->n > 0 && (at[0] == '\'' || at[0] == '"');
        const char *colon = end; /* the last one, unless the token is quoted */
        while (colon > at && *--colon != ':')
            ;
        const char *stop = read_token(at, is_quoted ? end : colon, out);
        is_good = stop && read_id(stop, end, &id);
    }
    if (!is_good)
        return fail_line(lines, "is not `token: id`; is this a vocabulary of another kind?", err);
    const size_t length = (size_t)(*out - token);
    if (length == 0 || memchr(token, '\0', length) || memchr(token, '\n', length))
        return fail_line(lines, "is a token that is empty or has a line end in it; take it out",
                         err);
    tokens->text[tokens->n] = token;
    tokens->ids[tokens->n++] = id;
    (*out)++; /* the NUL is there already */
    return true;
}

static bool read_yaml(struct hd_tokens *tokens, struct lines lines, heed_error *err)
{
    char *out = tokens->memory;
    while (next_line(&lines)) {
        const bool is_marker = lines.n == 3 && memcmp(lines.line, "---", 3) == 0;
        if (lines.n == 0 || lines.line[0] == '#' || is_marker)
            continue;
        if (!read_pair(tokens, &lines, &out, err))
            return false;
    }
    return true;
}

bool hd_tokens_from_yaml(struct hd_tokens *tokens, const char *name, const char *data, size_t size,
                         heed_error *err)
{
    *tokens = (struct hd_tokens){0};
    const bool ok = check_text(name, data, size, err) && make_room(tokens, data, size, err) &&
                    read_yaml(tokens, lines_of(name, data, size), err) &&
                    sort_tokens(tokens, name, err);
    if (!ok)
        hd_tokens_release(tokens);
    return ok;
}

/* ---- vocab.json ------------------------------------------------------------------------------ */

static bool read_object(struct hd_tokens *tokens, const char *name, json_t *object, size_t n_bytes,
                        heed_error *err)
{
    const size_t n = json_object_size(object);
    const char *token;
    json_t *id;
    tokens->text = hd_alloc(n, sizeof *tokens->text, err);
    tokens->ids = hd_alloc(n, sizeof *tokens->ids, err);
    tokens->memory = hd_alloc(n_bytes + n + 1, 1, err); /* no token is longer than it is written */
    if (!tokens->text || !tokens->ids || !tokens->memory)
        return false;
    char *out = tokens->memory;
    json_object_foreach(object, token, id)
    {
        const json_int_t number = json_is_integer(id) ? json_integer_value(id) : -1;
        if (number < 0 || number >= INT_MAX)
            return hd_fail(err, HEED_BAD_MODEL,
                           "%s: the token %s has no number from 0 on as its id", name,
                           hd_quote(token).text);
        if (!*token || strchr(token, '\n'))
            return hd_fail(err, HEED_BAD_MODEL,
                           "%s: the token %s with the id %d is empty or has a line end in it; take "
                           "it out",
                           name, hd_quote(token).text, (int)number);
        tokens->text[tokens->n] = out;
        tokens->ids[tokens->n++] = (int)number;
        out = stpcpy(out, token) + 1;
    }
    return true;
}

bool hd_tokens_from_json(struct hd_tokens *tokens, const char *name, const char *data, size_t size,
                         heed_error *err)
{
    json_error_t why = {0};
    *tokens = (struct hd_tokens){0};
    json_t *object = json_loadb(data, size, JSON_REJECT_DUPLICATES, &why);
    const bool ok = (json_is_object(object) ||
                     hd_fail(err, HEED_BAD_MODEL,
                             "%s:%d: this is no vocabulary, an object of tokens and ids: %s", name,
                             why.line < 0 ? 1 : why.line,
                             object ? "it is another kind of value" : hd_quote(why.text).text)) &&
                    read_object(tokens, name, object, size, err) && sort_tokens(tokens, name, err);
    json_decref(object);
    if (!ok)
        hd_tokens_release(tokens);
    return ok;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *ending)
{
    const size_t n = strlen(path), n_ending = strlen(ending);
    return n > n_ending && strcmp(path + n - n_ending, ending) == 0;
}

/* Marian's ids as a list without holes, its first two under their names of today. */
static struct hd_vocab *vocab_of_yaml(struct hd_tokens *tokens, enum hd_vocab_kind kind,
                                      heed_error *err)
{
    const char **list = hd_alloc(tokens->n + 2, sizeof *list, err);
    if (!list)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < tokens->n; i++) {
        for (; n < 2 && (int)n < tokens->ids[i]; n++)
            list[n] = n == 0 ? "</s>" : "<unk>";
        if (tokens->ids[i] != (int)n) {
            hd_fail(err, HEED_BAD_MODEL,
                    "the ids of the vocabulary have a hole: no token has the id %zu, but %s has %d",
                    n, hd_quote(tokens->text[i]).text, tokens->ids[i]);
            hd_free(list);
            return NULL;
        }
        const bool is_old_end = n == 0 && strcmp(tokens->text[i], "eos") == 0;
        const bool is_old_unknown = n == 1 && strcmp(tokens->text[i], "UNK") == 0;
        list[n++] = is_old_end ? "</s>" : is_old_unknown ? "<unk>" : tokens->text[i];
    }
    struct hd_vocab *vocab = hd_vocab_from_tokens(kind, list, n, err);
    hd_free(list);
    return vocab;
}

struct hd_vocab *hd_vocab_open(const char *path, enum hd_vocab_kind kind, heed_error *err)
{
    struct hd_map map;
    if (!hd_map_open(&map, path, err))
        return NULL;
    struct hd_vocab *vocab = NULL;
    struct hd_tokens tokens = {0};
    heed_error why = {0};
    if (kind == HD_VOCAB_SPM || ends_in(path, ".spm") || ends_in(path, ".model"))
        vocab = hd_vocab_from_memory(HD_VOCAB_SPM, map.data, map.size, &why);
    else if (ends_in(path, ".yml") || ends_in(path, ".yaml")) {
        if (hd_tokens_from_yaml(&tokens, path, map.data, map.size, err))
            vocab = vocab_of_yaml(&tokens, kind, &why);
    } else if (ends_in(path, ".json")) {
        if (hd_tokens_from_json(&tokens, path, map.data, map.size, err))
            vocab = vocab_of_yaml(&tokens, kind, &why);
    } else if (hd_tokens_from_list(&tokens, path, map.data, map.size, err))
        vocab = hd_vocab_from_tokens(kind, (const char *const *)tokens.text, tokens.n, &why);
    if (hd_failed(&why))
        hd_fail(err, why.code, "%s: %s", path, why.message);
    hd_tokens_release(&tokens);
    hd_map_close(&map);
    return vocab;
}
