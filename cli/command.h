/* command.h -- a subcommand of `heed`: its name, its options as a table, and the function that
 * does it.
 *
 * A command keeps the values of its options in a struct of its own, which the rows of its table
 * fill (heed.h, "options"). Options of an object of the library, such as a training run, are listed by
 * the library; their texts are kept in the order in which they were given, for the command to hand on.
 * Values, ranges, defaults and their errors are the library's business; here is the grammar of a
 * command line. */
#ifndef HEED_CLI_COMMAND_H
#define HEED_CLI_COMMAND_H

#include <heed.h>

enum status { STATUS_FINE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

/* Words of the command line. */
struct text_list {
    const char **items;
    int n;
};

/* An option of the library, and what was typed for it. */
struct setting {
    const heed_option *option;
    const char *text;
};

/* A command line that is worth knowing. */
struct example {
    const char *line, *what;
};

struct invocation;

struct command {
    const char *name, *alias;   /* alias: a former name, which still works; may be NULL */
    const char *summary;        /* one line for `heed --help` */
    const char *usage;          /* what follows the name: "[OPTIONS] [FILE...]" */
    const char *description;    /* for `heed NAME --help`, whole sentences, may be NULL */
    struct example examples[9]; /* at the end of the help, ended by {0} */
    int most_arguments;         /* words that are not options; -1: any number */
    const heed_option *options; /* its own, ended by {0} */
    size_t values_size;         /* of the struct that they fill */
    /* the i-th option of an object of the library, NULL when there are no more; may be NULL */
    const heed_option *(*library_option)(int i);
    enum status (*run)(const struct invocation *invocation);
};

/* A command as it was called. */
struct invocation {
    const struct command *command;
    void *values;             /* the command's struct */
    bool *is_given;           /* by number of its own option */
    struct setting *settings; /* for the library */
    int n_settings;
    struct text_list arguments;
};

/* Was the option with this name typed? It must be one of the command's own. */
bool was_given(const struct invocation *invocation, const char *name);

/* Read words[0..n), what came after the command's name, into a new invocation. NULL, with the
 * complaint printed, when they are wrong. `*wants_help` is true, and the invocation NULL, when
 * -h or --help is among them. */
struct invocation *invocation_new(const struct command *command, int n, char **words,
                                  bool *wants_help);
void invocation_free(struct invocation *invocation);

/* `heed NAME --help`. */
void print_command_help(const struct command *command);

/* All options of a command under their headings, its own and the library's; headings in the order in which they first
 * appear. Returns an array ended by {0}, to be given to free(). */
struct listed_option {
    const heed_option *option;
    const char *group;
    bool is_first; /* of its group */
};
struct listed_option *list_options(const struct command *command);

/* What the help calls an option's value: "N", "rnn|gru|lstm", "" of a flag; and what it is when it is not given, "" where
 * there is nothing to say. */
const char *option_value(const heed_option *option);
const char *option_default(const heed_option *option);

/* The tables themselves, for tools/manual.awk: lines of fields separated by tabs, of which the reference, the man pages
 * and the shells' completions are made. */
void print_tables(const struct command *command);

extern const struct command command_align;
extern const struct command command_convert;
extern const struct command command_eval;
extern const struct command command_features;
extern const struct command command_info;
extern const struct command command_score;
extern const struct command command_serve;
extern const struct command command_train;
extern const struct command command_translate;

#endif
