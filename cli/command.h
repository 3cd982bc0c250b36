/* command.h -- a subcommand of `heed`: its name, its options as a table, and the function that
 * does it.
 *
 * A command keeps the values of its options in a struct of its own; the table says for each
 * option which field it fills and with what. Parsing, checking, help and "did you mean" all come
 * from the table:
 *
 *     struct train { int n_layers; float dropout; int cell; struct text_list src; bool is_quiet; };
 *
 *     static const struct option options[] = {
 *         {"src", .kind = OPTION_LIST, OPTION_FIELD(struct train, src), .value = "FILE...",
 *          .help = "source side of the training text"},
 *         {"layers", .kind = OPTION_INT, OPTION_FIELD(struct train, n_layers), .value = "N",
 *          .least = 1, .most = 64, .help = "layers of encoder and decoder", .group = "Model"},
 *         {"cell", .kind = OPTION_CHOICE, OPTION_FIELD(struct train, cell),
 *          .choices = "rnn|gru|lstm", .help = "kind of recurrent cell"},
 *         {"quiet", 'q', .kind = OPTION_FLAG, OPTION_FIELD(struct train, is_quiet),
 *          .help = "say nothing"},
 *         {0}};
 *
 * Defaults are what set_defaults() puts into the struct; the help shows them. */
#ifndef HEED_CLI_COMMAND_H
#define HEED_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

enum status { STATUS_FINE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

enum option_kind {
    OPTION_FLAG,   /* bool: true when given; takes no value */
    OPTION_YES_NO, /* bool: yes or no */
    OPTION_INT,    /* int, from .least to .most */
    OPTION_FLOAT,  /* float, from .least to .most */
    OPTION_CHOICE, /* int: which of .choices, from 0 */
    OPTION_TEXT,   /* const char *: as typed; NULL is "none" */
    OPTION_LIST,   /* struct text_list: all words up to the next option; repeating adds */
};

struct text_list {
    const char **items; /* borrowed from the command line */
    int n;
};

struct option {
    const char *name; /* without the dashes */
    char letter;      /* one-letter form, or 0 */
    bool is_fixed;    /* of a training run: one that goes on must have the same */
    enum option_kind kind;
    size_t offset, size; /* the field it fills: OPTION_FIELD() */
    double least, most;  /* of numbers, inclusive; both 0 for no limits */
    const char *choices; /* "rnn|gru|lstm" */
    const char *value;   /* what the help calls the value: "N", "FILE" */
    const char *help;    /* what it does; a few words, no full stop */
    const char *group;   /* heading in the help, from this option on */
};

#define OPTION_FIELD(type, field) \
    .offset = offsetof(type, field), .size = sizeof(((type *)0)->field)

struct invocation;

struct command {
    const char *name;
    const char *summary;                /* one line for `heed --help` */
    const char *usage;                  /* what follows the name: "[OPTIONS] [FILE...]" */
    const char *description;            /* for `heed NAME --help`, whole sentences, may be NULL */
    int most_arguments;                 /* words that are not options; -1: any number */
    const struct option *options;       /* ended by {0} */
    size_t values_size;                 /* of the struct that the options fill */
    void (*prepare)(void);              /* called first, to fill in `options`; may be NULL */
    void (*set_defaults)(void *values); /* may be NULL: all zero */
    enum status (*run)(const struct invocation *invocation);
};

/* A command as it was called. */
struct invocation {
    const struct command *command;
    void *values;    /* the command's struct */
    bool *was_given; /* by number of option: typed by the user, not a default */
    struct text_list arguments;
};

/* Was the option with this name given? It must be one of the command's. */
bool was_given(const struct invocation *invocation, const char *name);

/* Read words[0..n), what came after the command's name, into a new invocation. NULL, with the
 * complaint printed, when they are wrong. `*wants_help` is true, and the invocation NULL, when
 * -h or --help is among them. */
struct invocation *invocation_new(const struct command *command, int n, char **words,
                                  bool *wants_help);
void invocation_free(struct invocation *invocation);

/* `heed NAME --help`. */
void print_command_help(const struct command *command);

/* What the help calls an option's value: "N", "rnn|gru|lstm", "" of a flag. */
const char *option_value(const struct option *option);

/* What an option is when it is not given, of an invocation's values as set_defaults() left them: "6"; "" where there
 * is nothing to say. */
struct option_default {
    char text[256];
};
struct option_default option_default(const struct option *option, const void *defaults);

/* The tables themselves, for tools/manual.awk: lines of fields separated by tabs, of which the reference, the man pages
 * and the shells' completions are made. */
void print_tables(const struct command *command);

extern const struct command command_align;
extern const struct command command_eval;
extern const struct command command_import;
extern const struct command command_info;
extern const struct command command_score;
extern const struct command command_train;
extern const struct command command_translate;

#endif
