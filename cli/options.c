/* options.c -- the grammar of a command line: words become options and their values, by the command's tables.
 *
 * What a value may be is the library's business (heed_option_set); here are dashes, letters, `=`, lists
 * up to the next option, and `--`. */
#include "command.h"
#include "terminal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is being read: the words, and how far we are. */
struct reader {
    const struct command *command;
    struct invocation *invocation;
    char **words;
    int n, next;
};

static bool read_long_option(struct reader *r, const char *word);
static bool read_letters(struct reader *r, const char *letters);
static bool take_value(struct reader *r, const heed_option *option, const char *attached);
static bool set_option(struct reader *r, const heed_option *option, const char *text);
static void append(struct text_list *list, const char *item);

/* The i-th option of a command: its own, then the library's. */
static const heed_option *option_at(const struct command *command, int i)
{
    int n = 0;
    while (command->options[n].name)
        n++;
    if (i < n)
        return &command->options[i];
    return command->library_option ? command->library_option(i - n) : NULL;
}

static int n_options(const struct command *command)
{
    int n = 0;
    while (option_at(command, n))
        n++;
    return n;
}

static const heed_option *find(const struct command *command, const char *name)
{
    const heed_option *o;
    for (int i = 0; (o = option_at(command, i)); i++)
        if (strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

bool was_given(const struct invocation *invocation, const char *name)
{
    const heed_option *options = invocation->command->options;
    const heed_option *option = heed_option_find(options, name);
    assert(option);
    return invocation->is_given[option - options];
}

struct invocation *invocation_new(const struct command *command, int n, char **words,
                                  bool *wants_help)
{
    struct invocation *inv = need_memory(1, sizeof *inv);
    inv->command = command;
    inv->values = need_memory(1, command->values_size);
    inv->is_given = need_memory((size_t)n_options(command), sizeof *inv->is_given);
    inv->settings = need_memory((size_t)n, sizeof *inv->settings);
    heed_error err = {0};
    struct reader r = {command, inv, words, n, 0};
    bool ok = heed_option_defaults(command->options, inv->values, &err), options_are_over = false;
    if (!ok)
        complain("%s", err.message);
    *wants_help = false;
    while (ok && !*wants_help && r.next < n) {
        const char *word = words[r.next++];
        if (options_are_over || word[0] != '-' || word[1] == '\0')
            append(&inv->arguments, word);
        else if (strcmp(word, "--") == 0)
            options_are_over = true;
        else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
            *wants_help = true;
        else
            ok = word[1] == '-' ? read_long_option(&r, word) : read_letters(&r, word + 1);
    }
    if (ok && !*wants_help && command->most_arguments >= 0 &&
        inv->arguments.n > command->most_arguments) {
        complain("%s does not know what to do with '%s'; 'heed %s --help' shows how it is used",
                 command->name, inv->arguments.items[command->most_arguments], command->name);
        ok = false;
    }
    if (ok && !*wants_help)
        return inv;
    invocation_free(inv);
    return NULL;
}

void invocation_free(struct invocation *invocation)
{
    if (!invocation)
        return;
    heed_option_release(invocation->command->options, invocation->values);
    free(invocation->arguments.items);
    free(invocation->values);
    free(invocation->is_given);
    free(invocation->settings);
    free(invocation);
}

static void complain_unknown(const struct command *command, const char *typed)
{
    const int n = n_options(command);
    const char **names = need_memory((size_t)n + 1, sizeof *names);
    for (int i = 0; i < n; i++)
        names[i] = option_at(command, i)->name;
    names[n] = "help";
    char advice[64];
    heed_error err = {0};
    snprintf(advice, sizeof advice, "'heed %s --help' lists them all", command->name);
    heed_option_unknown(typed, names, n + 1, advice, &err);
    complain("%s", err.message);
    free(names);
}

/* --name, --name VALUE or --name=VALUE */
static bool read_long_option(struct reader *r, const char *word)
{
    const char *equals = strchr(word, '=');
    const size_t n = (equals ? (size_t)(equals - word) : strlen(word)) - 2;
    char *name = need_memory(n + 1, 1);
    snprintf(name, n + 1, "%s", word + 2);
    const heed_option *option = find(r->command, name);
    if (!option)
        complain_unknown(r->command, name);
    free(name);
    return option && take_value(r, option, equals ? equals + 1 : NULL);
}

/* -q, -b 6, -b6, -qb6: flags may be followed by more letters, a value ends them. */
static bool read_letters(struct reader *r, const char *letters)
{
    for (const char *letter = letters; *letter; letter++) {
        const heed_option *option = NULL, *o;
        for (int i = 0; !option && (o = option_at(r->command, i)); i++)
            if (o->letter == *letter)
                option = o;
        if (!option) {
            const heed_option *meant = find(r->command, letters); /* -json */
            complain("there is no option '-%s'; %s%s%s", letters,
                     meant ? "did you mean --" : "'heed ", meant ? meant->name : r->command->name,
                     meant ? "?" : " --help' lists them all");
            return false;
        }
        if (option->kind != HEED_OPTION_FLAG)
            return take_value(r, option, letter[1] ? letter + 1 : NULL);
        if (!set_option(r, option, "yes"))
            return false;
    }
    return true;
}

/* Give an option its value: the attached one, or the next word, or for lists all words up to the
 * next option. */
static bool take_value(struct reader *r, const heed_option *option, const char *attached)
{
    if (option->kind == HEED_OPTION_FLAG) {
        if (!attached)
            return set_option(r, option, "yes");
        complain("%s takes no value, but was given '%s'", option->name, attached);
        return false;
    }
    if (attached)
        return set_option(r, option, attached);
    if (r->next >= r->n) {
        complain("%s needs a value: --%s %s", option->name, option->name, option_value(option));
        return false;
    }
    if (!set_option(r, option, r->words[r->next++]))
        return false;
    while (option->kind == HEED_OPTION_LIST && r->next < r->n &&
           (r->words[r->next][0] != '-' || r->words[r->next][1] == '\0'))
        if (!set_option(r, option, r->words[r->next++]))
            return false;
    return true;
}

/* Fills the command's struct, or remembers what the library is to be told. */
static bool set_option(struct reader *r, const heed_option *option, const char *text)
{
    struct invocation *inv = r->invocation;
    if (heed_option_find(r->command->options, option->name) != option) {
        inv->settings[inv->n_settings++] = (struct setting){option, text};
        return true;
    }
    heed_error err = {0};
    assert(option->offset + option->size <= r->command->values_size);
    inv->is_given[option - r->command->options] = true;
    if (heed_option_set(option, inv->values, text, &err))
        return true;
    complain("%s", err.message);
    return false;
}

static void append(struct text_list *list, const char *item)
{
    const char **items = realloc(list->items, ((size_t)list->n + 1) * sizeof *items);
    if (!items) {
        complain("there is no memory left");
        exit(STATUS_FAILED);
    }
    items[list->n++] = item;
    list->items = items;
}

/* ---- all of them, for the help and the tables ------------------------------------------------- */

struct listed_option *list_options(const struct command *command)
{
    const size_t n = (size_t)n_options(command);
    struct listed_option *found = need_memory(n, sizeof *found);
    struct listed_option *listed = need_memory(n + 1, sizeof *listed);
    for (size_t i = 0; i < n; i++) {
        const heed_option *o = option_at(command, (int)i);
        found[i] = (struct listed_option){o, o->group, false};
        if (!o->group)
            found[i].group = i > 0 ? found[i - 1].group : "Options";
    }
    size_t n_listed = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i; found[i].option && k < n; k++)
            if (found[k].option && strcmp(found[k].group, found[i].group) == 0) {
                listed[n_listed] = found[k];
                listed[n_listed++].is_first = k == i;
                if (k > i)
                    found[k].option = NULL;
            }
    free(found);
    return listed;
}

const char *option_value(const heed_option *option)
{
    return option->kind == HEED_OPTION_FLAG     ? ""
           : option->value                      ? option->value
           : option->kind == HEED_OPTION_YES_NO ? "yes|no"
           : option->choices                    ? option->choices
                                                : "VALUE";
}

const char *option_default(const heed_option *option)
{
    return option->default_help               ? option->default_help
           : option->kind == HEED_OPTION_FLAG ? ""
           : option->initial                  ? option->initial
           : option->flags & HEED_OPTION_AUTO ? "chosen to fit"
                                              : "";
}
