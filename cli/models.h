/* models.h -- what commands that use models share: reading them, and the options of translators. */
#ifndef HEED_CLI_MODELS_H
#define HEED_CLI_MODELS_H

#include "command.h"

struct models {
    heed_model **at;
    int n;
};

/* The name of the model that is embedded, "default"; NULL where there is none. */
const char *default_model(void);

/* What was given as -m, or else the default. NULL, with the complaint printed, where there is none. */
const char *model_or_default(const char *name);

/* Read the model of this name: a file, or "default", the embedded one. NULL with the reason in `err`. */
heed_model *model_load(const char *name, heed_error *err);

/* "a.safetensors,b.safetensors" as models, to compute as was typed. False, with the complaint printed; models_free() is fine then too. */
bool models_load(struct models *models, const char *list, const struct invocation *invocation);

/* Is this the name of one file, whatever commas are in it? */
bool is_one_file(const char *list);
void models_free(struct models *models);

/* A translator with all of them; NULL, with the complaint printed. */
heed_translator *models_translator(const struct models *models);

/* The i-th option of translators that a command has, NULL when there are no more: not those for programs, nor those that are in
 * its own table, and of the others only those of names[] (ended by NULL), unless that is NULL. */
const heed_option *translator_option(const heed_option *own, const char *const *names, int i);

/* What was typed for an option of the translator; NULL: nothing. */
const char *setting_of(const struct invocation *invocation, const char *name);

/* Is what was typed for options of the translator right? Complains if not. */
bool check_settings(const struct invocation *invocation);
bool check_setting(const char *name, const char *value);

/* Tell the translator what was typed, or one option (a NULL value says nothing). False, with the complaint printed. */
bool set_translator(heed_translator *translator, const struct invocation *invocation);
bool set_option_of(heed_translator *translator, const char *name, const char *value);

/* Do they all have attention? Complains if not; `list` is what they were called. */
bool models_attend(const struct models *models, const char *list);

/* Do two files have the same number of lines? Complains if not. */
bool same_lines(const char *path, const heed_lines *lines, const char *other_path,
                const heed_lines *others);

/* A line at the bottom of a terminal that says how far it is; nothing elsewhere. */
struct progress {
    bool is_shown, is_there;
    double begin, last;
    size_t n_before; /* lines of earlier calls */
};
void progress_begin(struct progress *progress, bool is_quiet);
bool progress_show(void *progress, size_t n_done, size_t n);
bool progress_share(struct progress *progress, const char *what, size_t n_done, size_t n);
void progress_clear(struct progress *progress);

/* Sources of a model: the lines of a text file, or the names of the items of a file of vectors. False with the reason in `err`. */
bool read_sources(heed_lines *lines, const char *path, heed_error *err);

/* May a file of tensors take this place? Not that of another kind of file; says so. */
bool may_write_tensors(const char *path);
#endif
