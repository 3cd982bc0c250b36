/* picture.h -- what a model looked at, for people: in the terminal (--show) and as files (--plot). */
#ifndef HEED_CLI_PICTURE_H
#define HEED_CLI_PICTURE_H

#include <heed.h>
#include <stdbool.h>
#include <stdio.h>

/* The attention of a translation as characters, and an empty line. Nothing for a text without words. False, with the
 * complaint printed. */
bool show_attention(FILE *out, const heed_result *result, const heed_translation *translation);

/* The same as a picture in a file: the first is `path` (heads.svg), the next are beside it with numbers (heads-2.svg).
 * *n_plotted counts them. False, with the complaint printed. */
bool plot_attention(const char *path, int *n_plotted, const heed_result *result,
                    const heed_translation *translation);

#endif
