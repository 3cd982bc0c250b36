/* protect_number.c -- numbers of a text, whatever separates their thousands and decimals, so that texts can be compared. */
#include "text/character.h"
#include "text/protect.h"

#include <string.h>

enum { MOST_NUMBERS = 64 };

/* The value of a decimal digit of any script, -1 for what is none. Digits come in tens that begin at a multiple of sixteen, or
 * six behind one. */
static int digit_value(uint32_t cp)
{
    if (cp < 0x80)
        return cp >= '0' && cp <= '9' ? (int)(cp - '0') : -1;
    if (!hd_char_is_digit(cp) || (cp >= 0x1D7CE && cp <= 0x1D7FF)) /* letters for formulas */
        return -1;
    const uint32_t block = cp & ~0xFU;
    return (int)(cp - (hd_char_is_digit(block) ? block : block + 6));
}

/* What may stand between digits of one number: '.', ',', or 's' for what only thousands are separated by. */
static char separator_of(uint32_t cp)
{
    switch (cp) {
    case '.':
    case 0x66B: /* Arabic decimal sign */
        return '.';
    case ',':
        return ',';
    case ' ':
    case '\'':
    case 0x66C: /* Arabic thousands */
    case 0xA0:
    case 0x2009:
    case 0x2019:
    case 0x202F:
        return 's';
    default:
        return '\0';
    }
}

/* Digits in groups: groups[k] digits, then separators[k]. */
struct shape {
    char digits[32];
    size_t n_digits;
    size_t groups[16];
    char separators[16];
    int n_groups;
};

static size_t read_digits(const char *text, size_t n, size_t i, struct shape *shape)
{
    size_t count = 0;
    for (size_t length; i < n; i += length, count++) {
        const int digit = digit_value(hd_char_at(text, n, i, &length));
        if (digit < 0)
            break;
        if (shape && shape->n_digits < sizeof shape->digits - 3)
            shape->digits[shape->n_digits++] = (char)('0' + digit);
    }
    if (shape)
        shape->groups[shape->n_groups++] = count;
    return i;
}

/* How many digits begin at text[i]; four will do. */
static size_t count_digits(const char *text, size_t n, size_t i)
{
    size_t count = 0;
    for (size_t length; count < 4 && digit_value(hd_char_at(text, n, i, &length)) >= 0; i += length)
        count++;
    return count;
}

/* Digits and separators that can be of one number: an apostrophe or a space only between groups of three. */
static size_t read_shape(const char *text, size_t n, size_t i, struct shape *shape)
{
    *shape = (struct shape){0};
    i = read_digits(text, n, i, shape);
    while (shape->n_groups < 16) {
        size_t length;
        const char separator = separator_of(hd_char_at(text, n, i, &length));
        const size_t n_next = separator ? count_digits(text, n, i + length) : 0;
        const size_t n_before = shape->groups[shape->n_groups - 1];
        const bool is_group = n_next == 3 && (shape->n_groups == 1 ? n_before <= 3 : n_before == 3);
        if (n_next == 0 || (separator == 's' && !is_group))
            break;
        shape->separators[shape->n_groups - 1] = separator;
        i = read_digits(text, n, i + length, shape);
    }
    return i;
}

/* Is the last separator that of decimals? Not if it is there twice, or could be one of thousands. */
static bool has_decimals(const struct shape *shape)
{
    const int last = shape->n_groups - 2;
    if (last < 0 || shape->separators[last] == 's')
        return false;
    for (int k = 0; k < last; k++)
        if (shape->separators[k] == shape->separators[last])
            return false;
    const bool may_be_thousands =
        shape->groups[last + 1] == 3 && shape->groups[0] <= 3 && shape->digits[0] != '0';
    return last > 0 || !may_be_thousands;
}

/* Do the separators make one number? "1.2.2024" and "1,2,3" are several. */
static bool is_one(const struct shape *shape)
{
    const int n_thousands = shape->n_groups - 1 - has_decimals(shape);
    for (int k = 0; k < n_thousands; k++)
        if (shape->groups[k + 1] != 3 || (k == 0 && shape->groups[0] > 3) ||
            shape->separators[k] != shape->separators[0])
            return false;
    return true;
}

/* Is there a number before text[i], and only a separator between: a date's month? */
static bool is_part(const char *text, size_t i)
{
    return i > 1 && (text[i - 1] == '.' || text[i - 1] == ',') && text[i - 2] >= '0' &&
           text[i - 2] <= '9';
}

static void write_value(struct hd_number *number, const struct shape *shape)
{
    size_t n_decimals = has_decimals(shape) ? shape->groups[shape->n_groups - 1] : 0, n = 0;
    n_decimals = n_decimals < shape->n_digits ? n_decimals : shape->n_digits;
    const size_t n_whole = shape->n_digits - n_decimals;
    size_t begin = 0, end = shape->n_digits;
    while (begin + 1 < n_whole && shape->digits[begin] == '0')
        begin++;
    while (end > n_whole && shape->digits[end - 1] == '0')
        end--;
    for (size_t i = begin; i < end; i++) {
        if (i == n_whole)
            number->value[n++] = '.';
        number->value[n++] = shape->digits[i];
    }
    number->value[n] = '\0';
}

bool hd_number_next(const char *text, size_t n, size_t *i, struct hd_number *number)
{
    for (size_t length; *i < n; *i += length) {
        if (digit_value(hd_char_at(text, n, *i, &length)) < 0)
            continue;
        struct shape shape;
        size_t end = read_shape(text, n, *i, &shape);
        if (!is_one(&shape) || is_part(text, *i)) {
            shape = (struct shape){0};
            end = read_digits(text, n, *i, &shape);
        }
        *number = (struct hd_number){.span = {*i, end}};
        write_value(number, &shape);
        *i = end;
        return true;
    }
    return false;
}

static size_t numbers_of(struct hd_number *numbers, const char *text, size_t n)
{
    size_t count = 0, i = 0;
    while (count < MOST_NUMBERS && hd_number_next(text, n, &i, &numbers[count]))
        count++;
    return count;
}

struct hd_number_difference hd_numbers_compare(const char *source, size_t n_source,
                                               const char *translation, size_t n_translation)
{
    struct hd_number a[MOST_NUMBERS], b[MOST_NUMBERS];
    const size_t n_a = numbers_of(a, source, n_source);
    const size_t n_b = numbers_of(b, translation, n_translation);
    bool is_used[MOST_NUMBERS] = {0};
    struct hd_number_difference d = {0};
    for (size_t i = 0; i < n_a; i++) {
        size_t k = 0;
        while (k < n_b && (is_used[k] || strcmp(a[i].value, b[k].value) != 0))
            k++;
        if (k < n_b)
            is_used[k] = true;
        else if (d.n_missing++ == 0)
            d.missing = a[i];
    }
    for (size_t k = 0; k < n_b; k++)
        if (!is_used[k] && d.n_extra++ == 0)
            d.extra = b[k];
    return d;
}
