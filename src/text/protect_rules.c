/* protect_rules.c -- how to know an address, a path, a code, a variable of a program's message: a rule is a function that says how many bytes at a
 * place are of its kind.
 *
 * False friends decide the rules: "e.g.", "and/or", "1/2", "3:15", "U.S.", "100% of". What a rule may look at is bounded, so that
 * a text takes time in proportion to its length. */
#include "text/character.h"
#include "text/html_tag.h"
#include "text/protect.h"

#include <string.h>

enum { LONGEST = 2048, LONGEST_NAME = 512 }; /* bytes of an address, and of anything else */

/* ---- characters ---------------------------------------------------------------------------------- */

/* The part of a text that rules may look at: from one byte of it to the end. */
struct view {
    const char *text;
    size_t n;
};

static char at(struct view v, size_t i)
{
    return i < v.n ? v.text[i] : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_alpha(char c)
{
    return is_lower(c) || is_upper(c);
}

static bool is_alnum(char c)
{
    return is_alpha(c) || is_digit(c);
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Bytes of characters above ASCII count as letters here; quotes and dashes among them end a word all the same. */
static bool is_word(char c)
{
    return is_alnum(c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Is the character at i no part of a word: the end, white space, punctuation of any script? */
static bool is_boundary(struct view v, size_t i)
{
    size_t length;
    const uint32_t cp = hd_char_at(v.text, v.n, i, &length);
    return !(hd_char_is_letter(cp) || hd_char_is_digit(cp) || cp == '_');
}

static size_t run(struct view v, size_t i, bool (*is)(char))
{
    size_t n = 0;
    while (i + n < v.n && n < LONGEST_NAME && is(v.text[i + n]))
        n++;
    return n;
}

static bool has(struct view v, size_t i, const char *text)
{
    const size_t n = strlen(text);
    return i <= v.n && n <= v.n - i && memcmp(v.text + i, text, n) == 0;
}

static bool in_list(const char *list, const char *word, size_t n)
{
    char padded[16];
    if (n == 0 || n + 3 > sizeof padded)
        return false;
    padded[0] = ' ';
    for (size_t i = 0; i < n; i++)
        padded[i + 1] = is_upper(word[i]) ? (char)(word[i] + 32) : word[i];
    padded[n + 1] = ' ';
    padded[n + 2] = '\0';
    return strstr(list, padded) != NULL;
}

/* ---- addresses ----------------------------------------------------------------------------------- */

static const char domains[] =
    " com org net edu gov mil int info biz io ai app dev de fr uk es nl ch pl ru jp cn br eu ca au "
    "tv se fi dk cz gr pt hu ro ua kr tw hk nz za mx ar cl wiki blog shop xyz online site tech "
    "cloud ";

/* Up to white space, quotes and angle brackets, without the punctuation of the sentence around it. */
static size_t address_length(struct view v, size_t i)
{
    size_t end = i, length;
    for (; end < v.n && end - i < LONGEST; end += length) {
        const uint32_t cp = hd_char_at(v.text, v.n, end, &length);
        if (cp <= ' ' || cp == '"' || cp == '<' || cp == '>' || cp == '`' || cp == 0xFFFD ||
            cp == 0xAB || cp == 0xBB || (cp >= 0x2018 && cp <= 0x201F) || hd_char_is_space(cp) ||
            (cp >= 0x3001 && cp <= 0x3011) || (cp >= 0xFF01 && cp <= 0xFF0F) || cp == 0xFF1F ||
            hd_char_is_hangul(cp) || (cp >= 0x3040 && cp <= 0x9FFF))
            break;
    }
    for (; end > i; end--) {
        const char last = v.text[end - 1];
        size_t n_open = 0, n_close = 0;
        if (last == ')')
            for (size_t k = i; k < end; k++) {
                n_open += v.text[k] == '(';
                n_close += v.text[k] == ')';
            }
        if (!strchr(".,;:!?'*]}", last) && !(last == ')' && n_close > n_open))
            break;
    }
    return end - i;
}

/* A domain's labels, "www.example.co.uk": its length, and whether its last label is one that domains end in. */
static size_t domain_length(struct view v, size_t i, bool *is_known)
{
    size_t end = i, last = i, n_labels = 0;
    while (end - i < 256) {
        const size_t begin = end;
        while (is_alnum(at(v, end)) ||
               (at(v, end) == '-' && end > begin && is_alnum(at(v, end + 1))))
            end++;
        if (end == begin)
            break;
        n_labels++;
        last = begin;
        if (at(v, end) != '.' || !is_alnum(at(v, end + 1)))
            break;
        end++;
    }
    *is_known =
        n_labels > 1 && is_lower(at(v, last)) && in_list(domains, v.text + last, end - last);
    return n_labels > 1 ? end - i : 0;
}

static size_t url_length(struct view v, size_t i)
{
    size_t scheme = i;
    while (is_alnum(at(v, scheme)) || (scheme > i && strchr("+-.", at(v, scheme)) && at(v, scheme)))
        if (++scheme - i > 20)
            break;
    if (is_alpha(at(v, i)) && has(v, scheme, "://")) {
        const size_t n = address_length(v, i);
        return n > scheme - i + 3 ? n : 0;
    }
    if (has(v, i, "mailto:") && is_alnum(at(v, i + 7)))
        return address_length(v, i);
    bool is_known;
    if ((has(v, i, "www.") || has(v, i, "WWW.")) && is_alnum(at(v, i + 4)))
        return domain_length(v, i, &is_known) > 0 ? address_length(v, i) : 0;
    const size_t n = domain_length(v, i, &is_known);
    if (n == 0 || !is_known)
        return 0;
    const char behind = at(v, i + n);
    if (behind == '/' || (behind == ':' && is_digit(at(v, i + n + 1))))
        return address_length(v, i);
    return is_boundary(v, i + n) && behind != '@' ? n : 0;
}

static bool is_local(char c) /* before the @ */
{
    return is_alnum(c) || c == '.' || c == '_' || c == '%' || c == '+' || c == '-';
}

static size_t mail_length(struct view v, size_t i)
{
    const size_t local = run(v, i, is_local);
    bool is_known;
    if (local == 0 || local > 64 || !is_alnum(at(v, i)) || at(v, i + local) != '@')
        return 0;
    const size_t domain = domain_length(v, i + local + 1, &is_known);
    return domain > 0 ? local + 1 + domain : 0;
}

/* ---- paths --------------------------------------------------------------------------------------- */

static const char extensions[] = " txt pdf doc docx odt rtf xls xlsx ods csv tsv ppt pptx odp png "
                                 "jpg jpeg gif bmp svg webp ico tif tiff psd "
                                 "mp3 mp4 wav ogg flac avi mkv mov webm zip gz bz2 xz tar tgz rar "
                                 "7z iso img html htm xhtml css scss js mjs jsx ts tsx "
                                 "py ipynb c h cc cpp cxx hpp cs java jar kt rb rs php pl lua sh "
                                 "bash zsh bat ps1 swift sql db sqlite json jsonl xml "
                                 "xsd yml yaml toml ini cfg conf md rst tex bib log lock exe dll "
                                 "msi apk deb rpm dmg bin dat bak tmp pem crt key "
                                 "safetensors npz npy spm onnx po pot qm ui vue ";

static bool is_file_char(char c)
{
    return is_word(c) || c == '-' || c == '.' || c == '+' || c == '~' || c == '@' || c == '%' ||
           c == '=' || c == '#' || c == '$';
}

static bool is_path_char(char c)
{
    return is_file_char(c) || c == '/';
}

static bool is_windows_char(char c)
{
    return is_file_char(c) || c == '\\' || c == '/';
}

/* Names may have letters of all scripts, but quotes, dashes and wide punctuation are not among them. */
static size_t without_punctuation(struct view v, size_t i, size_t n)
{
    size_t end = i;
    for (size_t length; end < i + n; end += length) {
        const uint32_t cp = hd_char_at(v.text, v.n, end, &length);
        if (cp >= 0x80 && !hd_char_is_letter(cp) && !hd_char_is_digit(cp))
            break;
    }
    while (end > i && strchr(".,;:!?@%=#$+-~", v.text[end - 1]))
        end--;
    return end - i;
}

/* Does text[i..i+n) end in ".txt" or the like, behind a name? */
static bool has_extension(struct view v, size_t i, size_t n)
{
    size_t dot = i + n;
    while (dot > i && v.text[dot - 1] != '.' && v.text[dot - 1] != '/')
        dot--;
    const size_t length = i + n - dot;
    if (dot < i + 2 || v.text[dot - 1] != '.' || !is_word(v.text[dot - 2]))
        return false;
    /* "No.1.C"? "a.c": a name of one letter is rather an abbreviation. */
    const bool is_name = length > 1 || (dot >= i + 3 && is_lower(v.text[dot]));
    const bool is_one_case =
        is_lower(v.text[dot]) ? run(v, dot, is_lower) + run(v, dot, is_digit) > 0 : true;
    return is_name && is_one_case && in_list(extensions, v.text + dot, length);
}

static size_t path_length(struct view v, size_t i)
{
    if (is_alpha(at(v, i)) && at(v, i + 1) == ':' && at(v, i + 2) == '\\')
        return 3 + without_punctuation(v, i + 3, run(v, i + 3, is_windows_char));
    if (has(v, i, "\\\\") && is_alnum(at(v, i + 2)))
        return 2 + without_punctuation(v, i + 2, run(v, i + 2, is_windows_char));
    const bool is_anchored = has(v, i, "~/") || has(v, i, "./") || has(v, i, "../");
    const size_t n = without_punctuation(v, i, run(v, i, is_path_char));
    if (is_anchored)
        return n > 2 ? n : 0;
    if (n < 3)
        return 0;
    const char *slash = memchr(v.text + i + 1, '/', n - 1);
    static const char top[] = " etc usr tmp home var dev bin opt lib mnt proc root srv sys boot ";
    if (at(v, i) == '/') {
        if (!is_word(at(v, i + 1)) || is_digit(at(v, i + 1)))
            return 0;
        const size_t first = slash ? (size_t)(slash - v.text) - i - 1 : n - 1;
        return in_list(top, v.text + i + 1, first) || has_extension(v, i, n) ||
                       (slash && n > first + 2)
                   ? n
                   : 0;
    }
    return has_extension(v, i, n) && is_word(at(v, i)) ? n : 0;
}

/* ---- codes --------------------------------------------------------------------------------------- */

/* 123e4567-e89b-12d3-a456-426614174000 */
static size_t uuid_length(struct view v, size_t i)
{
    static const size_t groups[] = {8, 4, 4, 4, 12};
    size_t end = i;
    for (int g = 0; g < 5; g++) {
        if (g > 0 && at(v, end++) != '-')
            return 0;
        if (run(v, end, is_hex) != groups[g])
            return 0;
        end += groups[g];
    }
    return end - i;
}

/* 0x1F, #ff8800, and hashes of seven digits or more that have letters as well. */
static size_t hex_length(struct view v, size_t i)
{
    if (at(v, i) == '0' && (at(v, i + 1) == 'x' || at(v, i + 1) == 'X')) {
        const size_t n = run(v, i + 2, is_hex);
        return n > 0 ? n + 2 : 0;
    }
    if (at(v, i) == '#') {
        const size_t n = run(v, i + 1, is_hex), n_digits = run(v, i + 1, is_digit);
        return (n == 6 || n == 8 || n == 3) && (n_digits < n || n > 3) ? n + 1 : 0;
    }
    const size_t n = run(v, i, is_hex);
    size_t n_digits = 0, n_lower = 0;
    for (size_t k = i; k < i + n; k++) {
        n_digits += is_digit(v.text[k]);
        n_lower += is_lower(v.text[k]);
    }
    const size_t n_letters = n - n_digits;
    return n >= 7 && n_digits > 1 && n_letters > 1 && (n_lower == 0 || n_lower == n_letters) ? n
                                                                                             : 0;
}

/* v2, 2.4.1, 10.0.0.1:8080, 1.0.0-beta.2; not 3.14, 1.234.567, 12.05.2024. */
static size_t version_length(struct view v, size_t i)
{
    const bool has_v = (at(v, i) == 'v' || at(v, i) == 'V') && is_digit(at(v, i + 1));
    size_t end = i + has_v, n_parts = 0, n_last = 0;
    bool is_grouped = true; /* like thousands */
    while (n_parts < 12) {
        const size_t n = run(v, end, is_digit);
        if (n == 0)
            return 0;
        is_grouped &= n_parts == 0 ? n <= 3 : n == 3;
        n_last = n;
        end += n;
        n_parts++;
        if (at(v, end) != '.' || !is_digit(at(v, end + 1)))
            break;
        end++;
    }
    if (!has_v && (n_parts < 3 || is_grouped || (n_parts == 3 && n_last == 4)))
        return 0;
    if (at(v, end) == ':' && is_digit(at(v, end + 1)) && n_parts == 4)
        end += 1 + run(v, end + 1, is_digit);
    else if ((at(v, end) == '-' || at(v, end) == '+') && is_alpha(at(v, end + 1)) && n_parts > 1) {
        end++;
        while (is_alnum(at(v, end)) || (at(v, end) == '.' && is_alnum(at(v, end + 1))))
            end++;
    } else
        end += is_lower(at(v, end)) && !is_word(at(v, end + 1)) && n_parts > 1;
    return end - i;
}

static bool is_code_char(char c)
{
    return is_alnum(c) || c == '-' || c == '_' || c == '/';
}

/* ABC-1234, DIN_4711, RX100V: capitals and digits, both. */
static size_t part_number_length(struct view v, size_t i)
{
    size_t n = run(v, i, is_code_char), n_upper = 0, n_digits = 0, n_joints = 0;
    while (n > 0 && !is_alnum(v.text[i + n - 1]))
        n--;
    for (size_t k = i; k < i + n; k++) {
        const char c = v.text[k];
        if (is_lower(c) || (!is_alnum(c) && !is_alnum(at(v, k + 1))))
            return 0;
        n_upper += is_upper(c);
        n_digits += is_digit(c);
        n_joints += c == '-' || c == '_';
    }
    return n_upper > 0 && n_digits > 0 && (n_joints > 0 ? n > 3 || is_upper(at(v, i)) : n > 3) ? n
                                                                                               : 0;
}

static bool is_name_char(char c)
{
    return is_alnum(c) || c == '_';
}

/* my_name, std::vector, main() */
static size_t identifier_length(struct view v, size_t i)
{
    size_t end = i;
    bool is_code = false;
    if (!is_alpha(at(v, i)) && !(at(v, i) == '_' && is_name_char(at(v, i + 1))))
        return 0;
    while (end - i < 256) {
        const size_t n = run(v, end, is_name_char);
        for (size_t k = end + 1; k + 1 < end + n; k++)
            is_code |= v.text[k] == '_' && is_alnum(v.text[k - 1]) && is_alnum(v.text[k + 1]);
        end += n;
        if (!has(v, end, "::") || !is_name_char(at(v, end + 2)))
            break;
        is_code = true;
        end += 2;
    }
    if (has(v, end, "()")) {
        is_code = true;
        end += 2;
    }
    return is_code ? end - i : 0;
}

/* A separator of groups of digits: a single one that a digit or an opening bracket follows. */
static bool is_between_groups(char c)
{
    return c == ' ' || c == '-' || c == '.' || c == '/';
}

/* +49 30 123456, +1 (555) 123-4567, 06 12 34 56 78, 030/1234567. Without the + it begins with a 0 and has the same sign between all of
 * its groups, and more digits than a date. A number of nine digits or more is one, too: nobody counts that far. */
static size_t telephone_length(struct view v, size_t i)
{
    const bool has_plus = at(v, i) == '+';
    char separator = '\0';
    size_t end = i + has_plus, n_digits = run(v, end, is_digit);
    if (n_digits == 0 || (!has_plus && v.text[i] != '0' && n_digits < 9))
        return 0;
    end += n_digits;
    while (has_plus || v.text[i] == '0') {
        const char sign = at(v, end);
        const bool has_bracket = has_plus && at(v, end + is_between_groups(sign)) == '(';
        const size_t begin = end + is_between_groups(sign) + has_bracket,
                     n = run(v, begin, is_digit);
        if (begin == end || n < (has_bracket ? 1 : 2) || (has_bracket && at(v, begin + n) != ')'))
            break;
        if (!has_plus && separator && sign != separator)
            break;
        separator = sign;
        n_digits += n;
        end = begin + n + has_bracket;
        if (has_bracket && is_digit(at(v, end))) { /* +49 (0)30 */
            n_digits += run(v, end, is_digit);
            end += run(v, end, is_digit);
        }
    }
    const bool goes_on = (at(v, end) == ':' || at(v, end) == ',') && is_digit(at(v, end + 1));
    return n_digits >= (has_plus ? 7 : 9) && n_digits < 30 && !goes_on ? end - i : 0;
}

/* #winter, @jane, @jane@social.example: names of networks. */
static size_t handle_length(struct view v, size_t i)
{
    size_t end = i + 1, length, n = 0;
    uint32_t cp = hd_char_at(v.text, v.n, end, &length);
    if ((at(v, i) != '#' && at(v, i) != '@') || end >= v.n || !hd_char_is_letter(cp))
        return 0;
    for (; end < v.n && end - i < LONGEST_NAME; end += length, n++) {
        cp = hd_char_at(v.text, v.n, end, &length);
        if (!hd_char_is_letter(cp) && !hd_char_is_digit(cp) && cp != '_')
            break;
    }
    if (at(v, i) == '@' && at(v, end) == '@' && is_alnum(at(v, end + 1))) { /* and its server */
        end++;
        while (is_alnum(at(v, end)) ||
               ((at(v, end) == '.' || at(v, end) == '-') && is_alnum(at(v, end + 1))))
            end++;
    }
    return n > 1 ? end - i : 0;
}

/* What stands between `backticks`, as in messages and manuals. */
static size_t quoted_code_length(struct view v, size_t i)
{
    if (at(v, i) != '`' || (i > 0 && v.text[i - 1] == '`'))
        return 0;
    for (size_t end = i + 1; end < v.n && end - i < LONGEST_NAME && v.text[end] != '\n'; end++)
        if (v.text[end] == '`')
            return v.text[i + 1] > ' ' && v.text[end - 1] > ' ' && end > i + 1 &&
                           at(v, end + 1) != '`'
                       ? end + 1 - i
                       : 0;
    return 0;
}

static size_t code_length(struct view v, size_t i)
{
    static size_t (*const rules[])(struct view, size_t) = {
        uuid_length,       hex_length,       version_length, part_number_length,
        identifier_length, telephone_length, handle_length,  quoted_code_length};
    size_t best = 0;
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        const size_t n = rules[k](v, i);
        if (n > best && is_boundary(v, i + n))
            best = n;
    }
    return best;
}

/* ---- variables ----------------------------------------------------------------------------------- */

/* %s, %-5.2f, %1$d, %(name)s, %{name}, %1; not "5 % discount" or "100%d". */
static size_t printf_length(struct view v, size_t i)
{
    size_t k = i + 1;
    if (at(v, k) == '%')
        return 2;
    if (at(v, k) == '(' || at(v, k) == '{') {
        const char close = at(v, k) == '(' ? ')' : '}';
        const size_t n = run(v, k + 1, is_name_char);
        if (n == 0 || at(v, k + 1 + n) != close)
            return 0;
        k += n + 2;
        return close == '}' ? k - i : is_alpha(at(v, k)) ? k + 1 - i : 0;
    }
    const size_t position = run(v, k, is_digit);
    const bool has_position = position > 0 && at(v, k + position) == '$';
    if (has_position)
        k += position + 1;
    while (at(v, k) && strchr("-+#0'", at(v, k)))
        k++;
    k += at(v, k) == '*' ? 1 : run(v, k, is_digit);
    if (at(v, k) == '.')
        k += 1 + (at(v, k + 1) == '*' ? 1 : run(v, k + 1, is_digit));
    const size_t before = k;
    while (at(v, k) && strchr("hlzjtLq", at(v, k)) && k < before + 2)
        k++;
    if (at(v, k) && strchr("diouxXeEfFgGaAcsSpn@", at(v, k)) &&
        (has_position || is_boundary(v, k + 1)))
        return k + 1 - i;
    return position > 0 && position < 3 && !has_position && is_boundary(v, i + 1 + position)
               ? position + 1
               : 0;
}

static bool is_brace_char(char c)
{
    return is_name_char(c) || strchr(".:,!#@-[]+*/%", c);
}

/* {name}, {0:.2f}, {}, {{ name }}, ${x}; text in braces is text. */
static size_t brace_length(struct view v, size_t i)
{
    const size_t k = i + (at(v, i) == '$' || at(v, i) == '#');
    if (at(v, k) != '{')
        return 0;
    if (at(v, k + 1) == '{') {
        for (size_t end = k + 2; end + 1 < v.n && end - k < 80; end++)
            if (v.text[end] == '}' && v.text[end + 1] == '}')
                return end + 2 + (at(v, end + 2) == '}') - i;
            else if (v.text[end] == '{' && end > k + 2)
                return 0;
        return 0;
    }
    size_t n = 0;
    while (k + 1 + n < v.n && n < 64 && v.text[k + 1 + n] && is_brace_char(v.text[k + 1 + n]))
        n++;
    return at(v, k + 1 + n) == '}' ? k + n + 2 - i : 0;
}

/* <0>, </0>, <1/>, <b>, </a> */
static size_t tag_length(struct view v, size_t i)
{
    const size_t of_html = hd_html_tag_length(v.text + i, v.n - i);
    if (of_html > 0)
        return of_html;
    size_t k = i + 1 + (at(v, i + 1) == '/');
    const size_t n = run(v, k, is_digit);
    k += n;
    k += at(v, k) == '/' && at(v, i + 1) != '/';
    return n > 0 && n < 4 && at(v, k) == '>' ? k + 1 - i : 0;
}

static bool is_short_name_char(char c)
{
    return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '+';
}

/* :name: */
static size_t colon_length(struct view v, size_t i)
{
    const size_t n = run(v, i + 1, is_short_name_char);
    return n > 1 && n < 40 && is_lower(at(v, i + 1)) && at(v, i + 1 + n) == ':' &&
                   is_boundary(v, i + n + 2)
               ? n + 2
               : 0;
}

/* A shell's $HOME; $5 is money. */
static size_t dollar_length(struct view v, size_t i)
{
    const size_t n = run(v, i + 1, is_name_char);
    return n > 1 && !is_digit(at(v, i + 1)) && is_boundary(v, i + 1 + n) ? n + 1 : 0;
}

static size_t variable_length(struct view v, size_t i, bool is_in_word)
{
    switch (at(v, i)) {
    case '%':
        return i > 0 && is_digit(v.text[i - 1]) ? 0 : printf_length(v, i);
    case '$': {
        const size_t n = brace_length(v, i);
        return n > 0 || is_in_word ? n : dollar_length(v, i);
    }
    case '{':
    case '#':
        return brace_length(v, i);
    case '<':
        return tag_length(v, i);
    case ':':
        return is_in_word || (i > 0 && v.text[i - 1] == ':') ? 0 : colon_length(v, i);
    case '\xE2':
        for (int k = 0; k < HD_N_PLACEHOLDERS; k++)
            if (has(v, i, hd_placeholder(k)))
                return strlen(hd_placeholder(k));
        return 0;
    default:
        return 0;
    }
}

/* ---- emoji ----------------------------------------------------------------------------------------- */

/* A run of them, with what joins and changes them. */
static size_t emoji_length(struct view v, size_t i)
{
    size_t end = i, length;
    while (end < v.n && hd_char_is_emoji(hd_char_at(v.text, v.n, end, &length)))
        end += length;
    return end - i;
}

/* ---- all ------------------------------------------------------------------------------------------- */

/* May a word, a path or an address begin at text[i]? */
static bool begins_word(struct view v, size_t i)
{
    size_t length;
    if (i == 0)
        return true;
    const uint32_t before = hd_char_before(v.text, i, &length);
    const uint32_t cp = hd_char_at(v.text, v.n, i, &length);
    if (hd_char_is_east_asian(before) || hd_char_is_hangul(before))
        return cp < 0x80;
    return !(hd_char_is_letter(before) || hd_char_is_digit(before) || before == '_' ||
             before == '@' || before == '\\' || before == '-' || before == '/' ||
             (before == '.' && cp != '/'));
}

size_t hd_protected_at(const char *text, size_t n, size_t i, enum hd_protected_kind *kind)
{
    const struct view v = {text, n};
    const bool is_word_begin = begins_word(v, i);
    size_t best = variable_length(v, i, !is_word_begin);
    *kind = HD_PROTECTED_VARIABLE;
    if (best == 0 && (best = emoji_length(v, i)) > 0) {
        *kind = HD_PROTECTED_EMOJI;
        return best;
    }
    if (!is_word_begin || !text[i] || (!is_word(text[i]) && !strchr("/\\~.#@+`", text[i])))
        return best;
    static const struct {
        size_t (*length)(struct view, size_t);
        enum hd_protected_kind kind;
    } rules[] = {{url_length, HD_PROTECTED_URL},
                 {mail_length, HD_PROTECTED_MAIL},
                 {path_length, HD_PROTECTED_PATH},
                 {code_length, HD_PROTECTED_CODE}};
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        const size_t length = rules[k].length(v, i);
        if (length > best) {
            best = length;
            *kind = rules[k].kind;
        }
    }
    return best;
}
