/* plot.h -- attention drawn: on the terminal (--show) and into files (--plot). */
#ifndef HEED_CLI_PICTURE_H
#define HEED_CLI_PICTURE_H

#include "models.h"

#include <heed_draw.h>

/* Files of one --plot: a single line has the name as it is, several have numbers in theirs. {.path} to begin with. */
struct plots {
    const char *path;
    size_t n;            /* drawn so far */
    size_t first_number; /* the line of the first */
};

/* Does the name end in .svg, .png, .pdf or .tex? Complains if not. NULL is fine. */
bool plot_has_kind(const char *path);

/* Is nothing lost if pictures are drawn there? Complains if something is. NULL is fine. */
bool plot_may_write(const char *path);

/* To stdout. `links` may be those of the translation or others. False, with the complaint printed. */
bool show_attention(const heed_result *result, const heed_translation *translation);

/* Into the file of line `number`, from 1, where `is_one` says that no other line is known yet. A sentence that is too long to be
 * drawn is complained of and left out. */
bool plot_attention(struct plots *plots, const heed_result *result,
                    const heed_translation *translation, const heed_link *links, size_t n_links,
                    size_t number, bool is_one);

/* All layers and heads of the first translation on one page; `shift` is what was typed, or NULL. */
bool plot_heads(struct plots *plots, const struct models *models, const char *shift,
                const heed_result *result, size_t number, bool is_one);
#endif
