/* help.c -- `heed NAME --help`, made from the command's table, so that it cannot forget an
 * option. */
#include "command.h"
#include "terminal.h"

#include <stdlib.h>

enum { HELP_COLUMN = 28 };

/* "  -b, --beam N                how many hypotheses to keep (default: 6)" */
static void print_option(const heed_option *option)
{
    const char *value = option_value(option), *is = option_default(option);
    const char letter[] = {'-', option->letter, ',', '\0'};
    int at = printf("  %3s --%s%s%s", option->letter ? letter : "", option->name, *value ? " " : "",
                    value);
    if (at + 2 > HELP_COLUMN) {
        printf("\n");
        at = 0;
    }
    printf("%*s", HELP_COLUMN - at, "");
    char with_default[1024];
    snprintf(with_default, sizeof with_default, *is ? "%s (default: %s)" : "%s", option->help, is);
    print_wrapped(stdout, with_default, HELP_COLUMN, HELP_COLUMN);
}

void print_command_help(const struct command *command)
{
    printf("Usage: heed %s %s\n\n", command->name, command->usage);
    print_wrapped(stdout, command->description ? command->description : command->summary, 0, 0);
    struct listed_option *listed = list_options(command);
    for (const struct listed_option *l = listed; l->option; l++) {
        if (l->is_first) {
            printf("\n");
            print_heading(stdout, l->group);
        }
        print_option(l->option);
    }
    free(listed);
    print_option(&(heed_option){"help", 'h', .kind = HEED_OPTION_FLAG, .help = "show this help"});
    for (const struct example *e = command->examples; e->line; e++) {
        printf("\n");
        if (e == command->examples)
            print_heading(stdout, "Examples");
        printf("  %s\n      ", e->line);
        print_wrapped(stdout, e->what, 6, 6);
    }
}
