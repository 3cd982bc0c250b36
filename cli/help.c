/* help.c -- `heed NAME --help`, made from the command's table, so that it cannot forget an
 * option. */
#include "command.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 28 };

static void print_option(const struct option *option, const void *defaults);

void print_command_help(const struct command *command)
{
    printf("Usage: heed %s %s\n\n", command->name, command->usage);
    print_wrapped(stdout, command->description ? command->description : command->summary, 0, 0);
    char *defaults = need_memory(1, command->values_size);
    if (command->set_defaults)
        command->set_defaults(defaults);
    for (const struct option *o = command->options; o->name; o++) {
        if (o->group || o == command->options) {
            printf("\n");
            print_heading(stdout, o->group ? o->group : "Options");
        }
        print_option(o, defaults);
    }
    print_option(&(struct option){"help", 'h', .kind = OPTION_FLAG, .help = "this text"}, NULL);
    free(defaults);
}

/* "  -b, --beam N                how many hypotheses to keep (default 6)" */
static void print_option(const struct option *option, const void *defaults)
{
    const char *value = option_value(option);
    const char letter[] = {'-', option->letter, ',', '\0'};
    int at = printf("  %3s --%s%s%s", option->letter ? letter : "", option->name, *value ? " " : "",
                    value);
    if (at + 2 > HELP_COLUMN) {
        printf("\n");
        at = 0;
    }
    printf("%*s", HELP_COLUMN - at, "");
    char with_default[1024];
    const struct option_default is =
        defaults ? option_default(option, defaults) : (struct option_default){""};
    snprintf(with_default, sizeof with_default, *is.text ? "%s (default %s)" : "%s", option->help,
             is.text);
    print_wrapped(stdout, with_default, HELP_COLUMN, HELP_COLUMN);
}

const char *option_value(const struct option *option)
{
    return option->kind == OPTION_FLAG     ? ""
           : option->kind == OPTION_YES_NO ? "yes|no"
           : option->choices               ? option->choices
           : option->value                 ? option->value
                                           : "VALUE";
}

struct option_default option_default(const struct option *option, const void *defaults)
{
    const void *field = (const char *)defaults + option->offset;
    struct option_default is = {""};
    const size_t size = sizeof is.text;
    switch (option->kind) {
    case OPTION_YES_NO:
        snprintf(is.text, size, "%s", *(const bool *)field ? "yes" : "no");
        break;
    case OPTION_INT: /* what cannot be typed stands for "not given" */
        if (*(const int *)field >= option->least)
            snprintf(is.text, size, "%d", *(const int *)field);
        break;
    case OPTION_FLOAT:
        snprintf(is.text, size, "%g", (double)*(const float *)field);
        break;
    case OPTION_CHOICE: {
        const char *name = option->choices;
        for (int i = 0; i < *(const int *)field && name; i++)
            name = strchr(name, '|') ? strchr(name, '|') + 1 : NULL;
        if (name)
            snprintf(is.text, size, "%.*s", (int)strcspn(name, "|"), name);
        break;
    }
    case OPTION_TEXT:
        if (*(const char *const *)field)
            snprintf(is.text, size, "%s", *(const char *const *)field);
        break;
    case OPTION_FLAG:
    case OPTION_LIST:
        break;
    }
    return is;
}
