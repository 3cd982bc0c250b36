/* subtitles.c -- SubRip (.srt) and WebVTT (.vtt): the words between the times are translated, and all else stays, times above all.
 *
 * A sentence that goes on in the next cue is translated as one, and divided again where the translation has a word's end, best behind a mark, near the
 * share of characters that each cue had. Lines that begin with a dash are of several speakers, and translated one by one. Times between words
 * (<00:02.100>, karaoke) become empty tags, which go with their words, and then are times again, in their order. */
#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "exchange/text_file.h"
#include "text/character.h"

#include <string.h>

enum {
    WIDTH = 42,          /* characters of a line that are read easily */
    MOST_JOINED = 5,     /* cues of a sentence */
    LONGEST_PAUSE = 2000 /* ms between cues of a sentence */
};

/* ---- times ----------------------------------------------------------------------------------------- */

/* "00:01:02,345" or "01:02.345" at text[*i]: in ms; -1: it is no time. */
static long read_time(struct hd_text text, size_t *i)
{
    long parts[4] = {0}, n = 0;
    for (; n < 4; n++) {
        size_t n_digits = 0;
        for (; *i < text.n && text.at[*i] >= '0' && text.at[*i] <= '9' && n_digits < 6; ++*i)
            parts[n] = 10 * parts[n] + (text.at[*i] - '0'), n_digits++;
        if (n_digits == 0)
            return -1;
        const char c = *i < text.n ? text.at[*i] : '\0';
        if (n > 0 && (c == ',' || c == '.')) { /* milliseconds are last */
            const size_t before = ++*i;
            long ms = 0;
            for (; *i < text.n && text.at[*i] >= '0' && text.at[*i] <= '9' && *i < before + 3; ++*i)
                ms = 10 * ms + (text.at[*i] - '0');
            const long hours = n == 2 ? parts[0] : 0, minutes = parts[n - 1], seconds = parts[n];
            return n <= 2 && *i > before ? ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms : -1;
        }
        if (c != ':')
            return -1;
        ++*i;
    }
    return -1;
}

struct cue_time {
    long begin, end;
};

static bool read_times(struct hd_text line, struct cue_time *time)
{
    size_t i = hd_skip_space(line.at, line.n, 0);
    time->begin = read_time(line, &i);
    i = hd_skip_space(line.at, line.n, i);
    if (!line.at || time->begin < 0 || line.n - i < 3 || memcmp(line.at + i, "-->", 3) != 0)
        return false;
    i = hd_skip_space(line.at, line.n, i + 3);
    time->end = read_time(line, &i);
    return time->end >= 0;
}

/* ---- reading --------------------------------------------------------------------------------------- */

/* A cue's words, and what it has to do with the one before it. */
struct cue {
    struct hd_span span; /* of its lines */
    struct cue_time time;
    size_t line, n_lines, width;
};

static bool is_blank(struct hd_text line)
{
    return hd_skip_space(line.at, line.n, 0) == line.n;
}

static bool has_dash(struct hd_text line)
{
    size_t length;
    const size_t i = hd_skip_space(line.at, line.n, 0);
    const uint32_t cp = i < line.n ? hd_char_at(line.at, line.n, i, &length) : 0;
    return cp == '-' || cp == 0x2010 || cp == 0x2013 || cp == 0x2014;
}

/* Does a sentence end with this text, or may one? */
static bool is_open(struct hd_text text)
{
    size_t n = text.n, length = 0;
    uint32_t cp = 0;
    while (n > 0 && hd_char_is_space(cp = hd_char_before(text.at, n, &length)))
        n -= length;
    return n > 0 && (hd_char_is_letter(cp) || hd_char_is_digit(cp) || cp == ',' || cp == ';');
}

static bool begins_small(struct hd_text text)
{
    size_t length;
    const size_t i = hd_skip_space(text.at, text.n, 0);
    return i < text.n && hd_char_is_lower(hd_char_at(text.at, text.n, i, &length));
}

/* Append lines with spaces between them. */
static bool add_lines(struct hd_buffer *out, const heed_file *file, struct hd_span span,
                      heed_error *err)
{
    bool ok = true;
    for (size_t at = span.begin, next; ok && at < span.end; at = next) {
        const struct hd_text line = hd_file_line(file, at, &next);
        ok = (out->n == 0 || hd_buffer_add_string(out, " ", err)) &&
             hd_buffer_add(out, line.at, line.n, err);
    }
    return ok;
}

/* How many bytes "<00:02.100>" has at text[i]; 0: it is none. */
static size_t time_tag_at(struct hd_text text, size_t i)
{
    size_t at = i + 1;
    return text.at[i] == '<' && read_time(text, &at) >= 0 && at < text.n && text.at[at] == '>'
               ? at + 1 - i
               : 0;
}

static bool has_marks(struct hd_text text)
{
    bool has = hd_has_tags(text);
    for (size_t i = 0; !has && i < text.n; i++)
        has = time_tag_at(text, i) > 0;
    return has;
}

static const char EMPTY_TAG[] = "<wbr data-time=\"";

/* The text with an empty tag for each time. */
static bool hide_times(struct hd_buffer *out, struct hd_text text, heed_error *err)
{
    bool ok = true;
    for (size_t i = 0, n; ok && i < text.n; i += n) {
        const size_t n_tag = time_tag_at(text, i);
        n = n_tag > 0 ? n_tag : 1;
        ok = n_tag == 0 ? hd_buffer_add(out, text.at + i, 1, err)
                        : hd_buffer_add_string(out, EMPTY_TAG, err) &&
                              hd_buffer_add(out, text.at + i + 1, n_tag - 2, err) &&
                              hd_buffer_add_string(out, "\">", err);
    }
    return ok;
}

/* The next empty tag's time at or behind text[*i]; *i is then its end, *begin its beginning. False: there is none. */
static bool next_hidden(struct hd_text text, size_t *i, size_t *begin, struct hd_text *time)
{
    const size_t n = sizeof EMPTY_TAG - 1;
    for (*begin = *i; *begin + n < text.n; ++*begin) {
        const char *from = text.at + *begin;
        const char *quote =
            memcmp(from, EMPTY_TAG, n) == 0 ? memchr(from + n, '"', text.n - *begin - n) : NULL;
        const char *end = quote ? memchr(quote, '>', text.n - (size_t)(quote - text.at)) : NULL;
        if (end) {
            *time = (struct hd_text){from + n, (size_t)(quote - from) - n};
            *i = (size_t)(end - text.at) + 1;
            return true;
        }
    }
    return false;
}

/* The translation with times where its empty tags are: in the order of the source, as times never go back. */
static bool show_times(struct hd_buffer *out, struct hd_text source, struct hd_text text,
                       heed_error *err)
{
    size_t at = 0, begin, in_source = 0, ignored;
    struct hd_text time, here;
    bool ok = true;
    for (size_t i = 0; ok && next_hidden(text, &i, &begin, &here); at = i) {
        ok = hd_buffer_add(out, text.at + at, begin - at, err);
        if (ok && next_hidden(source, &in_source, &ignored, &time))
            ok = hd_buffer_add_string(out, "<", err) && hd_buffer_add(out, time.at, time.n, err) &&
                 hd_buffer_add_string(out, ">", err);
    }
    return ok && hd_buffer_add(out, text.at + at, text.n - at, err);
}

/* A text of its own in these bytes. */
static struct hd_file_unit *add_unit(heed_file *file, struct hd_span span, const struct cue *cue,
                                     heed_error *err)
{
    struct hd_buffer lines = {0}, text = {0};
    const size_t slot = hd_file_add_slot(file, span.begin, span.end, err);
    struct hd_file_unit *unit = NULL;
    if (slot != SIZE_MAX && add_lines(&lines, file, span, err) &&
        hide_times(&text, hd_buffer_text(&lines), err) &&
        (unit = hd_file_add_unit(file, hd_buffer_text(&text), err))) {
        unit->slot = slot;
        unit->n_slots = 1;
        unit->line = cue->line;
        unit->width = cue->width > WIDTH ? cue->width : WIDTH;
    }
    hd_buffer_release(&lines);
    hd_buffer_release(&text);
    return unit;
}

/* The cue goes on with the sentence of the last unit. */
static bool join_cue(heed_file *file, const struct cue *cue, heed_error *err)
{
    struct hd_file_unit *unit = &file->units[file->n_units - 1];
    struct hd_buffer text = {0};
    bool ok = hd_file_add_slot(file, cue->span.begin, cue->span.end, err) != SIZE_MAX &&
              hd_buffer_add_string(&text, unit->text, err) &&
              add_lines(&text, file, cue->span, err) && hd_buffer_add(&text, "", 1, err);
    if (!ok) {
        hd_buffer_release(&text);
        return false;
    }
    hd_free(unit->text);
    unit->text = text.at;
    unit->n_slots++;
    return true;
}

/* Each line of a cue is somebody else's. */
static bool add_speakers(heed_file *file, const struct cue *cue, heed_error *err)
{
    for (size_t at = cue->span.begin, next; at < cue->span.end; at = next) {
        const struct hd_text line = hd_file_line(file, at, &next);
        struct hd_file_unit *unit = add_unit(file, (struct hd_span){at, at + line.n}, cue, err);
        if (!unit)
            return false;
        unit->width = 0;
    }
    return true;
}

static bool add_cue(heed_file *file, const struct cue *cue, const struct cue *before,
                    heed_error *err)
{
    size_t next;
    const struct hd_text first = hd_file_line(file, cue->span.begin, &next),
                         text = {file->bytes + cue->span.begin, cue->span.end - cue->span.begin};
    if (cue->n_lines > 1 && has_dash(first) &&
        has_dash(hd_file_line(file, next < file->n ? next : cue->span.begin, &next)))
        return add_speakers(file, cue, err);
    const struct hd_file_unit *last = file->n_units > 0 ? &file->units[file->n_units - 1] : NULL;
    const bool is_joined = last && before->span.end > 0 &&
                           file->slots[file->n_slots - 1].span.begin == before->span.begin &&
                           file->slots[file->n_slots - 1].span.end == before->span.end &&
                           last->n_slots < MOST_JOINED && !last->has_tags && !has_marks(text) &&
                           last->text[0] != '{' && text.at[0] != '{' && !has_dash(first) &&
                           cue->time.begin - before->time.end <= LONGEST_PAUSE &&
                           is_open((struct hd_text){last->text, strlen(last->text)}) &&
                           begins_small(text);
    return is_joined ? join_cue(file, cue, err) : add_unit(file, cue->span, cue, err) != NULL;
}

static bool is_number(struct hd_text line)
{
    for (size_t i = 0; i < line.n; i++)
        if (line.at[i] < '0' || line.at[i] > '9')
            return false;
    return line.n > 0;
}

/* "00:00:01,000 --> ...", whether it is right in all its parts or not. */
static bool is_times(struct hd_text line)
{
    size_t i = hd_skip_space(line.at, line.n, 0);
    const size_t first = i;
    while (i < line.n && line.at[i] >= '0' && line.at[i] <= '9')
        i++;
    if (i == first || i >= line.n || line.at[i] != ':')
        return false;
    for (; i + 3 <= line.n; i++)
        if (memcmp(line.at + i, "-->", 3) == 0)
            return true;
    return false;
}

/* Does another cue begin here, though no empty line ended the one before? */
static bool begins_cue(const heed_file *file, struct hd_text line, size_t next)
{
    return is_times(line) ||
           (is_number(line) && next < file->n && is_times(hd_file_line(file, next, &next)));
}

/* The lines of a cue from *at on, to the next empty one or the next cue; *at is then behind them. */
static void read_lines(const heed_file *file, size_t *at, size_t *line, struct cue *cue)
{
    cue->span = (struct hd_span){*at, *at};
    cue->line = *line + 1;
    for (size_t next; *at < file->n; *at = next) {
        const struct hd_text text = hd_file_line(file, *at, &next);
        if (is_blank(text) || begins_cue(file, text, next))
            break;
        ++*line;
        cue->n_lines++;
        cue->span.end = *at + text.n;
        const size_t n = hd_utf8_count(text.at, text.n);
        cue->width = n > cue->width ? n : cue->width;
    }
}

static bool is_of(struct hd_text line, const char *word)
{
    const size_t n = strlen(word);
    return line.n >= n && memcmp(line.at, word, n) == 0 &&
           (line.n == n || line.at[n] == ' ' || line.at[n] == '\t' || line.at[n] == ':');
}

/* A block that is not for readers, to its end. */
static void pass_block(const heed_file *file, size_t *at, size_t *line)
{
    struct cue ignored = {0};
    read_lines(file, at, line, &ignored);
}

/* From a block's first line on: its number or name, its times, its words. */
static bool read_cue(heed_file *file, size_t *at, size_t *line, struct cue *cue, heed_error *err)
{
    size_t next;
    struct hd_text text = hd_file_line(file, *at, &next);
    *cue = (struct cue){0};
    if (!read_times(text, &cue->time)) {
        const struct hd_text second =
            next < file->n ? hd_file_line(file, next, &(size_t){0}) : (struct hd_text){0};
        if (!read_times(second, &cue->time))
            return hd_fail(
                err, HEED_BAD_TEXT,
                "%s:%zu: a time such as 00:00:01%c000 --> 00:00:02%c500 is expected "
                "here, not %s",
                file->name, *line + 1 + (second.n > 0), file->has_hours ? ',' : '.',
                file->has_hours ? ',' : '.',
                hd_quote_n(second.n > 0 ? second.at : text.at, second.n > 0 ? second.n : text.n)
                    .text);
        ++*line;
        *at = next;
        (void)hd_file_line(file, *at, &next);
    }
    ++*line;
    *at = next;
    read_lines(file, at, line, cue);
    return true;
}

static bool read_cues(heed_file *file, size_t at, size_t line, heed_error *err)
{
    struct cue before = {0}, cue = {0};
    size_t next, n = 0;
    while (at < file->n) {
        const struct hd_text text = hd_file_line(file, at, &next);
        if (is_blank(text)) {
            at = next;
            line++;
        } else if (!file->has_hours &&
                   (is_of(text, "NOTE") || is_of(text, "STYLE") || is_of(text, "REGION")))
            pass_block(file, &at, &line);
        else {
            if (!read_cue(file, &at, &line, &cue, err) ||
                (cue.n_lines > 0 && !add_cue(file, &cue, &before, err)))
                return false;
            before = cue;
            n++;
        }
    }
    return n > 0 || hd_fail(err, HEED_BAD_TEXT, "%s: there is no subtitle in it", file->name);
}

static bool read_srt(heed_file *file, heed_error *err)
{
    file->has_hours = true;
    return read_cues(file, 0, 0, err);
}

static bool read_vtt(heed_file *file, heed_error *err)
{
    size_t at = 0, line = 0;
    if (!is_of(hd_file_line(file, 0, &at), "WEBVTT"))
        return hd_fail(err, HEED_BAD_TEXT, "%s:1: a WebVTT file begins with the word WEBVTT",
                       file->name);
    at = 0;
    pass_block(file, &at, &line);
    return read_cues(file, at, line, err);
}

/* ---- dividing -------------------------------------------------------------------------------------- */

/* May a text be cut before byte i, and how well: 0 no, 1 between words, 2 behind a mark. */
static int cut_at(struct hd_text text, size_t i)
{
    size_t length;
    if (i == 0 || i >= text.n || ((unsigned char)text.at[i] & 0xC0) == 0x80)
        return 0;
    const uint32_t before = hd_char_before(text.at, i, &length),
                   here = hd_char_at(text.at, text.n, i, &length);
    if (hd_char_is_space(here) && !hd_char_is_space(before))
        return hd_char_is_letter(before) || hd_char_is_digit(before) ? 1 : 2;
    return hd_char_is_unspaced(before) && hd_char_is_unspaced(here);
}

/* Where the part ends that should be `share` of what is left: the best place, or text.n where there is none. */
static size_t find_cut(struct hd_text text, double share)
{
    const double ideal = share * (double)text.n;
    double best = 1e300;
    size_t at = text.n;
    for (size_t i = 1; i < text.n; i++) {
        const int kind = cut_at(text, i);
        const double off = ideal > (double)i ? ideal - (double)i : (double)i - ideal,
                     cost = off - (kind == 2 ? 0.15 * (double)text.n : 0);
        if (kind > 0 && cost < best) {
            best = cost;
            at = i;
        }
    }
    return at;
}

static bool fill(heed_file *file, const struct hd_file_unit *unit, size_t slot, struct hd_text text,
                 heed_error *err)
{
    struct hd_buffer lines = {0};
    const bool ok = hd_wrap(&lines, text, unit->width, file->eol, err) &&
                    hd_file_fill(file, slot, hd_buffer_text(&lines), err);
    hd_buffer_release(&lines);
    return ok;
}

/* A text of fewer words than cues stands in all of them. */
static bool divide(heed_file *file, const struct hd_file_unit *unit, struct hd_text text,
                   heed_error *err)
{
    struct hd_text left = text;
    size_t n_left = 0, n_words = 1;
    for (size_t i = 0; i < text.n; i++)
        n_words += cut_at(text, i) > 0;
    for (size_t k = 0; k < unit->n_slots; k++) {
        const struct hd_span s = file->slots[unit->slot + k].span;
        n_left += s.end - s.begin;
    }
    for (size_t k = 0; k < unit->n_slots; k++) {
        const struct hd_span s = file->slots[unit->slot + k].span;
        const size_t n = s.end - s.begin;
        const bool is_last = k + 1 == unit->n_slots;
        size_t cut = n_words < unit->n_slots ? text.n
                     : is_last               ? left.n
                                             : find_cut(left, (double)n / (double)n_left);
        /* Each of the others needs a word of its own. */
        struct hd_text part = n_words < unit->n_slots ? text : (struct hd_text){left.at, cut};
        if (!fill(file, unit, unit->slot + k, part, err))
            return false;
        n_left -= n;
        if (n_words >= unit->n_slots) {
            cut = cut < left.n ? hd_skip_space(left.at, left.n, cut) : left.n;
            left = cut < left.n ? (struct hd_text){left.at + cut, left.n - cut} : part;
        }
    }
    return true;
}

/* Without white space around it and with single spaces inside: an empty line would end the cue. */
static bool add_single_spaced(struct hd_buffer *out, struct hd_text text, heed_error *err)
{
    bool ok = true;
    for (size_t i = 0, length; ok && i < text.n; i += length) {
        const bool is_space = hd_char_is_space(hd_char_at(text.at, text.n, i, &length));
        if (!is_space)
            ok = hd_buffer_add(out, text.at + i, length, err);
        else if (out->n > 0 && out->at[out->n - 1] != ' ')
            ok = hd_buffer_add(out, " ", 1, err);
    }
    out->n -= out->n > 0 && out->at[out->n - 1] == ' ';
    return ok;
}

static bool put_subtitle(heed_file *file, struct hd_file_unit *unit, const char *translation,
                         heed_error *err)
{
    struct hd_buffer clean = {0}, timed = {0};
    const struct hd_text source = {unit->text, strlen(unit->text)};
    bool ok = show_times(&timed, source, (struct hd_text){translation, strlen(translation)}, err) &&
              add_single_spaced(&clean, hd_buffer_text(&timed), err);
    hd_buffer_release(&timed);
    const struct hd_text text = hd_buffer_text(&clean);
    if (ok && text.n > 0) /* a cue without words stays as it was */
        ok = unit->n_slots > 1 ? divide(file, unit, text, err)
                               : fill(file, unit, unit->slot, text, err);
    hd_buffer_release(&clean);
    return ok;
}

const struct hd_file_kind hd_srt_kind = {"srt", ".srt ", read_srt, put_subtitle},
                          hd_vtt_kind = {"vtt", ".vtt ", read_vtt, put_subtitle};
