/* server.c -- what a server is told, by name, and how it is started: the rest is the module's (serve/).
 *
 * Whoever wants it to stop or to read its models again may be a signal handler, so these two only write a byte to a pipe that the
 * module reads. */
#include "base/error.h"
#include "base/memory.h"
#include "base/module.h"
#include "option/option.h"
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct hd_module_name serve_module = {
    .file = "heed_serve.so",
    .environment = "HEED_SERVE_MODULE",
    .symbol = "hd_serve_module",
    .purpose = "servers",
    .needs = "install libmicrohttpd (Debian, Ubuntu: apt-get install libmicrohttpd-dev)",
};

struct heed_server {
    struct hd_serve_settings settings;
    heed_options *checked; /* settings of translators are tried here */
    int control[2];
};

/* ---- the rows ------------------------------------------------------------------------------------ */

#define FIELD(member) HEED_OPTION_FIELD(struct hd_serve_settings, member)
#define SECONDS       .kind = HEED_OPTION_INT, .value = "SECONDS", .least = 1, .most = 86400
#define COUNT         .kind = HEED_OPTION_INT, .value = "N"

static const heed_option rows[] = {
    {"model", 'm', .kind = HEED_OPTION_LIST, FIELD(models), .value = "[SRC-TGT=]MODEL[,MODEL...]",
     .default_help = "the model inside heed", .group = "Server",
     .help = "model to translate with; may be repeated, one for each direction. SRC-TGT= says "
             "which languages it is for where its record does not"},
    {"host", .kind = HEED_OPTION_TEXT, FIELD(host), .initial = "127.0.0.1", .value = "ADDRESS",
     .help = "address to listen at; beyond this machine only with --api-keys or --insecure"},
    {"port", .kind = HEED_OPTION_INT, FIELD(port), .initial = "5000", .value = "N", .least = 0,
     .most = 65535, .help = "port to listen at; 0 takes one that is free"},
    {"web", .kind = HEED_OPTION_YES_NO, FIELD(has_page), .initial = "yes",
     .help = "serve the page, not the interface alone"},
    {"web-folder", .kind = HEED_OPTION_TEXT, FIELD(page), .value = "FOLDER",
     .default_help = "the page inside heed", .help = "take the files of the page from a folder"},
    {"files", .kind = HEED_OPTION_YES_NO, FIELD(has_files), .initial = "yes",
     .help = "translate files that are sent (/translate_file)"},
    {"metrics", .kind = HEED_OPTION_YES_NO, FIELD(has_metrics), .initial = "yes",
     .help = "tell numbers about the server for Prometheus (/metrics)"},
    {"memory", .kind = HEED_OPTION_TEXT, FIELD(memory), .value = "FILE.tsv",
     .help = "translation memory, as of heed translate, to which /suggest adds: better "
             "translations are used at once. It is made if it is not there"},
    {"api-keys", .kind = HEED_OPTION_TEXT, FIELD(api_keys), .value = "FILE", .group = "Safety",
     .help = "serve only those who know a key of this file: one a line, and behind it, if wanted, "
             "how many texts a minute it may send"},
    {"insecure", .kind = HEED_OPTION_FLAG, FIELD(is_insecure),
     .help = "listen beyond this machine without keys"},
    {"host-name", .kind = HEED_OPTION_LIST, FIELD(host_names), .value = "NAME",
     .help = "name under which the server is called, as in the Host header; may be repeated"},
    {"cors", .kind = HEED_OPTION_LIST, FIELD(origins), .value = "ORIGIN",
     .help = "let pages of this origin (https://example.org, or *) use the server; may be "
             "repeated. Pages of this machine always may"},
    {"trust-proxy", .kind = HEED_OPTION_FLAG, FIELD(trusts_proxy),
     .help = "believe the X-Forwarded-For header of a reverse proxy"},
    {"rate", COUNT, FIELD(rate), .initial = "0", .least = 0, .most = 1000000000,
     .default_help = "no limit", .help = "texts a minute from one key or address"},
    {"max-body", .kind = HEED_OPTION_INT, FIELD(max_body), .initial = "1048576", .value = "BYTES",
     .least = 64, .most = 1 << 30, .help = "longest request", .group = "Limits"},
    {"max-characters", COUNT, FIELD(max_characters), .initial = "50000", .least = 1,
     .most = 1 << 30, .help = "longest text"},
    {"max-texts", COUNT, FIELD(max_texts), .initial = "1000", .least = 1, .most = 1000000,
     .help = "texts of a request"},
    {"max-alternatives", COUNT, FIELD(max_alternatives), .initial = "10", .least = 0, .most = 1000,
     .help = "alternatives of a translation that may be asked for"},
    {"max-beam", COUNT, FIELD(max_beam), .initial = "20", .least = 1, .most = 10000,
     .help = "largest beam that may be asked for"},
    {"max-numbers", COUNT, FIELD(max_numbers), .initial = "4000000", .least = 1, .most = 1 << 30,
     .help =
         "numbers of an answer: weights of attention, likeliest words of steps, the beam's tree"},
    {"max-queue", COUNT, FIELD(max_queue), .initial = "5000", .least = 1, .most = 10000000,
     .help = "texts that wait or are translated; further requests are told to come again"},
    {"max-connections", COUNT, FIELD(max_connections), .initial = "1024", .least = 1,
     .most = 100000, .help = "connections at a time"},
    {"max-connections-each", COUNT, FIELD(max_connections_each), .initial = "0", .least = 0,
     .most = 100000, .default_help = "no limit", .help = "connections from one address at a time"},
    {"header-time", SECONDS, FIELD(header_time), .initial = "10",
     .help = "time in which the head of a request must have come"},
    {"body-time", SECONDS, FIELD(body_time), .initial = "30",
     .help = "time in which the rest of it must"},
    {"idle-time", SECONDS, FIELD(idle_time), .initial = "60",
     .help = "time for which a connection is kept between requests"},
    {"answer-time", SECONDS, FIELD(answer_time), .initial = "60",
     .help = "time in which a request is answered or given up"},
    {"drain-time", SECONDS, FIELD(drain_time), .initial = "30",
     .help = "time for requests under way when the server is told to stop"},
    {"log-text", .kind = HEED_OPTION_FLAG, FIELD(logs_text),
     .help = "write the texts to the log, too", .group = "Running"},
    {"verbose", 'v', .kind = HEED_OPTION_FLAG, FIELD(is_verbose),
     .help = "log why a request was refused as well; without what was sent, unless --log-text"},
    {"quiet", 'q', .kind = HEED_OPTION_FLAG, FIELD(is_quiet), .help = "log no requests"},
    {0},
};

enum { N_ROWS = sizeof rows / sizeof *rows - 1 };

/* The i-th option of translators that servers have. */
static const heed_option *translator_row(int i)
{
    static const char *const left_out[] = {"attention", "n-best", "layer", "head", "shift"};
    const heed_option *o;
    for (int k = 0; (o = heed_translator_option_at(k)); k++) {
        bool is_in = !(o->flags & HEED_OPTION_PROGRAM) && !heed_option_find(rows, o->name);
        for (size_t j = 0; is_in && j < sizeof left_out / sizeof *left_out; j++)
            is_in = strcmp(o->name, left_out[j]) != 0;
        if (is_in && i-- == 0)
            return o;
    }
    return NULL;
}

const heed_option *heed_server_option_at(int i)
{
    return i < 0 ? NULL : i < N_ROWS ? &rows[i] : translator_row(i - N_ROWS);
}

/* ---- a server -------------------------------------------------------------------------------------- */

/* A pipe that children do not get, and that nobody waits for. */
static bool open_pipe(int ends[2])
{
    if (pipe(ends) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        if (fcntl(ends[i], F_SETFD, FD_CLOEXEC) != 0 || fcntl(ends[i], F_SETFL, O_NONBLOCK) != 0)
            return false;
    return true;
}

heed_server *heed_server_new(heed_error *err)
{
    heed_server *s = hd_new(heed_server, err);
    if (!s)
        return NULL;
    s->control[0] = s->control[1] = -1;
    if (!heed_option_defaults(rows, &s->settings, err) ||
        !(s->checked = heed_options_new(NULL, err))) {
        heed_server_free(s);
        return NULL;
    }
    if (!open_pipe(s->control)) {
        hd_fail(err, HEED_NO_MEMORY, "a pipe could not be made (%s)", strerror(errno));
        heed_server_free(s);
        return NULL;
    }
    return s;
}

void heed_server_free(heed_server *s)
{
    if (!s)
        return;
    for (int i = 0; i < 2; i++)
        if (s->control[i] >= 0)
            close(s->control[i]);
    for (size_t i = 0; i < s->settings.translator.n; i++)
        hd_free(s->settings.translator.at[i]);
    hd_free(s->settings.translator.at);
    heed_option_release(rows, &s->settings);
    heed_options_free(s->checked);
    hd_free(s);
}

/* A setting of translators, tried and noted. */
static bool note_setting(heed_server *s, const char *name, const char *value, heed_error *err)
{
    heed_option_list *list = &s->settings.translator;
    const size_t size = strlen(name) + strlen(value) + 2;
    char **grown = NULL, *text = NULL;
    if (!heed_options_set(s->checked, name, value, err) ||
        !(grown = hd_grow(list->at, &list->capacity, list->n + 1, sizeof *grown, err)))
        return false;
    list->at = grown;
    if (!(text = hd_alloc(size, 1, err)))
        return false;
    snprintf(text, size, "%s=%s", name, value);
    list->at[list->n++] = text;
    return true;
}

bool heed_server_set(heed_server *s, const char *name, const char *value, heed_error *err)
{
    if (!hd_is_given(s, "server", err) || !hd_is_given(name, "name of an option", err) ||
        !hd_is_given(value, "value", err))
        return false;
    const heed_option *row = heed_option_find(rows, name);
    if (row)
        return heed_option_set(row, &s->settings, value, err);
    for (int i = 0; (row = translator_row(i)); i++)
        if (strcmp(row->name, name) == 0)
            return note_setting(s, name, value, err);
    const char *names[N_ROWS + 64];
    int n = 0;
    for (; n < N_ROWS + 64 && (row = heed_server_option_at(n)); n++)
        names[n] = row->name;
    return heed_option_unknown(name, names, n, NULL, err);
}

void heed_server_inside(heed_server *s, const char *name, const void *data, size_t size)
{
    if (s)
        s->settings.inside = (struct hd_serve_model){.name = name, .data = data, .size = size};
}

bool heed_server_run(heed_server *s,
                     void (*say)(void *context, enum heed_server_news news, const char *text),
                     void *context, heed_error *err)
{
    if (!hd_is_given(s, "server", err))
        return false;
    const struct hd_serve_module *module = hd_module_open(&serve_module, err);
    if (!module)
        return false;
    if (strcmp(module->version, HEED_VERSION) != 0)
        return hd_fail(
            err, HEED_BAD_FILE,
            "the module heed_serve.so is of heed %s, but this is heed %s; install both together",
            module->version, HEED_VERSION);
    s->settings.control = s->control[0];
    s->settings.say = say;
    s->settings.context = context;
    return module->run(&s->settings, err);
}

static void tell(heed_server *s, char what)
{
    const int before = errno;
    if (s && write(s->control[1], &what, 1) < 0) {
        /* the pipe is full: it has been told often enough */
    }
    errno = before;
}

void heed_server_stop(heed_server *s)
{
    tell(s, 's');
}

void heed_server_reload(heed_server *s)
{
    tell(s, 'r');
}
