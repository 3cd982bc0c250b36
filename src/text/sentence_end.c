/* sentence_end.c -- what stands around a mark decides whether it ends a sentence.
 *
 * A mark and the quotes and brackets that close behind it belong together, as do emoticons. Question marks and wide marks
 * are believed; a full stop may be an abbreviation's (sentence_dot.c). All looking back and ahead is bounded, so that time
 * stays linear. */
#include "text/sentence_end.h"

#include "text/character.h"
#include "text/sentence_words.h"

#include <string.h>
#include <utf8proc.h>

enum mark { MARK_NONE, MARK_DOT, MARK_ELLIPSIS, MARK_STRONG, MARK_WIDE };

enum { MOST_BACK = 44 }; /* bytes of a word that is looked at */

/* ---- characters and words ------------------------------------------------------------------------ */

static uint32_t at(const struct hd_sentences *s, size_t i)
{
    size_t length;
    return hd_char_at(s->text, s->n, i, &length);
}

static utf8proc_category_t category(uint32_t cp)
{
    return utf8proc_category((utf8proc_int32_t)cp);
}

static bool is_quote(uint32_t cp)
{
    return cp == '"' || cp == '\'' || cp == 0xAB || cp == 0xBB || (cp >= 0x2018 && cp <= 0x201F) ||
           cp == 0x2039 || cp == 0x203A || (cp >= 0x300C && cp <= 0x300F);
}

static bool is_word_char(uint32_t cp)
{
    return hd_char_is_letter(cp) || hd_char_is_digit(cp);
}

static bool is_apostrophe(uint32_t cp)
{
    return cp == '\'' || cp == 0x2019;
}

static enum mark mark_at(const struct hd_sentences *s, size_t i)
{
    static const uint32_t wide[] = {0x3002, 0xFF01, 0xFF1F, 0xFF0E, 0xFF61, 0x06D4,
                                    0x0964, 0x0965, 0x0589, 0x1362, 0x1367, 0x17D4,
                                    0x17D5, 0x104B, 0x1803, 0x1809, 0};
    const uint32_t cp = at(s, i);
    size_t length;
    if (cp == '.')
        return MARK_DOT;
    if (cp == '!' || cp == '?')
        return MARK_STRONG;
    if (cp == ';') /* the Greek question mark */
        return (hd_char_before(s->text, i, &length) & ~0x7FU) == 0x380 ? MARK_STRONG : MARK_NONE;
    if (cp == '|') /* typed for a danda */
        return (hd_char_before(s->text, i, &length) & ~0x7FU) == 0x900 ? MARK_WIDE : MARK_NONE;
    if (cp < 0x80)
        return MARK_NONE;
    if (cp == 0x2026)
        return MARK_ELLIPSIS;
    if (cp == 0x061F || cp == 0x037E || cp == 0x203C || cp == 0x203D ||
        (cp >= 0x2047 && cp <= 0x2049))
        return MARK_STRONG;
    for (const uint32_t *w = wide; *w; w++)
        if (*w == cp)
            return MARK_WIDE;
    return MARK_NONE;
}

bool hd_ends_sentence(const struct hd_sentences *s, size_t i, uint32_t cp)
{
    return (cp == '.' || cp == '!' || cp == '?' || cp == ';' || cp == '|' || cp >= 0x80) &&
           mark_at(s, i) != MARK_NONE;
}

void hd_word_at(const struct hd_sentences *s, size_t i, char key[HD_WORD_KEY])
{
    size_t end = i;
    for (size_t length; end < s->n && end - i <= MOST_BACK; end += length) {
        const uint32_t cp = hd_char_at(s->text, s->n, end, &length);
        if (!is_word_char(cp) && !(is_apostrophe(cp) && is_word_char(at(s, end + length))))
            break;
    }
    key[0] = '\0';
    if (end - i > MOST_BACK)
        return;
    if (!hd_lower_key(key, HD_WORD_KEY, s->text, i, end))
        key[0] = '\0';
    char *curly = strstr(key, "\xE2\x80\x99");
    if (curly) {
        *curly = '\'';
        memmove(curly + 1, curly + 3, strlen(curly + 3) + 1);
    }
}

/* Hebrew abbreviations have a quote before their last letter. */
static bool is_gershayim(const struct hd_sentences *s, size_t i, uint32_t cp)
{
    size_t length;
    return (cp == '"' || cp == 0x5F4) && (at(s, i) & ~0x7FU) == 0x580 &&
           (hd_char_before(s->text, i - (cp == '"' ? 1 : 2), &length) & ~0x7FU) == 0x580;
}

size_t hd_word_begin(const struct hd_sentences *s, size_t end)
{
    size_t i = end;
    for (size_t length; i > s->begin && end - i < MOST_BACK; i -= length) {
        const uint32_t cp = hd_char_before(s->text, i, &length);
        if (is_gershayim(s, i, cp))
            continue;
        if (length == 0 || length > i - s->begin || hd_char_is_space(cp) ||
            (is_quote(cp) && !is_apostrophe(cp)) || cp == '/' || cp == 0x2014 ||
            category(cp) == UTF8PROC_CATEGORY_PS || mark_at(s, i - length) >= MARK_ELLIPSIS)
            break;
    }
    return i;
}

size_t hd_skip_space_back(const struct hd_sentences *s, size_t i)
{
    for (size_t length; i > s->begin && hd_char_is_space(hd_char_before(s->text, i, &length));)
        i -= length;
    return i;
}

void hd_word_before(const struct hd_sentences *s, size_t i, char key[HD_WORD_KEY])
{
    const size_t end = hd_skip_space_back(s, i);
    if (!hd_lower_key(key, HD_WORD_KEY, s->text, hd_word_begin(s, end), end))
        key[0] = '\0';
}

/* ---- reading an ending --------------------------------------------------------------------------- */

static bool is_space_or_end(const struct hd_sentences *s, size_t i)
{
    return i >= s->n || hd_char_is_space(at(s, i));
}

/* ". . ." is one ellipsis: does the full stop before text[i] go on so? */
static bool is_spaced_dot(const struct hd_sentences *s, size_t i)
{
    return i + 1 < s->n && s->text[i] == ' ' && s->text[i + 1] == '.' &&
           (i + 2 == s->n || !is_word_char(at(s, i + 2)));
}

static size_t read_marks(const struct hd_sentences *s, struct hd_ending *e, size_t i)
{
    for (size_t length; i < s->n; i += length) {
        const enum mark mark = mark_at(s, i);
        if (mark == MARK_NONE)
            break;
        hd_char_at(s->text, s->n, i, &length);
        e->n_dots += mark == MARK_DOT;
        e->has_ellipsis |= mark == MARK_ELLIPSIS;
        e->has_strong |= mark == MARK_STRONG || at(s, i) == 0xFF01 || at(s, i) == 0xFF1F;
        e->has_wide |= mark == MARK_WIDE;
        length += mark == MARK_DOT && is_spaced_dot(s, i + 1);
    }
    e->has_ellipsis |= e->n_dots > 1;
    return i;
}

/* How many bytes at text[i] close what the marks before end: a quote, a bracket, "[3]", "**". */
static size_t closing_length(const struct hd_sentences *s, size_t i)
{
    size_t length;
    const uint32_t cp = hd_char_at(s->text, s->n, i, &length);
    if (length == 0)
        return 0;
    const uint32_t behind = at(s, i + length);
    if (cp == '[') {
        size_t j = i + 1;
        while (j < s->n && j < i + 6 && hd_char_is_digit((unsigned char)s->text[j]))
            j++;
        return j > i + 1 && j < s->n && s->text[j] == ']' ? j + 1 - i : 0;
    }
    if (cp == '*' || cp == '_')
        return is_space_or_end(s, i + 1) || behind == cp ? 1 : 0;
    if (cp == 0xB9 || cp == 0xB2 || cp == 0xB3 || (cp >= 0x2074 && cp <= 0x2079))
        return length;
    if (hd_char_is_space(cp) && (behind == 0xBB || behind == 0x203A)) /* « oui. » */
        return is_word_char(at(s, i + length + 2 + (behind == 0x203A))) ? 0 : length;
    if (category(cp) == UTF8PROC_CATEGORY_PE || cp == 0x300D || cp == 0x300F)
        return length;
    return is_quote(cp) && (!is_word_char(behind) || hd_char_is_hangul(behind) ||
                            hd_char_is_east_asian(behind))
               ? length
               : 0;
}

static size_t emoticon_length(const struct hd_sentences *s, size_t i)
{
    size_t end = i, length;
    for (; end < s->n && end - i < 64; end += length) {
        const uint32_t cp = hd_char_at(s->text, s->n, end, &length);
        if (cp == s->bullet || !hd_char_is_emoji(cp))
            break;
    }
    if (end > i)
        return end - i;
    if (i + 1 < s->n && strchr(":;=8", s->text[i])) {
        end = i + 1;
        end += s->text[end] == '-' || s->text[end] == '\'';
        const size_t mouth = end;
        while (end < s->n && end < i + 6 && s->text[end] && strchr(")(DPp]|/*3", s->text[end]))
            end++;
        return end > mouth && is_space_or_end(s, end) ? end - i : 0;
    }
    return i + 2 <= s->n && memcmp(s->text + i, "<3", 2) == 0 && is_space_or_end(s, i + 2) ? 2 : 0;
}

static void read_closing(const struct hd_sentences *s, struct hd_ending *e)
{
    size_t length;
    for (int k = 0; k < 32 && (length = closing_length(s, e->after)) > 0; k++) {
        e->has_closing |= s->text[e->after] != '[' && s->text[e->after] != '*';
        e->after = read_marks(s, e, e->after + length);
    }
    for (size_t length, i;
         (i = hd_skip_space(s->text, s->n, e->after)), (length = emoticon_length(s, i)) > 0;)
        e->after = i + length;
}

static enum hd_follower follower_at(const struct hd_sentences *s, size_t i)
{
    const uint32_t cp = at(s, i);
    if (hd_char_is_upper(cp))
        return HD_NEXT_UPPER;
    if (hd_char_is_lower(cp))
        return HD_NEXT_LOWER;
    if (hd_char_is_digit(cp))
        return HD_NEXT_DIGIT;
    if (hd_char_is_letter(cp))
        return HD_NEXT_UNCASED;
    if (cp == '-' || cp == 0x2013 || cp == 0x2014) { /* a dash: what is behind it decides */
        size_t length;
        hd_char_at(s->text, s->n, i, &length);
        const uint32_t behind = at(s, hd_skip_space(s->text, s->n, i + length));
        return hd_char_is_lower(behind) ? HD_NEXT_PUNCTUATION : HD_NEXT_SYMBOL;
    }
    static const char goes_on[] = ",;:)]}&/%+=>";
    const utf8proc_category_t c = category(cp);
    if ((cp > 0 && cp < 0x80 && strchr(goes_on, (int)cp)) || cp == 0x3001 || cp == 0xFF0C ||
        cp == 0x060C || cp == 0x061B || cp == 0xFF1A || cp == 0xFF1B || c == UTF8PROC_CATEGORY_PE ||
        c == UTF8PROC_CATEGORY_PF)
        return HD_NEXT_PUNCTUATION;
    return HD_NEXT_SYMBOL;
}

static void read_follower(const struct hd_sentences *s, struct hd_ending *e)
{
    size_t i = e->next;
    for (size_t length; i < s->n && i - e->next < 16; i += length) {
        const uint32_t cp = hd_char_at(s->text, s->n, i, &length);
        const bool is_inverted = cp == 0xBF || cp == 0xA1;
        if (!is_inverted && !is_quote(cp) && category(cp) != UTF8PROC_CATEGORY_PS)
            break;
        e->is_inverted |= is_inverted;
        e->is_opened = true;
    }
    e->word = i;
    e->follower = follower_at(s, i);
}

/* ---- what follows -------------------------------------------------------------------------------- */

static bool has_text(const struct hd_sentences *s, size_t i, const char *text)
{
    const size_t n = strlen(text);
    return n <= s->n - i && memcmp(s->text + i, text, n) == 0;
}

/* Particles behind a quotation: Japanese と, って; Korean 라고, 하고. */
static bool is_quoted_on(const struct hd_sentences *s, size_t i)
{
    static const char *const particles[] = {"と",   "って", "という", "라고", "이라고",
                                            "라며", "하고", "라는",   "고 ",  NULL};
    for (int k = 0; particles[k]; k++)
        if (has_text(s, i, particles[k]))
            return true;
    return false;
}

/* Behind a bare mark, と is one only before a verb of saying or thinking, lest it be とても. */
static bool is_said_on(const struct hd_sentences *s, size_t i)
{
    static const char *const verbs[] = {"言", "い", "叫", "思", "聞", "答", "書",   "呼", "尋",
                                        "問", "笑", "話", "考", "彼", "、", "つぶ", NULL};
    if (has_text(s, i, "って"))
        return true;
    const size_t n = strlen("と");
    for (int k = 0; has_text(s, i, "と") && verbs[k]; k++)
        if (has_text(s, i + n, verbs[k]))
            return true;
    return false;
}

bool hd_sentence_goes_on(const struct hd_sentences *s, size_t i)
{
    const size_t next = hd_skip_space(s->text, s->n, i);
    if (next == s->n)
        return false;
    const enum hd_follower f = follower_at(s, next);
    return f == HD_NEXT_LOWER || f == HD_NEXT_PUNCTUATION || mark_at(s, next) != MARK_NONE ||
           (next == i && is_quoted_on(s, i));
}

/* Does the sentence under way begin with a quotation? */
static bool begins_with_quote(const struct hd_sentences *s)
{
    return is_quote(at(s, hd_skip_space(s->text, s->n, s->begin)));
}

/* "Stop!" Mary shouted. */
static bool is_speaker(const struct hd_sentences *s, const struct hd_ending *e)
{
    char key[HD_WORD_KEY];
    hd_word_at(s, e->word, key);
    if (key[0] == '\0' || hd_word_begins_sentence(key, s->languages))
        return false;
    size_t i = e->word;
    for (int k = 0; k < 2; k++) {
        while (i < s->n && i - e->word < 64 && !hd_char_is_space((unsigned char)s->text[i]))
            i++;
        i = hd_skip_space(s->text, s->n, i);
        hd_word_at(s, i, key);
        if (hd_word_is_speech(key))
            return true;
    }
    return false;
}

bool hd_is_starter(const struct hd_sentences *s, const struct hd_ending *e)
{
    char key[HD_WORD_KEY];
    if (e->is_inverted)
        return true;
    if (e->follower != HD_NEXT_UPPER)
        return false;
    hd_word_at(s, e->word, key);
    size_t end = e->word;
    for (size_t length; end < s->n && is_word_char(hd_char_at(s->text, s->n, end, &length));)
        end += length;
    if (key[0] == '\0' || (at(s, end) == '.' && end - e->word <= 2))
        return false;
    const bool is_elided = key[1] == '\'' && key[0] != 'o' && strchr("cjldnsmt", key[0]);
    return is_elided || hd_word_begins_sentence(key, s->languages);
}

/* ---- endings ------------------------------------------------------------------------------------- */

static bool ends_after_ellipsis(const struct hd_sentences *s, const struct hd_ending *e)
{
    char key[HD_WORD_KEY];
    hd_word_at(s, e->word, key);
    if (e->is_inverted)
        return true;
    size_t length;
    const bool stands_alone =
        e->n_dots == 3 && hd_char_is_space(hd_char_before(s->text, e->begin, &length));
    return e->follower == HD_NEXT_UPPER && !stands_alone &&
           (e->n_dots > 3 || (strcmp(key, "i") != 0 && strncmp(key, "i'", 2) != 0));
}

static bool ends_after_strong(const struct hd_sentences *s, const struct hd_ending *e)
{
    char key[HD_WORD_KEY];
    switch (e->follower) {
    case HD_NEXT_LOWER:
        hd_word_before(s, e->begin, key);
        return !e->has_closing && !hd_word_has_exclamation(key);
    case HD_NEXT_UNCASED:
        return !(e->has_closing && begins_with_quote(s)) &&
               !(e->has_closing && is_quoted_on(s, e->next));
    case HD_NEXT_UPPER:
        return !(e->has_closing && is_speaker(s, e));
    default:
        return true;
    }
}

static bool ends_without_space(const struct hd_sentences *s, const struct hd_ending *e)
{
    size_t length;
    const uint32_t before = hd_char_before(s->text, e->begin, &length), next = at(s, e->after);
    const bool is_wide = e->has_wide && !(at(s, e->begin) == 0xFF0E && is_word_char(next) &&
                                          !hd_char_is_letter(next));
    const bool is_typed = !e->has_wide && !e->has_ellipsis && hd_char_is_east_asian(before) &&
                          hd_char_is_east_asian(next);
    if (e->follower == HD_NEXT_PUNCTUATION)
        return false;
    if (is_wide || is_typed) {
        if (e->has_closing ? is_quoted_on(s, e->after) : is_said_on(s, e->after))
            return false;
        return !(e->has_strong && e->has_closing && begins_with_quote(s));
    }
    if (e->has_wide || e->has_ellipsis)
        return false;
    static const char *const endings[] = {"다", "요", "까", "죠", NULL};
    if (hd_char_is_hangul(before) && hd_char_is_hangul(next) && !e->has_closing)
        for (int k = 0; endings[k]; k++)
            if (memcmp(s->text + e->begin - 3, endings[k], 3) == 0)
                return true;
    return hd_is_space_missing(s, e);
}

static bool ends(const struct hd_sentences *s, const struct hd_ending *e)
{
    if (e->next >= s->n)
        return true;
    if (e->next == e->after)
        return ends_without_space(s, e);
    if (e->follower == HD_NEXT_PUNCTUATION)
        return false;
    if (e->has_strong)
        return ends_after_strong(s, e);
    if (e->has_wide)
        return true;
    return e->has_ellipsis ? ends_after_ellipsis(s, e) : hd_ends_after_dot(s, e);
}

size_t hd_sentence_end(const struct hd_sentences *s, size_t i, size_t *behind)
{
    struct hd_ending e = {.begin = i};
    e.marks_end = e.after = read_marks(s, &e, i);
    *behind = e.marks_end;
    read_closing(s, &e);
    e.next = hd_skip_space(s->text, s->n, e.after);
    read_follower(s, &e);
    return ends(s, &e) ? e.next : 0;
}

size_t hd_emoticon_end(const struct hd_sentences *s, size_t i)
{
    struct hd_ending e = {.begin = i, .after = i};
    read_closing(s, &e);
    if (e.after == i || !is_space_or_end(s, e.after))
        return 0;
    e.next = hd_skip_space(s->text, s->n, e.after);
    read_follower(s, &e);
    return hd_is_starter(s, &e) ? e.next : 0;
}
