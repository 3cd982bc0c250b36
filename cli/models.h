/* models.h -- what commands that use models share: reading them, and the options of -m, --threads and the like. */
#ifndef HEED_CLI_MODELS_H
#define HEED_CLI_MODELS_H

#include <heed.h>
#include <stdbool.h>

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

/* "a.safetensors,b.safetensors" as models. False, with the complaint printed; models_free() is fine then too. */
bool models_load(struct models *models, const char *list);
void models_free(struct models *models);

/* As the library wants them. */
const heed_model *const *models_list(const struct models *models);

/* Do they all have attention? Complains if not; `list` is what they were called. */
bool models_attend(const struct models *models, const char *list);

/* Do two files have the same number of lines? Complains if not. */
bool same_lines(const char *path, const heed_lines *lines, const char *other_path,
                const heed_lines *others);

/* A number and nothing behind it. */
bool read_float(const char *text, float *x);

/* "power:1", "gnmt:0.6" or "none". False, with the complaint printed. */
bool read_length_norm(const char *text, heed_options *options);

/* "mean" is -1, else a number. False, with the complaint printed. */
bool read_head(const char *text, int *head);

/* A line at the bottom of a terminal that says how far it is; nothing elsewhere. */
struct progress {
    bool is_shown, is_there;
    double begin, last;
    size_t n_before; /* lines of earlier calls */
};
void progress_begin(struct progress *progress, bool is_quiet);
bool progress_show(void *progress, size_t n_done, size_t n);
void progress_clear(struct progress *progress);
#endif
