/* cmd_serve.c -- `heed serve`: translations over HTTP, and a page. */
#include "command.h"
#include "embedded.h"
#include "terminal.h"

#include <heed.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct serve {
    bool opens;
};

static const heed_option options[] = {
    {"open", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct serve, opens), .group = "Server",
     .help = "open the page in a browser"},
    {0},
};

static const heed_option *library_option(int i)
{
    return heed_server_option_at(i);
}

/* ---- signals ----------------------------------------------------------------------------------------- */

static heed_server *running;

static void on_signal(int number)
{
    if (number == SIGHUP)
        heed_server_reload(running);
    else
        heed_server_stop(running);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a client that has gone is none of our troubles */
}

/* ---- what it says ------------------------------------------------------------------------------------ */

/* Whatever this system opens a page with; the server does not wait for it. */
static void open_page(const char *address)
{
    const pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            execlp("xdg-open", "xdg-open", address, (char *)NULL);
            execlp("open", "open", address, (char *)NULL);
            complain("no browser could be started; open %s", address);
        }
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void say(void *context, enum heed_server_news news, const char *text)
{
    const struct serve *serve = context;
    if (news == HEED_SERVER_LISTENS) {
        printf("heed: listening at %s\n", text);
        fflush(stdout);
        if (serve->opens)
            open_page(text);
    } else if (news == HEED_SERVER_SAYS)
        complain("%s", text);
    else {
        char now[32];
        const time_t t = time(NULL);
        struct tm tm;
        strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
        fprintf(stderr, "%s %s\n", now, text);
    }
}

/* ---- running ----------------------------------------------------------------------------------------- */

static bool set_server(heed_server *server, const struct invocation *invocation, heed_error *err)
{
    for (int i = 0; i < invocation->n_settings; i++)
        if (!heed_server_set(server, invocation->settings[i].option->name,
                             invocation->settings[i].text, err))
            return false;
    return true;
}

static enum status run(const struct invocation *invocation)
{
    heed_error err = {0};
    size_t size = 0;
    const void *inside = embedded_model(&size);
    enum status status = STATUS_FAILED;
    running = heed_server_new(&err);
    if (running && set_server(running, invocation, &err)) {
        if (inside)
            heed_server_inside(running, "the embedded model", inside, size);
        catch_signals();
        if (heed_server_run(running, say, invocation->values, &err))
            status = STATUS_FINE;
    } else if (err.code == HEED_BAD_OPTION)
        status = STATUS_USAGE;
    if (status != STATUS_FINE)
        complain("%s", err.message);
    heed_server_free(running);
    return status;
}

const struct command command_serve = {
    .name = "serve",
    .summary = "serve translations over HTTP, and a page on which attention can be seen",
    .usage = "[-m MODEL]... [--port N]",
    .description =
        "Starts a server that programs which speak LibreTranslate's or DeepL's interface can use "
        "as they are, and that shows a page for people. It listens to this machine alone unless "
        "told otherwise. SIGTERM or Ctrl-C lets it answer what is under way and end; SIGHUP lets "
        "it read its models and keys again.",
    .examples = {{"heed serve --open", "a private translator, and its page in a browser"},
                 {"heed serve -m en-de.safetensors -m de-en.safetensors",
                  "two directions, each with its model"},
                 {"heed serve --host 0.0.0.0 --api-keys keys.txt",
                  "for other machines, which need a key"}},
    .most_arguments = 0,
    .options = options,
    .values_size = sizeof(struct serve),
    .library_option = library_option,
    .run = run,
};
