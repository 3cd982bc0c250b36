/* journal.c -- lines are written one by one, so that none are lost when the process is killed. A full disk costs lines, not the run.
 * Invariant: what a run adds begins on a line of its own; half a line, of a kill or a full disk, is taken out again. */
#include "train/journal.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* Take out a last line without an end. */
static void cut_half_line(FILE *f)
{
    char end[1 << 14];
    const long size = ftell(f), first = size > (long)sizeof end ? size - (long)sizeof end : 0;
    const ssize_t got = size > 0 ? pread(fileno(f), end, (size_t)(size - first), first) : 0;
    ssize_t n = got;
    while (n > 0 && end[n - 1] != '\n')
        n--;
    if (n < got && (n > 0 || first == 0) && ftruncate(fileno(f), first + n) == 0)
        (void)fseek(f, 0, SEEK_END);
}

static FILE *open_beside(const char *stem, const char *ending, heed_error *err)
{
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s%s", stem, ending) >= sizeof path) {
        hd_fail(err, HEED_BAD_FILE, "out: the name is too long");
        return NULL;
    }
    FILE *f = fopen(path, "a+e");
    if (!f) {
        hd_fail_to_write(path, errno, err);
        return NULL;
    }
    if (flock(fileno(f), LOCK_EX | LOCK_NB) == 0) {
        (void)setvbuf(f, NULL, _IONBF, 0); /* what was not written is not tried again */
        (void)fseek(f, 0, SEEK_END);
        cut_half_line(f);
        return f;
    }
    hd_fail(err, HEED_BAD_FILE, "%s is in use: another heed train is writing this model", path);
    fclose(f);
    return NULL;
}

bool hd_journal_open(struct hd_journal *j, const char *stem, heed_error *err)
{
    j->began = hd_seconds();
    j->log = open_beside(stem, ".log", err);
    j->jsonl = j->log ? open_beside(stem, ".jsonl", err) : NULL;
    j->log_size = j->log ? ftell(j->log) : 0;
    j->jsonl_size = j->jsonl ? ftell(j->jsonl) : 0;
    return j->jsonl != NULL;
}

void hd_journal_close(struct hd_journal *j)
{
    if (j->log)
        fclose(j->log);
    if (j->jsonl)
        fclose(j->jsonl);
    j->log = j->jsonl = NULL;
}

void hd_journal_discard(struct hd_journal *j, const char *stem)
{
    const struct {
        FILE *file;
        const char *ending;
        long size;
    } files[] = {{j->log, ".log", j->log_size}, {j->jsonl, ".jsonl", j->jsonl_size}};
    char path[4096];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", stem, files[i].ending);
        if (files[i].file && files[i].size == 0)
            (void)unlink(path);
        else if (files[i].file)
            (void)!ftruncate(fileno(files[i].file), files[i].size);
    }
    hd_journal_close(j);
}

static void write_line(struct hd_journal *j, FILE *f, const char *line)
{
    const long before = f ? ftell(f) : 0;
    if (!f || fprintf(f, "%s\n", line) >= 0)
        return;
    clearerr(f);
    if (before >= 0 && ftruncate(fileno(f), before) == 0)
        (void)fseek(f, 0, SEEK_END);
    if (j->has_lost_line)
        return;
    j->has_lost_line = true;
    heed_training_event event = {
        .news = HEED_TRAINING_SAYS,
        .text = "the log cannot be written (is the disk full?); training goes on without it"};
    if (j->watch)
        j->wants_to_stop |= !j->watch(j->context, &event);
}

void hd_journal_log(struct hd_journal *j, const char *format, ...)
{
    char text[1024], line[1100], when[32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const time_t now = time(NULL);
    struct tm parts;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &parts));
    snprintf(line, sizeof line, "[%s] %s", when, text);
    write_line(j, j->log, line);
}

void hd_journal_say(struct hd_journal *j, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (j->is_silent)
        return;
    hd_journal_log(j, "%s", text);
    heed_training_event event = {.news = HEED_TRAINING_SAYS, .text = text};
    (void)hd_journal_tell(j, &event, json_pack("{ss ss}", "event", "note", "text", text));
}

bool hd_journal_tell(struct hd_journal *j, heed_training_event *event, json_t *note)
{
    event->seconds = hd_seconds() - j->began;
    heed_training_event nothing = {.news = HEED_TRAINING_WAITS, .seconds = event->seconds};
    if (j->is_silent) {
        json_decref(note);
        note = NULL;
        event = &nothing;
    }
    char *line = note ? json_dumps(note, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(note);
    if (line)
        write_line(j, j->jsonl, line);
    event->json = line;
    if (j->watch && !j->watch(j->context, event))
        j->wants_to_stop = true;
    free(line);
    return !j->wants_to_stop;
}
