/* made_up.c -- each token is a pattern: letters stand for parts that are drawn, everything else for itself. */
#include "text/made_up.h"

#include <stdio.h>
#include <string.h>

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof *(list)))

static bool add_one_of(struct hd_buffer *out, const char *const *list, uint32_t n,
                       struct hd_rng *rng, heed_error *err)
{
    return hd_buffer_add_string(out, list[hd_rng_below(rng, n)], err);
}

static bool add_digits(struct hd_buffer *out, uint32_t n, struct hd_rng *rng, heed_error *err)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++) /* the first is not 0 */
        ok = hd_buffer_add_char(
            out, i == 0 && n > 1 ? '1' + hd_rng_below(rng, 9) : '0' + hd_rng_below(rng, 10), err);
    return ok;
}

static bool add_below(struct hd_buffer *out, uint32_t limit, bool is_padded, struct hd_rng *rng,
                      heed_error *err)
{
    char text[16];
    snprintf(text, sizeof text, is_padded ? "%02u" : "%u", hd_rng_below(rng, limit));
    return hd_buffer_add_string(out, text, err);
}

/* Syllables: a consonant or two, a vowel, and sometimes an end. */
static bool add_syllables(struct hd_buffer *out, uint32_t n, struct hd_rng *rng, heed_error *err)
{
    static const char *const starts[] = {"b",  "d",  "f",  "g",  "h",  "j",  "k",  "l",  "m",
                                         "n",  "p",  "r",  "s",  "t",  "v",  "w",  "z",  "br",
                                         "ch", "dr", "gr", "kl", "pr", "sh", "st", "th", "tr"};
    static const char *const vowels[] = {"a", "e", "i", "o", "u", "a", "e", "o", "ai", "ie", "ou"};
    static const char *const ends[] = {"",  "",  "",  "",   "l",  "n",  "r",
                                       "s", "m", "t", "ck", "nd", "rt", "x"};
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = add_one_of(out, starts, COUNT(starts), rng, err) &&
             add_one_of(out, vowels, COUNT(vowels), rng, err) &&
             add_one_of(out, ends, COUNT(ends), rng, err);
    return ok;
}

static bool add_from(struct hd_buffer *out, const char *letters, uint32_t n, struct hd_rng *rng,
                     heed_error *err)
{
    const uint32_t n_letters = (uint32_t)strlen(letters);
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = hd_buffer_add_char(out, (unsigned char)letters[hd_rng_below(rng, n_letters)], err);
    return ok;
}

/* One part of a pattern; any other character is itself.
 *
 *     N  1 to 7 digits      n  1 or 2 digits    2 4  so many digits
 *     H  hours              M  minutes, months and the like, two digits
 *     W  a word             w  a short word     X  letters and digits   A  capitals
 *     T  the end of a host's name               E  the ending of a file's name */
static bool add_part(struct hd_buffer *out, char part, struct hd_rng *rng, heed_error *err)
{
    static const char *const hosts[] = {"com", "org", "net", "de", "fr", "io", "co.uk", "edu"};
    static const char *const endings[] = {"pdf", "txt", "doc", "jpg", "png", "zip",
                                          "odt", "csv", "py",  "c",   "xml", "html"};
    switch (part) {
    case 'N':
        return add_digits(out, 1 + hd_rng_below(rng, 7), rng, err);
    case 'n':
        return add_digits(out, 1 + hd_rng_below(rng, 2), rng, err);
    case '2':
    case '4':
        return add_digits(out, (uint32_t)(part - '0'), rng, err);
    case 'H':
        return add_below(out, 24, false, rng, err);
    case 'M':
        return add_below(out, 60, true, rng, err);
    case 'W':
        return add_syllables(out, 1 + hd_rng_below(rng, 3), rng, err);
    case 'w':
        return add_syllables(out, 1, rng, err);
    case 'X':
        return add_from(out, "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789",
                        3 + hd_rng_below(rng, 8), rng, err);
    case 'A':
        return add_from(out, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 2 + hd_rng_below(rng, 3), rng, err);
    case 'T':
        return add_one_of(out, hosts, COUNT(hosts), rng, err);
    case 'E':
        return add_one_of(out, endings, COUNT(endings), rng, err);
    default:
        return hd_buffer_add(out, &part, 1, err);
    }
}

/* A pattern; what follows a backslash is itself. */
static bool add_pattern(struct hd_buffer *out, const char *pattern, struct hd_rng *rng,
                        heed_error *err)
{
    bool ok = true;
    for (; ok && *pattern; pattern++)
        if (*pattern == '\\' && pattern[1])
            ok = hd_buffer_add(out, ++pattern, 1, err);
        else
            ok = add_part(out, *pattern, rng, err);
    return ok;
}

bool hd_make_up_name(struct hd_buffer *out, struct hd_rng *rng, heed_error *err)
{
    const size_t from = out->n;
    if (!add_syllables(out, 2 + hd_rng_below(rng, 2), rng, err))
        return false;
    out->at[from] = (char)(out->at[from] - 'a' + 'A');
    return true;
}

bool hd_make_up_number(struct hd_buffer *out, struct hd_rng *rng, heed_error *err)
{
    static const char *const patterns[] = {
        "N",     "N",   "N",  "4",     "4",   "n.n",  "n,n", "H:M",   "H:M", "$N",      "€n.2",
        "n.n.n", "4-4", "N%", "4-M-M", "n/n", "+2-4", "n,4", "n.n.4", "nxn", "10.n.n.n"};
    return add_pattern(out, patterns[hd_rng_below(rng, COUNT(patterns))], rng, err);
}

bool hd_make_up_number_like(struct hd_buffer *out, struct hd_text number, struct hd_rng *rng,
                            heed_error *err)
{
    bool is_plain = true, ok = true;
    for (size_t i = 0; i < number.n; i++)
        is_plain = is_plain && number.at[i] >= '0' && number.at[i] <= '9';
    if (is_plain)
        return add_digits(out, 1 + hd_rng_below(rng, 7), rng, err);
    for (size_t i = 0; ok && i < number.n; i++) {
        const bool is_digit = number.at[i] >= '0' && number.at[i] <= '9';
        const char digit = (char)('0' + hd_rng_below(rng, 10));
        ok = hd_buffer_add(out, is_digit ? &digit : &number.at[i], 1, err);
    }
    return ok;
}

bool hd_make_up_code(struct hd_buffer *out, struct hd_rng *rng, heed_error *err)
{
    static const char *const patterns[] = {
        "\\h\\t\\t\\p\\s://\\w\\w\\w.W.T",
        "\\h\\t\\t\\p\\s://W.T/W",
        "\\h\\t\\t\\p://W.T/w/W?\\i\\d=N",
        "\\w\\w\\w.W.T",
        "W.T",
        "w.W@W.T",
        "W@W.T",
        "Wn@w-w.T",
        "W_w.E",
        "W.E",
        "w-n.E",
        "/w/W",
        "/W/w/W.E",
        "C:\\\\W\\\\W.E",
        "~/w/W.E",
        "X",
        "X",
        "A-4",
        "An",
        "w_W",
        "w_W()",
        "#W",
        "@Wn",
        "%\\s",
        "%\\d",
        "%\\1$\\s",
        "%n$\\d",
        "{W}",
        "{n}",
        "${w_w}",
        "{{W}}",
        "$A",
        "%W%",
        "--W",
        "<w>",
    };
    return add_pattern(out, patterns[hd_rng_below(rng, COUNT(patterns))], rng, err);
}
