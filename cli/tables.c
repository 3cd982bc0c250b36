/* tables.c -- `heed --tables`: everything that can be typed, for tools/manual.awk.
 *
 * A line is a kind of row and its fields, separated by tabs. Rows of a command follow it:
 *
 *     command NAME SUMMARY
 *     usage TEXT                                      what follows the name; one row for each way
 *     about TEXT
 *     example LINE WHAT
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
    for (const struct example *e = command->examples; e->line; e++)
        printf("example\t%s\t%s\n", e->line, e->what);
    struct listed_option *listed = list_options(command);
    for (const struct listed_option *l = listed; l->option; l++) {
        const heed_option *o = l->option;
        const char letter[] = {o->letter, '\0'};
        if (l->is_first)
            printf("group\t%s\n", l->group);
        printf("option\t%s\t%s\t%s\t", o->name, letter, option_value(o));
        if ((o->least != 0 || o->most != 0) && o->kind != HEED_OPTION_CHOICE)
            printf("%.12g\t%.12g", o->least, o->most);
        else
            printf("\t");
        printf("\t%s\t%s\t%s\n", option_default(o), o->help,
               o->flags & HEED_OPTION_FIXED ? "fixed" : "");
    }
    free(listed);
}
