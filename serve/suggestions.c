/* suggestions.c -- lines are appended to the memory's file and taken out of it, and its routes.
 *
 * A line is appended by one write, and brought to the disk before anybody is told; to take one out the file is written anew beside the
 * old one, which it then replaces. So the file is whole at every moment. */
#include "serve/suggestions.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "serve/form.h"
#include "serve/language_codes.h"
#include "serve/routes.h"
#include "serve/service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool hd_suggestions_init(struct hd_suggestions *s, const char *path, heed_error *err)
{
    *s = (struct hd_suggestions){.path = path};
    pthread_mutex_init(&s->lock, NULL);
    const int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (path && fd < 0)
        return hd_fail_to_write(path, errno, err);
    if (fd >= 0)
        close(fd);
    return true;
}

void hd_suggestions_release(struct hd_suggestions *s)
{
    pthread_mutex_destroy(&s->lock);
}

static bool tell_engines(const struct hd_suggestions *s, struct hd_fleet *fleet, heed_error *err)
{
    for (size_t i = 0; s->path && i < fleet->n_engines; i++)
        if (!heed_translator_set(fleet->engines[i].translator, "memory", s->path, err))
            return false;
    return true;
}

/* Everybody's next request uses the memory as it is now. The lock is held, so no other fleet can become the current one. */
static bool tell_fleet(const struct hd_suggestions *s, struct hd_fleets *fleets, heed_error *err)
{
    struct hd_fleet *fleet = hd_fleets_use(fleets);
    const bool ok = tell_engines(s, fleet, err);
    hd_fleets_leave(fleets, fleet);
    return ok;
}

bool hd_suggestions_put_fleet(struct hd_suggestions *s, struct hd_fleets *fleets,
                              struct hd_fleet *fleet, heed_error *err)
{
    pthread_mutex_lock(&s->lock);
    const bool ok = tell_engines(s, fleet, err);
    if (ok)
        hd_fleets_put(fleets, fleet);
    pthread_mutex_unlock(&s->lock);
    if (!ok)
        hd_fleet_free(fleet);
    return ok;
}

/* ---- appending ------------------------------------------------------------------------------------------------ */

/* A column: white space within is one space, none is around it. False where nothing is left. */
static bool add_column(struct hd_bytes *line, const char *text)
{
    const size_t before = line->n;
    bool has_space = false;
    for (const char *c = text; *c; c++)
        if (strchr(" \t\r\n\v\f", *c))
            has_space = line->n > before;
        else {
            hd_bytes_add(line, has_space ? " " : "", has_space);
            hd_bytes_add(line, c, 1);
            has_space = false;
        }
    return line->n > before;
}

static bool make_line(struct hd_bytes *line, const struct hd_suggestion *one)
{
    const char *const columns[] = {one->source, one->target, one->from, one->to};
    for (int i = 0; i < 4; i++) {
        hd_bytes_text(line, i > 0 ? "\t" : "");
        if (!add_column(line, columns[i]))
            return false;
    }
    hd_bytes_text(line, "\n");
    return !line->has_failed;
}

/* Does a file end within a line, as one that a person edited may? */
static bool ends_within_line(int fd)
{
    char last = '\n';
    const off_t n = lseek(fd, 0, SEEK_END);
    return n > 0 && pread(fd, &last, 1, n - 1) == 1 && last != '\n';
}

/* By one write; what is cut short is taken back. */
static bool append(const char *path, const struct hd_bytes *line, heed_error *err)
{
    const int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return hd_fail_to_write(path, errno, err);
    struct hd_bytes all = {0};
    hd_bytes_text(&all, ends_within_line(fd) ? "\n" : "");
    hd_bytes_add(&all, line->at, line->n);
    const off_t before = lseek(fd, 0, SEEK_END);
    errno = ENOSPC;
    bool ok = !all.has_failed && write(fd, all.at, all.n) == (ssize_t)all.n && fsync(fd) == 0;
    const int why = errno;
    if (!ok && before >= 0 && ftruncate(fd, before) != 0)
        ok = false;
    hd_free(all.at);
    close(fd);
    return ok || hd_fail_to_write(path, why, err);
}

bool hd_suggestions_add(struct hd_suggestions *s, struct hd_fleets *fleets,
                        const struct hd_suggestion *one, heed_error *err)
{
    struct hd_bytes line = {0};
    bool ok = make_line(&line, one) ||
              hd_fail(err, HEED_BAD_TEXT, "Invalid request: a suggestion has a text on both sides");
    pthread_mutex_lock(&s->lock);
    ok = ok && append(s->path, &line, err) && tell_fleet(s, fleets, err);
    pthread_mutex_unlock(&s->lock);
    hd_free(line.at);
    return ok;
}

/* ---- reading and taking out ------------------------------------------------------------------------------------- */

/* All lines; an empty file has none. */
static bool read_lines(const char *path, heed_lines *lines, heed_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char first;
    const bool is_empty = fd >= 0 && read(fd, &first, 1) == 0;
    if (fd >= 0)
        close(fd);
    *lines = (heed_lines){0};
    return is_empty || heed_lines_read(lines, path, err);
}

/* Column i of a line, as a new string; NULL: it has none. */
static json_t *column(const char *line, int i)
{
    for (; i > 0; i--) {
        line = strchr(line, '\t');
        if (!line++)
            return json_null();
    }
    return json_stringn(line, strcspn(line, "\t"));
}

static bool has_source(const char *line, const char *source)
{
    json_t *own = column(line, 0);
    const bool is_it = json_is_string(own) && strcmp(json_string_value(own), source) == 0;
    json_decref(own);
    return is_it;
}

static bool write_without(const char *path, const heed_lines *lines, size_t line, heed_error *err)
{
    struct hd_writer w = {0};
    bool ok = hd_writer_open(&w, path, err);
    for (size_t i = 0; ok && i < lines->n; i++)
        ok = i + 1 == line ||
             (hd_write(&w, lines->at[i], strlen(lines->at[i]), err) && hd_write(&w, "\n", 1, err));
    ok = ok && hd_writer_commit(&w, err);
    if (!ok)
        hd_writer_abandon(&w);
    return ok;
}

enum hd_forgotten hd_suggestions_remove(struct hd_suggestions *s, struct hd_fleets *fleets,
                                        size_t line, const char *source, heed_error *err)
{
    heed_lines lines;
    enum hd_forgotten result = HD_NOT_WRITTEN;
    pthread_mutex_lock(&s->lock);
    if (read_lines(s->path, &lines, err))
        result = line < 1 || line > lines.n                          ? HD_NOT_THERE
                 : source && !has_source(lines.at[line - 1], source) ? HD_NOT_THE_SAME
                 : write_without(s->path, &lines, line, err) && tell_fleet(s, fleets, err)
                     ? HD_FORGOTTEN
                     : HD_NOT_WRITTEN;
    pthread_mutex_unlock(&s->lock);
    heed_lines_release(&lines);
    return result;
}

/* ---- /suggest ------------------------------------------------------------------------------------------------------ */

/* A field that must be there; NULL with the request refused. */
static const char *needed(struct hd_http *http, const char *name)
{
    const char *text = hd_form_text(http->form, name);
    const size_t most = (size_t)http->service->settings->max_characters;
    if (!text || !*text)
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "Invalid request: missing %s parameter", name);
    else if (hd_utf8_count(text, strlen(text)) > most)
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST,
                       "Invalid request: request (%zu) exceeds text limit (%zu)",
                       hd_utf8_count(text, strlen(text)), most);
    return http->status == 0 ? text : NULL;
}

/* The code of a language that the fleet knows. */
static const char *language(struct hd_http *http, const struct hd_fleet *fleet, const char *name)
{
    const char *text = needed(http, name), *code = NULL;
    if (text && strcmp(text, "auto") == 0)
        code = hd_language_detect(fleet, hd_form_text(http->form, "q"), NULL).code;
    else if (text && !(code = hd_language_known(fleet, text)))
        hd_http_refuse(http, MHD_HTTP_BAD_REQUEST, "%.100s is not supported", text);
    return code;
}

/* Let the clerk do what `finish` does; the fleet is left then. False without memory. */
static bool give(struct hd_http *http, struct hd_fleet *fleet, void *data,
                 void (*finish)(struct hd_http *http, struct hd_work *work))
{
    struct hd_work *w = hd_work_new(http, fleet, NULL, 0);
    if (!w)
        return false;
    w->finish = finish;
    w->data = data;
    w->free_data = hd_free;
    hd_desk_give(&http->service->desk, &http->service->archivist, w);
    return true;
}

static void finish_suggest(struct hd_http *http, struct hd_work *w)
{
    struct hd_service *s = http->service;
    heed_error err = {0};
    if (hd_suggestions_add(&s->suggestions, &s->fleets, w->data, &err))
        hd_http_say_json(http, MHD_HTTP_OK, json_pack("{s: b}", "success", 1));
    else
        hd_http_refuse_for(http, &err);
}

void hd_libre_suggest(struct hd_http *http)
{
    struct hd_service *s = http->service;
    if (!s->suggestions.path) {
        hd_http_refuse(http, MHD_HTTP_FORBIDDEN, "Suggestions are disabled on this server.");
        return;
    }
    struct hd_fleet *fleet = hd_fleets_use(&s->fleets);
    struct hd_suggestion one = {.source = needed(http, "q")}, *copy = NULL;
    one.target = one.source ? needed(http, "s") : NULL;
    one.from = one.target ? language(http, fleet, "source") : NULL;
    one.to = one.from ? language(http, fleet, "target") : NULL;
    if (one.to && hd_guard_spend(&s->guard, http, 1) && (copy = hd_new(struct hd_suggestion, NULL)))
        *copy = one;
    if (copy && give(http, fleet, copy, finish_suggest))
        return;
    hd_free(copy);
    hd_fleets_leave(&s->fleets, fleet);
}

/* ---- /heed/memory -------------------------------------------------------------------------------------------------- */

/* A field that is a whole number, or what it is without. */
static size_t number(const struct hd_http *http, const char *name, size_t otherwise)
{
    const json_t *field = json_object_get(http->form, name);
    const char *text = json_string_value(field);
    if (json_is_integer(field) && json_integer_value(field) >= 0)
        return (size_t)json_integer_value(field);
    char *end = NULL;
    const unsigned long long n = text ? strtoull(text, &end, 10) : 0;
    return text && end != text && !*end ? (size_t)n : otherwise;
}

/* {"lines": all, "pairs": [...]}, the newest first: "limit" of them, "offset" passed over. */
static void finish_list(struct hd_http *http, struct hd_work *w)
{
    (void)w;
    struct hd_suggestions *s = &http->service->suggestions;
    heed_lines lines;
    heed_error err = {0};
    pthread_mutex_lock(&s->lock);
    const bool ok = read_lines(s->path, &lines, &err);
    pthread_mutex_unlock(&s->lock);
    if (!ok) {
        hd_http_refuse_for(http, &err);
        return;
    }
    const size_t offset = number(http, "offset", 0), limit = number(http, "limit", 100);
    json_t *pairs = json_array();
    for (size_t i = lines.n > offset ? lines.n - offset : 0, k = 0; i > 0 && k < limit; i--, k++)
        json_array_append_new(
            pairs, json_pack("{s: I, s: o, s: o, s: o, s: o}", "line", (json_int_t)i, "source",
                             column(lines.at[i - 1], 0), "target", column(lines.at[i - 1], 1),
                             "from", column(lines.at[i - 1], 2), "to", column(lines.at[i - 1], 3)));
    hd_http_say_json(http, MHD_HTTP_OK,
                     json_pack("{s: I, s: o}", "lines", (json_int_t)lines.n, "pairs", pairs));
    heed_lines_release(&lines);
}

static void finish_forget(struct hd_http *http, struct hd_work *w)
{
    (void)w;
    struct hd_service *s = http->service;
    heed_error err = {0};
    const size_t line = number(http, "line", 0);
    switch (hd_suggestions_remove(&s->suggestions, &s->fleets, line,
                                  hd_form_text(http->form, "source"), &err)) {
    case HD_FORGOTTEN:
        hd_http_say_json(http, MHD_HTTP_OK, json_pack("{s: b}", "success", 1));
        break;
    case HD_NOT_THERE:
        hd_http_refuse(http, MHD_HTTP_NOT_FOUND,
                       "there is no such line; GET /heed/memory lists what is remembered");
        break;
    case HD_NOT_THE_SAME:
        hd_http_refuse(http, MHD_HTTP_CONFLICT,
                       "line %zu is another one by now; GET /heed/memory lists what is remembered",
                       line);
        break;
    case HD_NOT_WRITTEN:
        hd_http_refuse_for(http, &err);
        break;
    }
}

void hd_own_memory(struct hd_http *http)
{
    if (!http->service->suggestions.path)
        hd_http_refuse(http, MHD_HTTP_FORBIDDEN,
                       "this server has no translation memory; start it with --memory FILE.tsv");
    else
        give(http, NULL, NULL, strcmp(http->method, "DELETE") == 0 ? finish_forget : finish_list);
}
