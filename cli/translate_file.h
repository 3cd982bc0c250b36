/* translate_file.h -- files of which only some is text: PO, subtitles, paragraphs (heed_file of heed.h). */
#ifndef HEED_CLI_TRANSLATE_FILE_H
#define HEED_CLI_TRANSLATE_FILE_H

#include "models.h"

#include <heed.h>

#define FORMAT_NAMES "auto|lines|po|srt|vtt|text"
enum format { FORMAT_AUTO, FORMAT_LINES, FORMAT_PO, FORMAT_SRT, FORMAT_VTT, FORMAT_TEXT };

/* The format to read a file in, by its own name or as was said; NULL: it is lines. */
const char *file_format(enum format said, bool has_markup, const char *path);

struct file_job {
    heed_translator *translator;
    const heed_model *model;
    const char *to; /* as was said; NULL: a PO file may say it */
    struct progress *progress;
    const char *name, *format;
    bool is_quiet, is_verbose;
};

/* The text of a file with its translations, *out to be given to heed_free(). False, with the complaint printed. */
bool file_translate(const struct file_job *job, const char *text, char **out);
#endif
