/* output.c -- printing. Colours only where somebody is looking and NO_COLOR is not set. */
#include "terminal.h"

#include "command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool has_color(FILE *out)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return !(no_color && no_color[0]) && !(terminal && strcmp(terminal, "dumb") == 0) &&
           isatty(fileno(out));
}

static int width_of(FILE *out)
{
    const char *columns = getenv("COLUMNS");
    const long told = columns ? strtol(columns, NULL, 10) : 0;
    struct winsize size = {0};
    if (told > 0 && told < 10000)
        return (int)told;
    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

heed_text_options text_options(FILE *out)
{
    const char *terminal = getenv("TERM"), *colors = getenv("COLORTERM");
    const bool has_256 = (terminal && strstr(terminal, "256color")) || (colors && colors[0]);
    return (heed_text_options){.width = width_of(out), .has_colors = has_color(out) && has_256};
}

void complain(const char *format, ...)
{
    fflush(stdout); /* so that the order on a terminal is the order of events */
    char sentence[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    /* At once, so that what a signal's handler says does not come in between. */
    fprintf(stderr, "%s %s\n", has_color(stderr) ? "\033[1;31mheed:\033[0m" : "heed:", sentence);
}

void print_heading(FILE *out, const char *text)
{
    fprintf(out, has_color(out) ? "\033[1m%s\033[0m\n" : "%s\n", text);
}

void print_wrapped(FILE *out, const char *text, int at, int indent)
{
    enum { WIDTH = 80 };
    bool is_first = true;
    for (const char *word = text + strspn(text, " "); *word;) {
        const int length = (int)strcspn(word, " ");
        if (!is_first && at + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
            is_first = true;
        }
        at += fprintf(out, is_first ? "%.*s" : " %.*s", length, word);
        is_first = false;
        word += length;
        word += strspn(word, " ");
    }
    fputc('\n', out);
}

void print_json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

bool flush_stdout(void)
{
    const bool failed_before = ferror(stdout);
    errno = 0;
    if (fflush(stdout) == 0 && !failed_before)
        return true;
    complain("standard output cannot be written%s%s; what was printed is not complete",
             errno ? ": " : "", errno ? strerror(errno) : "");
    return false;
}

void *need_memory(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory) {
        complain("there is no memory left");
        exit(STATUS_FAILED);
    }
    return memory;
}
