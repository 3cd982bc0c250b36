/* tables.c -- `heed --tables`: everything that can be typed, for tools/manual.awk.
 *
 * A line is a kind of row and its fields, separated by tabs. Rows of a command follow it:
 *
 *     command NAME SUMMARY
 *     usage TEXT                                      what follows the name; one row for each way
 *     about TEXT
 *     group HEADING                                   of the options that follow
 *     option NAME LETTER VALUE LEAST MOST DEFAULT HELP FIXED */
#include "command.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

/* A usage may be of several lines, each but the first beginning with "heed NAME". */
static void print_usage(const struct command *command)
{
    char *usage = need_memory(strlen(command->usage) + 1, 1), *rest = usage;
    strcpy(usage, command->usage);
    for (const char *line; (line = strsep(&rest, "\n")) != NULL;) {
        line += strspn(line, " ");
        if (strncmp(line, "heed ", 5) == 0)
            line += 5 + strlen(command->name) + 1;
        printf("usage\t%s\n", line);
    }
    free(usage);
}

void print_tables(const struct command *command)
{
    printf("command\t%s\t%s\n", command->name, command->summary);
    print_usage(command);
    printf("about\t%s\n", command->description);
    char *defaults = need_memory(1, command->values_size);
    if (command->set_defaults)
        command->set_defaults(defaults);
    for (const struct option *o = command->options; o->name; o++) {
        if (o->group || o == command->options)
            printf("group\t%s\n", o->group ? o->group : "Options");
        const char letter[] = {o->letter, '\0'};
        printf("option\t%s\t%s\t%s\t", o->name, letter, option_value(o));
        if (o->least != 0 || o->most != 0)
            printf("%.12g\t%.12g", o->least, o->most);
        else
            printf("\t");
        printf("\t%s\t%s\t%s\n", option_default(o, defaults).text, o->help,
               o->is_fixed ? "fixed" : "");
    }
    free(defaults);
}
