/* option.c -- text becomes the field of a struct by its row, and text again. */
#include "option/option.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/quote.h"
#include "base/real.h"
#include "base/utf8.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *field_of(const heed_option *option, const void *values)
{
    return (char *)values + option->offset;
}

/* Texts are char * here and const char * in the structs of others. */
static char *get_text(const void *field)
{
    char *text;
    memcpy(&text, field, sizeof text);
    return text;
}

static double get_number(const heed_option *o, const void *field)
{
    return o->size == sizeof(double) ? *(const double *)field : (double)*(const float *)field;
}

static void put_number(const heed_option *o, void *field, double x)
{
    assert(o->size == sizeof(float) || o->size == sizeof(double));
    if (o->size == sizeof(double))
        *(double *)field = x;
    else
        *(float *)field = (float)x;
}

static bool has_range(const heed_option *option)
{
    return option->least != 0 || option->most != 0;
}

static double least_of(const heed_option *option)
{
    return has_range(option) ? option->least : INT_MIN;
}

static double most_of(const heed_option *option)
{
    return has_range(option) ? option->most : INT_MAX;
}

/* ---- by name --------------------------------------------------------------------------------- */

bool hd_option_same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '_' ? '-' : *a) != (*b == '_' ? '-' : *b))
            return false;
    return *a == *b;
}

const heed_option *heed_option_find(const heed_option *options, const char *name)
{
    for (const heed_option *o = options; o && name && o->name; o++)
        if (hd_option_same_name(o->name, name))
            return o;
    return NULL;
}

bool heed_option_unknown(const char *name, const char *const *names, int n, const char *advice,
                         heed_error *err)
{
    if (!hd_is_given(name, "name of an option", err))
        return false;
    char dashed[64];
    snprintf(dashed, sizeof dashed, "%s", name);
    for (char *c = dashed; *c; c++)
        *c = *c == '_' ? '-' : *c;
    const char *near = heed_nearest(dashed, names, n);
    if (near)
        return hd_fail(err, HEED_BAD_OPTION, "there is no option %s; did you mean %s?",
                       hd_quote(name).text, near);
    return hd_fail(err, HEED_BAD_OPTION, "there is no option %s%s%s", hd_quote(name).text,
                   advice ? "; " : "", advice ? advice : "");
}

bool heed_option_set_named(const heed_option *options, void *values, const char *name,
                           const char *text, heed_error *err)
{
    if (!hd_is_given(options, "table of options", err))
        return false;
    const heed_option *option = heed_option_find(options, name);
    if (option)
        return heed_option_set(option, values, text, err);
    enum { MOST = 256 };
    const char *names[MOST];
    int n = 0;
    for (const heed_option *o = options; o->name && n < MOST; o++)
        names[n++] = o->name;
    return heed_option_unknown(name, names, n, NULL, err);
}

/* ---- what it may be -------------------------------------------------------------------------- */

/* The i-th of "a|b|c", and its length; NULL when there are no more. */
static const char *choice_at(const char *choices, int i, size_t *length)
{
    for (; i > 0 && choices; i--) {
        choices = strchr(choices, '|');
        choices = choices ? choices + 1 : NULL;
    }
    *length = choices ? strcspn(choices, "|") : 0;
    return choices;
}

struct hd_option_choice hd_option_choice(const heed_option *option, int i)
{
    struct hd_option_choice choice = {""};
    size_t length;
    const char *at = i < 0 ? NULL : choice_at(option->choices, i, &length);
    if (at && length < sizeof choice.text)
        memcpy(choice.text, at, length);
    return choice;
}

int hd_option_choice_index(const heed_option *option, const char *text)
{
    const char *at;
    size_t length;
    for (int i = 0; (at = choice_at(option->choices, i, &length)); i++)
        if (strlen(text) == length && memcmp(at, text, length) == 0)
            return i;
    return -1;
}

/* "a, b or c" from "a|b|c". */
static void print_choices(char *text, size_t size, const char *choices)
{
    const char *at;
    size_t length, used = 0;
    for (int i = 0; (at = choice_at(choices, i, &length)) && used < size; i++) {
        const char *between = i == 0 ? "" : at[length] ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", between, (int)length, at);
    }
}

struct hd_option_range hd_option_range(const heed_option *o)
{
    struct hd_option_range range = {""};
    char *text = range.text;
    const size_t size = sizeof range.text;
    if (o->takes) {
        snprintf(text, size, "%s", o->takes);
        return range;
    }
    switch (o->kind) {
    case HEED_OPTION_FLAG:
    case HEED_OPTION_YES_NO:
        snprintf(text, size, "yes or no");
        break;
    case HEED_OPTION_INT:
        snprintf(text, size, "a whole number from %.0f to %.0f", least_of(o), most_of(o));
        break;
    case HEED_OPTION_FLOAT:
        if (!has_range(o))
            snprintf(text, size, "a number");
        else if (o->flags & HEED_OPTION_ABOVE)
            snprintf(text, size, "a number above %g and at most %g", o->least, o->most);
        else
            snprintf(text, size, "a number from %g to %g", o->least, o->most);
        break;
    case HEED_OPTION_CHOICE:
        print_choices(text, size, o->choices);
        break;
    case HEED_OPTION_NUMBERS:
        snprintf(text, size, "none, or different whole numbers from %.0f to %.0f, such as 0,3",
                 o->least, o->most);
        break;
    case HEED_OPTION_TEXT:
    case HEED_OPTION_LIST:
        snprintf(text, size, "text");
        break;
    }
    return range;
}

/* What the functions for rows need. */
static bool are_given(const heed_option *option, const void *values, const char *text,
                      heed_error *err)
{
    return hd_is_given(option, "option", err) && hd_is_given(values, "struct to set", err) &&
           hd_is_given(text, "value", err);
}

bool hd_option_refuse_given(const heed_option *option, const char *given, heed_error *err)
{
    return hd_fail(err, HEED_BAD_OPTION, "%s must be %s, not %s", option->name,
                   hd_option_range(option).text, given);
}

bool heed_option_refuse(const heed_option *o, const char *text, heed_error *err)
{
    enum { MOST = 32 };
    if (!are_given(o, o, text, err))
        return false;
    struct hd_option_choice choices[MOST];
    const char *names[MOST];
    int n = 0;
    for (; o->choices && n < MOST && *(choices[n] = hd_option_choice(o, n)).text; n++)
        names[n] = choices[n].text;
    const char *near = heed_nearest(text, names, n);
    if (!near)
        return hd_option_refuse_given(o, hd_quote(text).text, err);
    return hd_fail(err, HEED_BAD_OPTION, "%s must be %s, not %s; did you mean %s?", o->name,
                   hd_option_range(o).text, hd_quote(text).text, near);
}

/* ---- values ---------------------------------------------------------------------------------- */

bool hd_option_put_whole(const heed_option *o, void *values, long long n, const char *given,
                         heed_error *err)
{
    assert(o->size == sizeof(int));
    if ((double)n < least_of(o) || (double)n > most_of(o))
        return hd_option_refuse_given(o, given, err);
    *(int *)field_of(o, values) = (int)n;
    return true;
}

static bool is_number_in_range(const heed_option *o, double x)
{
    const bool is_finite = x >= -FLT_MAX && x <= FLT_MAX; /* a NaN is not */
    if (!is_finite || !has_range(o))
        return is_finite;
    return (o->flags & HEED_OPTION_ABOVE ? (float)x > (float)o->least : x >= o->least) &&
           x <= o->most;
}

bool hd_option_put_number(const heed_option *o, void *values, double x, const char *given,
                          heed_error *err)
{
    if (!is_number_in_range(o, x))
        return hd_option_refuse_given(o, given, err);
    put_number(o, field_of(o, values), x);
    return true;
}

void hd_option_put_bool(const heed_option *o, void *values, bool is_yes)
{
    assert(o->size == sizeof(bool) || o->size == sizeof(int));
    if (o->size == sizeof(bool))
        *(bool *)field_of(o, values) = is_yes;
    else
        *(int *)field_of(o, values) = is_yes;
}

static bool put_choice(const heed_option *o, void *values, const char *text, heed_error *err)
{
    const int i = hd_option_choice_index(o, text);
    assert(o->size == sizeof(int));
    if (i < 0)
        return heed_option_refuse(o, text, err);
    *(int *)field_of(o, values) = i;
    return true;
}

static bool put_copy(const heed_option *o, void *values, const char *text, heed_error *err)
{
    void *field = field_of(o, values);
    if (o->flags & HEED_OPTION_RECORDED && !hd_utf8_valid(text, strlen(text), NULL))
        return hd_fail(err, HEED_BAD_OPTION, "%s is recorded, so it must be UTF-8, not %s", o->name,
                       hd_quote(text).text);
    char *copy = hd_copy_string(text, err);
    if (!copy)
        return false;
    if (o->kind == HEED_OPTION_TEXT) {
        assert(o->size == sizeof copy);
        hd_free(get_text(field));
        memcpy(field, &copy, sizeof copy);
        return true;
    }
    assert(o->size == sizeof(heed_option_list));
    heed_option_list *list = field;
    char **grown = hd_grow(list->at, &list->capacity, list->n + 1, sizeof *grown, err);
    if (!grown) {
        hd_free(copy);
        return false;
    }
    list->at = grown;
    list->at[list->n++] = copy;
    return true;
}

/* ---- from text ------------------------------------------------------------------------------- */

/* A whole number up to `end` ('\0' or ','); `*rest` is what stops it. */
static bool read_whole(const char *text, char end, long long *n, const char **rest)
{
    char *after;
    errno = 0;
    *n = strtoll(text, &after, 10);
    *rest = after;
    return (isdigit((unsigned char)text[0]) || text[0] == '-' || text[0] == '+') && after > text &&
           errno == 0 && (*after == '\0' || *after == end);
}

bool hd_option_read_number(const char *text, double *x)
{
    char copy[256], *to = copy;
    const char *at = text + (*text == '-' || *text == '+'), *point = localeconv()->decimal_point;
    const size_t whole = strspn(at, "0123456789"), begins = at[whole] == '.' ? whole + 1 : whole;
    const size_t fraction = begins > whole ? strspn(at + begins, "0123456789") : 0;
    const char *exponent = at + begins + fraction;
    if (whole + fraction == 0 || strlen(text) + strlen(point) >= sizeof copy)
        return false;
    if (*exponent == 'e' || *exponent == 'E') {
        const char *digits = exponent + 1 + (exponent[1] == '-' || exponent[1] == '+');
        const size_t n = strspn(digits, "0123456789");
        if (n == 0 || digits[n])
            return false;
    } else if (*exponent)
        return false;
    for (const char *c = text; *c; c++)
        to = *c == '.' ? stpcpy(to, point) : (*to = *c, to + 1);
    *to = '\0';
    *x = strtod(copy, NULL);
    return true;
}

/* "0,3" to a count and as many numbers behind it; what was there stays when the text is wrong. */
static bool put_numbers(const heed_option *o, void *values, const char *text, heed_error *err)
{
    int list[64], n = 0;
    const size_t room = o->size / sizeof(int) - 1;
    assert(o->size % sizeof(int) == 0 && room <= 64);
    for (const char *at = text; strcmp(text, "none") != 0; at++) {
        long long number;
        bool is_new = read_whole(at, ',', &number, &at) && (double)number >= o->least &&
                      (double)number <= o->most && (size_t)n < room;
        for (int i = 0; i < n; i++)
            is_new = is_new && list[i] != (int)number;
        if (!is_new)
            return heed_option_refuse(o, text, err);
        list[n++] = (int)number;
        if (*at == '\0')
            break;
    }
    int *field = field_of(o, values);
    memset(field, 0, o->size);
    field[0] = n;
    memcpy(field + 1, list, (size_t)n * sizeof *list);
    return true;
}

bool heed_option_set_by_kind(const heed_option *o, void *values, const char *text, heed_error *err)
{
    const char *rest;
    long long whole;
    double number;
    if (!are_given(o, values, text, err))
        return false;
    const bool is_yes = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0;
    switch (o->kind) {
    case HEED_OPTION_FLAG:
    case HEED_OPTION_YES_NO:
        if (!is_yes && strcmp(text, "no") != 0 && strcmp(text, "false") != 0)
            return heed_option_refuse(o, text, err);
        hd_option_put_bool(o, values, is_yes);
        return true;
    case HEED_OPTION_INT:
        return read_whole(text, '\0', &whole, &rest)
                   ? hd_option_put_whole(o, values, whole, hd_quote(text).text, err)
                   : heed_option_refuse(o, text, err);
    case HEED_OPTION_FLOAT:
        return hd_option_read_number(text, &number)
                   ? hd_option_put_number(o, values, number, hd_quote(text).text, err)
                   : heed_option_refuse(o, text, err);
    case HEED_OPTION_CHOICE:
        return put_choice(o, values, text, err);
    case HEED_OPTION_NUMBERS:
        return put_numbers(o, values, text, err);
    case HEED_OPTION_TEXT:
    case HEED_OPTION_LIST:
        return put_copy(o, values, text, err);
    }
    return hd_fail(err, HEED_BAD_OPTION, "%s: there is no kind %d of options", o->name,
                   (int)o->kind);
}

bool heed_option_set(const heed_option *option, void *values, const char *text, heed_error *err)
{
    if (!are_given(option, values, text, err))
        return false;
    return option->set ? option->set(option, values, text, err)
                       : heed_option_set_by_kind(option, values, text, err);
}

bool heed_option_defaults(const heed_option *options, void *values, heed_error *err)
{
    if (!hd_is_given(options, "table of options", err) ||
        !hd_is_given(values, "struct to set", err))
        return false;
    for (const heed_option *o = options; o->name; o++)
        if (o->initial) {
            if (!heed_option_set(o, values, o->initial, err))
                return false;
        } else if (o->flags & HEED_OPTION_AUTO) {
            if (o->kind == HEED_OPTION_FLOAT)
                put_number(o, field_of(o, values), HD_OPTION_OPEN);
            else if (o->kind != HEED_OPTION_TEXT && o->size == sizeof(int))
                *(int *)field_of(o, values) = HD_OPTION_OPEN;
        }
    return true;
}

void heed_option_release(const heed_option *options, void *values)
{
    for (const heed_option *o = options; o && values && o->name; o++) {
        void *field = field_of(o, values);
        heed_option_list *list = field;
        if (o->kind == HEED_OPTION_TEXT && !o->print) {
            hd_free(get_text(field));
            memset(field, 0, o->size);
        } else if (o->kind == HEED_OPTION_LIST) {
            for (size_t i = 0; i < list->n; i++)
                hd_free(list->at[i]);
            hd_free(list->at);
            *list = (heed_option_list){0};
        }
    }
}

/* ---- and back -------------------------------------------------------------------------------- */

bool hd_option_is_open(const heed_option *o, const void *values)
{
    const void *field = field_of(o, values);
    if (!(o->flags & HEED_OPTION_AUTO))
        return false;
    if (o->kind == HEED_OPTION_FLOAT)
        return get_number(o, field) == HD_OPTION_OPEN;
    if (o->kind == HEED_OPTION_TEXT)
        return !get_text(field);
    return o->size == sizeof(int) && *(const int *)field == HD_OPTION_OPEN;
}

bool hd_option_is_valid(const heed_option *o, const void *values)
{
    const void *field = field_of(o, values);
    const int whole = o->size >= sizeof(int) ? *(const int *)field : 0;
    if (hd_option_is_open(o, values))
        return true;
    switch (o->kind) {
    case HEED_OPTION_INT:
        return whole >= least_of(o) && whole <= most_of(o);
    case HEED_OPTION_FLOAT:
        return is_number_in_range(o, get_number(o, field));
    case HEED_OPTION_CHOICE:
        return whole >= 0 && *hd_option_choice(o, whole).text && (o->most == 0 || whole < o->most);
    case HEED_OPTION_FLAG:
    case HEED_OPTION_YES_NO:
        return o->size == sizeof(bool) || whole == 0 || whole == 1;
    case HEED_OPTION_NUMBERS:
        return whole >= 0 && (size_t)whole < o->size / sizeof(int);
    case HEED_OPTION_TEXT:
    case HEED_OPTION_LIST:
        break;
    }
    return true;
}

static void print_numbers(const heed_option *o, const int *field, char *text, size_t size)
{
    const int room = (int)(o->size / sizeof *field) - 1, n = field[0] < room ? field[0] : room;
    size_t used = 0;
    snprintf(text, size, "none");
    for (int i = 1; i <= n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%d", i > 1 ? "," : "", field[i]);
}

/* The shortest decimal number that is this float, with a point in every locale. */
static void print_number(float x, char *text, size_t size)
{
    char number[32];
    const char *point = localeconv()->decimal_point;
    const char *at = strstr(hd_real_text(number, x), point);
    if (at)
        snprintf(text, size, "%.*s.%s", (int)(at - number), number, at + strlen(point));
    else
        snprintf(text, size, "%s", number);
}

const char *heed_option_text(const heed_option *o, const void *values, char *text, size_t size)
{
    if (!o || !values || !text || size == 0)
        return "";
    const void *field = field_of(o, values);
    const heed_option_list *list = field;
    bool is_yes;
    text[0] = '\0';
    if (o->print) {
        o->print(o, values, text, size);
        return text;
    }
    if (hd_option_is_open(o, values))
        return text;
    switch (o->kind) {
    case HEED_OPTION_FLAG:
    case HEED_OPTION_YES_NO:
        is_yes = o->size == sizeof(bool) ? *(const bool *)field : *(const int *)field != 0;
        snprintf(text, size, "%s", is_yes ? "yes" : "no");
        break;
    case HEED_OPTION_INT:
        snprintf(text, size, "%d", *(const int *)field);
        break;
    case HEED_OPTION_FLOAT:
        print_number((float)get_number(o, field), text, size);
        break;
    case HEED_OPTION_CHOICE:
        snprintf(text, size, "%s", hd_option_choice(o, *(const int *)field).text);
        break;
    case HEED_OPTION_NUMBERS:
        print_numbers(o, field, text, size);
        break;
    case HEED_OPTION_TEXT:
        return get_text(field) ? get_text(field) : "";
    case HEED_OPTION_LIST:
        return list->n == 1 ? list->at[0] : "";
    }
    return text;
}
