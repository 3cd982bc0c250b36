/* options.c -- words of a command line become fields of a struct, by the command's table of
 * options.
 *
 * Every complaint names the option as it was typed, says what it takes, and offers the nearest
 * right name. set_option() is the one place where text becomes a value. */
#include "command.h"
#include "terminal.h"

#include <heed.h>

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
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
static bool take_value(struct reader *r, const struct option *option, const char *attached,
                       const char *typed);
static bool set_option(struct invocation *invocation, const struct option *option, const char *text,
                       const char *typed);
static void append(struct text_list *list, const char *item);

static int n_options(const struct command *command)
{
    int n = 0;
    while (command->options[n].name)
        n++;
    return n;
}

/* An option by its name (of `length` letters), or NULL. */
static const struct option *find(const struct command *command, const char *name, size_t length)
{
    for (const struct option *o = command->options; o->name; o++)
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

static void *field(const struct invocation *invocation, const struct option *option)
{
    assert(option->offset + option->size <= invocation->command->values_size);
    return (char *)invocation->values + option->offset;
}

bool was_given(const struct invocation *invocation, const char *name)
{
    const struct option *option = find(invocation->command, name, strlen(name));
    assert(option);
    return invocation->was_given[option - invocation->command->options];
}

struct invocation *invocation_new(const struct command *command, int n, char **words,
                                  bool *wants_help)
{
    struct invocation *inv = need_memory(1, sizeof *inv);
    inv->command = command;
    inv->values = need_memory(1, command->values_size);
    inv->was_given = need_memory((size_t)n_options(command), sizeof *inv->was_given);
    if (command->set_defaults)
        command->set_defaults(inv->values);

    struct reader r = {command, inv, words, n, 0};
    bool ok = true, options_are_over = false;
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
    for (const struct option *o = invocation->command->options; o->name; o++)
        if (o->kind == OPTION_LIST)
            free(((struct text_list *)field(invocation, o))->items);
    free(invocation->arguments.items);
    free(invocation->values);
    free(invocation->was_given);
    free(invocation);
}

/* --name, --name VALUE or --name=VALUE */
static bool read_long_option(struct reader *r, const char *word)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct option *option = find(r->command, name, length);
    if (option)
        return take_value(r, option, equals ? equals + 1 : NULL, NULL);

    const int n = n_options(r->command);
    const char **names = need_memory((size_t)n + 1, sizeof *names);
    for (int i = 0; i < n; i++)
        names[i] = r->command->options[i].name;
    names[n] = "help";
    char *typed = need_memory(length + 1, 1);
    snprintf(typed, length + 1, "%.*s", (int)length, name);
    const char *nearest = heed_nearest(typed, names, n + 1);
    if (nearest)
        complain("%s has no option --%s; did you mean --%s?", r->command->name, typed, nearest);
    else
        complain("%s has no option --%s; 'heed %s --help' lists those it has", r->command->name,
                 typed, r->command->name);
    free(typed);
    free(names);
    return false;
}

/* -q, -b 6, -b6, -qb6: flags may be followed by more letters, a value ends them. */
static bool read_letters(struct reader *r, const char *letters)
{
    for (const char *letter = letters; *letter; letter++) {
        const struct option *option = NULL;
        for (const struct option *o = r->command->options; o->name && !option; o++)
            if (o->letter == *letter)
                option = o;
        if (!option) {
            const struct option *meant = find(r->command, letters, strlen(letters)); /* -json */
            complain("%s has no option -%s; %s%s%s", r->command->name, letters,
                     meant ? "did you mean --" : "'heed ", meant ? meant->name : r->command->name,
                     meant ? "?" : " --help' lists those it has");
            return false;
        }
        const char typed[] = {'-', *letter, '\0'};
        if (option->kind != OPTION_FLAG)
            return take_value(r, option, letter[1] ? letter + 1 : NULL, typed);
        if (!set_option(r->invocation, option, NULL, typed))
            return false;
    }
    return true;
}

/* Give an option its value: the attached one, or the next word, or for lists all words up to the
 * next option. */
static bool take_value(struct reader *r, const struct option *option, const char *attached,
                       const char *typed)
{
    char name[128];
    if (!typed) {
        snprintf(name, sizeof name, "--%s", option->name);
        typed = name;
    }
    if (option->kind == OPTION_FLAG) {
        if (!attached)
            return set_option(r->invocation, option, NULL, typed);
        complain("%s takes no value, but was given '%s'", typed, attached);
        return false;
    }
    if (attached)
        return set_option(r->invocation, option, attached, typed);
    if (r->next >= r->n) {
        complain("%s wants a value: %s %s", typed, typed,
                 option->choices ? option->choices
                 : option->value ? option->value
                                 : "VALUE");
        return false;
    }
    if (!set_option(r->invocation, option, r->words[r->next++], typed))
        return false;
    while (option->kind == OPTION_LIST && r->next < r->n &&
           (r->words[r->next][0] != '-' || r->words[r->next][1] == '\0'))
        if (!set_option(r->invocation, option, r->words[r->next++], typed))
            return false;
    return true;
}

/* ---- text becomes a value -------------------------------------------------------------------- */

static bool set_int(int *out, const struct option *option, const char *text, const char *typed);
static bool set_float(float *out, const struct option *option, const char *text, const char *typed);
static bool set_choice(int *out, const char *choices, const char *text, const char *typed);

/* `typed` is how the user named the option, for complaints. */
static bool set_option(struct invocation *invocation, const struct option *option, const char *text,
                       const char *typed)
{
    void *out = field(invocation, option);
    int which = 0;
    invocation->was_given[option - invocation->command->options] = true;
    switch (option->kind) {
    case OPTION_FLAG:
        assert(option->size == sizeof(bool));
        *(bool *)out = true;
        return true;
    case OPTION_YES_NO:
        assert(option->size == sizeof(bool));
        if (!set_choice(&which, "no|yes", text, typed))
            return false;
        *(bool *)out = which == 1;
        return true;
    case OPTION_INT:
        assert(option->size == sizeof(int));
        return set_int(out, option, text, typed);
    case OPTION_FLOAT:
        assert(option->size == sizeof(float));
        return set_float(out, option, text, typed);
    case OPTION_CHOICE:
        assert(option->size == sizeof(int));
        return set_choice(out, option->choices, text, typed);
    case OPTION_TEXT:
        assert(option->size == sizeof(const char *));
        *(const char **)out = text;
        return true;
    case OPTION_LIST:
        assert(option->size == sizeof(struct text_list));
        append(out, text);
        return true;
    }
    return false;
}

static bool has_limits(const struct option *option)
{
    return option->least != 0 || option->most != 0;
}

static bool set_int(int *out, const struct option *option, const char *text, const char *typed)
{
    char *end = NULL;
    errno = 0;
    const long number = strtol(text, &end, 10);
    const double least = has_limits(option) ? option->least : INT_MIN;
    const double most = has_limits(option) ? option->most : INT_MAX;
    if (end == text || *end || errno || (double)number < least || (double)number > most) {
        complain("%s takes a whole number from %.0f to %.0f, not '%s'", typed, least, most, text);
        return false;
    }
    *out = (int)number;
    return true;
}

static bool set_float(float *out, const struct option *option, const char *text, const char *typed)
{
    char *end = NULL;
    const double number = strtod(text, &end);
    if (end == text || *end || !isfinite((float)number)) {
        complain("%s takes a number, not '%s'", typed, text);
        return false;
    }
    if (has_limits(option) && (number < option->least || number > option->most)) {
        complain("%s takes a number from %g to %g, not %s", typed, option->least, option->most,
                 text);
        return false;
    }
    *out = (float)number;
    return true;
}

/* Which of "a|b|c" `text` is. */
static bool set_choice(int *out, const char *choices, const char *text, const char *typed)
{
    enum { MOST = 64 };
    const char *names[MOST];
    int n = 0, found = -1;
    char *copy = need_memory(strlen(choices) + 1, 1), *rest = NULL;
    strcpy(copy, choices);
    for (char *name = strtok_r(copy, "|", &rest); name; name = strtok_r(NULL, "|", &rest)) {
        assert(n < MOST);
        if (strcmp(name, text) == 0)
            found = n;
        names[n++] = name;
    }
    if (found >= 0)
        *out = found;
    else {
        const char *nearest = heed_nearest(text, names, n);
        complain("%s takes %s, not '%s'%s%s%s", typed, choices, text,
                 nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    }
    free(copy);
    return found >= 0;
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
