/* cmd_train.c -- `heed train`: options to a training run, and its news to the terminal.
 *
 * The options are those of the library (heed_training_option_at), so that the two cannot differ. On a terminal one line is
 * kept alive; elsewhere there are plain lines, fewer of them. */
#include "command.h"
#include "terminal.h"

#include <heed.h>

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct train {
    const char *config;
};

static const heed_option options[] = {
    {"config", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct train, config), .value = "FILE",
     .group = "Files",
     .help = "read options from lines of name = value; options on the command line win"},
    {0},
};

/* ---- news on the terminal ----------------------------------------------------------------------- */

struct screen {
    bool is_terminal, is_quiet, is_json;
    bool has_live_line;
    double shown; /* when the live line was last drawn, in seconds of the run */
};

static volatile sig_atomic_t stopped_by; /* the signal, 0 for none */
static volatile sig_atomic_t is_silent, is_preparing;

enum {
    PATIENCE = 1
}; /* seconds for what cannot be asked to stop, such as learning subwords, before it is left */

static void leave(int number)
{
    static const char text[] = "stopped; there was nothing new to be saved\n";
    (void)number;
    if (!is_preparing)
        return;
    if (!is_silent)
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(128 + stopped_by);
}

/* Acknowledged at once, though leaving takes a moment. The second time it is meant: the last saved state is whole. */
static void note_stop(int number)
{
    static const char text[] = "\nstopping, the state is being saved; once more leaves at once\n",
                      soon[] = "\nstopping\n";
    stopped_by = number;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (number == SIGHUP) /* whoever was reading may be gone as well */
        signal(SIGPIPE, SIG_IGN);
    else if (!is_silent)
        (void)!write(STDERR_FILENO, is_preparing ? soon : text,
                     (is_preparing ? sizeof soon : sizeof text) - 1);
    if (is_preparing)
        alarm(PATIENCE);
}

static void clear_live_line(struct screen *s)
{
    if (s->has_live_line)
        fprintf(stderr, "\r\033[K");
    s->has_live_line = false;
}

static void say(struct screen *s, const char *text)
{
    if (s->is_quiet)
        return;
    clear_live_line(s);
    if (s->is_terminal)
        print_wrapped(stderr, text, 0, 2);
    else
        fprintf(stderr, "%s\n", text);
}

/* A line of parts that may be more than a terminal is wide: those of the highest rank (the lowest numbers) stay. A part brings
 * along what separates it from the one before. */
struct line {
    struct part {
        char text[96];
        int rank, width;
    } parts[12];
    int n;
    char text[1200];
};

static void add(struct line *line, int rank, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(struct line *line, int rank, const char *format, ...)
{
    struct part *part = &line->parts[line->n++];
    va_list args;
    va_start(args, format);
    vsnprintf(part->text, sizeof part->text, format, args);
    va_end(args);
    part->rank = rank;
    part->width = 0;
    for (const char *c = part->text; *c; c++)
        part->width += (*c & 0xC0) != 0x80;
}

static const char *fit(struct line *line, int columns)
{
    bool is_there[12] = {false};
    for (int rank = 0, left = columns; rank <= 9; rank++)
        for (int i = 0; i < line->n; i++)
            if (line->parts[i].rank == rank && line->parts[i].width <= left) {
                is_there[i] = true;
                left -= line->parts[i].width;
            }
    line->text[0] = '\0';
    for (int i = 0; i < line->n; i++)
        if (is_there[i])
            strcat(line->text, line->parts[i].text);
    return line->text;
}

static int columns_of(const struct screen *s)
{
    return s->is_terminal ? text_options(stderr).width - 1 : 10000;
}

static void show_live(struct screen *s, struct line *line)
{
    fprintf(stderr, "\r%s\033[K", fit(line, columns_of(s)));
    fflush(stderr);
    s->has_live_line = true;
}

/* "1:02:03", "4:05" */
static const char *time_text(char text[24], double seconds)
{
    const long t = (long)seconds;
    if (t >= 3600)
        snprintf(text, 24, "%ld:%02ld:%02ld", t / 3600, t / 60 % 60, t % 60);
    else
        snprintf(text, 24, "%ld:%02ld", t / 60, t % 60);
    return text;
}

/* How much of the way is done, as a line that becomes heavy. */
static void add_bar(struct line *line, int rank, double share)
{
    enum { WIDTH = 12 };
    char bar[3 * WIDTH + 1] = "";
    for (int i = 0; i < WIDTH; i++)
        strcat(bar, i < (int)(share * WIDTH + 0.5) ? "━" : "─");
    add(line, rank, "  %s", bar);
}

static void show_update(struct screen *s, const heed_training_event *e)
{
    const double patience = s->is_terminal ? 0.2 : 60; /* seconds between two of them */
    if (s->is_quiet || e->seconds - s->shown < patience)
        return;
    s->shown = e->seconds;
    char time[24];
    struct line line = {.n = 0};
    add(&line, 0, "%s", time_text(time, e->seconds));
    if (s->is_terminal && e->seconds_left >= 0 && !e->is_least)
        add_bar(&line, 5, e->seconds / (e->seconds + e->seconds_left + 1e-9));
    add(&line, 1, "  update %ld", e->update);
    add(&line, 7, " · epoch %.2f", e->epoch);
    add(&line, 2, " · loss %.3f", e->loss);
    if (e->tokens_per_second >= 10000)
        add(&line, 6, " · %3.0fk tok/s", e->tokens_per_second / 1000);
    else if (e->tokens_per_second > 0)
        add(&line, 6, " · %4.0f tok/s", e->tokens_per_second);
    add(&line, 8, " · rate %.2g", e->rate);
    if (e->has_best)
        add(&line, 4, " · best %s %.2f", e->metric, e->best);
    if (e->seconds_left >= 0)
        add(&line, 3, e->is_least ? " · at least %s left" : " · %s left",
            time_text(time, e->seconds_left));
    if (s->is_terminal)
        show_live(s, &line);
    else
        say(s, fit(&line, columns_of(s)));
}

static bool is_metric(const heed_training_event *e, const char *name)
{
    return e->metric && strcmp(e->metric, name) == 0;
}

static void show_validation(struct screen *s, const heed_training_event *e)
{
    if (s->is_quiet)
        return;
    char time[24];
    struct line line = {.n = 0};
    add(&line, 0, "%s", time_text(time, e->seconds));
    add(&line, 0, "  update %ld · dev: perplexity %.2f", e->update, e->perplexity);
    add(&line, is_metric(e, "cross entropy") ? 2 : 6, " · cross entropy %.3f", e->ce);
    if (e->has_text) {
        add(&line, is_metric(e, "BLEU") ? 2 : 3, " · BLEU %.2f", e->bleu);
        add(&line, is_metric(e, "chrF") ? 2 : 5, " · chrF %.2f", e->chrf);
        add(&line, is_metric(e, "exact") ? 2 : 4, " · exact %.1f %%", e->exact);
        if (is_metric(e, "WER"))
            add(&line, 2, " · WER %.2f %%", e->wer);
    }
    if (e->has_labels) {
        add(&line, 2, " · accuracy %.2f %%", e->accuracy);
        add(&line, is_metric(e, "F1") ? 2 : 3, " · F1 %.2f", e->f1);
    }
    if (e->has_answers) {
        add(&line, 2, " · exact %.2f %%", e->exact);
        add(&line, is_metric(e, "F1") ? 2 : 3, " · F1 %.2f", e->f1);
    }
    if (e->is_best)
        add(&line, 1, " · best so far, saved");
    else if (e->patience > 0 && e->n_stale > 0)
        add(&line, 1, " · validation %d of %d without improvement", e->n_stale, e->patience);
    clear_live_line(s);
    fprintf(stderr, "%s\n", fit(&line, columns_of(s)));
}

static bool watch(void *context, const heed_training_event *e)
{
    struct screen *s = context;
    if (e->news != HEED_TRAINING_WAITS)
        is_preparing = e->news == HEED_TRAINING_PREPARES;
    if (s->is_json && e->json) {
        puts(e->json);
        fflush(stdout);
    }
    switch (e->news) {
    case HEED_TRAINING_SAYS:
        say(s, e->text);
        break;
    case HEED_TRAINING_PREPARES:
        if (s->is_terminal && !s->is_quiet) {
            struct line line = {.n = 0};
            add(&line, 0, e->share > 0 ? "%s: %.0f %%" : "%s ...", e->text, 100 * e->share);
            show_live(s, &line);
        }
        break;
    case HEED_TRAINING_LEARNED:
        show_update(s, e);
        break;
    case HEED_TRAINING_VALIDATES:
        if (s->is_terminal && !s->is_quiet) {
            struct line line = {.n = 0};
            add(&line, 0, "translating the dev sentences ...");
            show_live(s, &line);
        }
        break;
    case HEED_TRAINING_VALIDATED:
        show_validation(s, e);
        break;
    case HEED_TRAINING_SAVED:
    case HEED_TRAINING_WAITS:
        break;
    }
    return !stopped_by;
}

/* ---- the command ---------------------------------------------------------------------------------- */

static bool set_all(heed_training *training, const struct invocation *invocation, heed_error *err)
{
    const struct train *train = invocation->values;
    for (int i = 0; i < invocation->n_settings; i++) {
        const struct setting *s = &invocation->settings[i];
        if (!heed_training_set(training, s->option->name, s->text, err))
            return false;
    }
    return !train->config || heed_training_read(training, train->config, err);
}

static enum status failure(const heed_error *err)
{
    complain("%s", err->message);
    return err->code == HEED_BAD_OPTION ? STATUS_USAGE : STATUS_FAILED;
}

/* Text that was named without options: what to type. */
static enum status advise(const struct text_list *files)
{
    if (files->n == 1)
        complain("train does not know what to do with '%s'; name the text by an option: heed train "
                 "--tsv %s --out MODEL.safetensors, or --src FILE --tgt FILE for two files",
                 files->items[0], files->items[0]);
    else
        complain("train does not know what to do with '%s'; name the text by options: heed train "
                 "--src %s --tgt %s --out MODEL.safetensors",
                 files->items[0], files->items[0], files->items[1]);
    return STATUS_USAGE;
}

static enum status run(const struct invocation *invocation)
{
    heed_error err = {0};
    if (invocation->arguments.n > 0)
        return advise(&invocation->arguments);
    heed_training *training = heed_training_new(&err);
    if (!training || !set_all(training, invocation, &err)) {
        heed_training_free(training);
        return failure(&err);
    }
    struct screen screen = {.is_terminal = isatty(STDERR_FILENO),
                            .is_quiet = heed_training_is_yes(training, "quiet"),
                            .is_json = heed_training_is_yes(training, "json")};
    is_silent = screen.is_quiet;
    signal(SIGALRM, leave);
    signal(SIGINT, note_stop);
    signal(SIGTERM, note_stop);
    if (signal(SIGHUP, note_stop) == SIG_IGN) /* nohup */
        signal(SIGHUP, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is told by a sentence */
    const bool ok = heed_training_run(training, watch, &screen, &err);
    alarm(0);
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) /* nothing is left to be saved */
        signal(caught[i], SIG_DFL);
    clear_live_line(&screen);
    heed_training_free(training);
    if (!ok && err.code == HEED_CANCELLED && stopped_by) {
        complain("%s", err.message);
        return (enum status)(128 + stopped_by);
    }
    return ok ? STATUS_FINE : failure(&err);
}

const struct command command_train = {
    .name = "train",
    .summary = "train a model on parallel text",
    .usage = "--src FILE... --tgt FILE... --out MODEL.safetensors [OPTIONS]",
    .description =
        "Trains a model on lines of source text and their translations and writes the best model "
        "to "
        "--out. Options that are not given are chosen to fit the text; heed prints what it chose. "
        "Repeating the command resumes a run that was stopped. The result is the same, bit for "
        "bit, "
        "however often that happens and for any number of threads.",
    .examples = {{"heed train --src train.en --tgt train.fr --out en-fr.safetensors",
                  "train with everything chosen to fit the text"},
                 {"heed train --tsv pairs.tsv --arch bahdanau --dim 256 --hours 2 -o m.safetensors",
                  "train the model of Bahdanau et al. for two hours"},
                 {"heed train --from en-fr.safetensors --tsv medical.tsv -o medical.safetensors",
                  "adapt a model to other text"}},
    .most_arguments = -1, /* for a better answer: none is wanted */
    .options = options,
    .values_size = sizeof(struct train),
    .library_option = heed_training_option_at,
    .run = run,
};
