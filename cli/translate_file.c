/* translate_file.c -- the texts of a file go to the translator together: those with tags as HTML, the others as they are. */
#include "translate_file.h"

#include "command.h"
#include "terminal.h"
#include "print_result.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *file_format(enum format said, bool has_markup, const char *path)
{
    static const char *const names[] = {
        [FORMAT_PO] = "po", [FORMAT_SRT] = "srt", [FORMAT_VTT] = "vtt", [FORMAT_TEXT] = "text"};
    if (said == FORMAT_AUTO)
        return has_markup ? NULL : heed_file_format(path);
    return names[said];
}

static bool put_results(const struct file_job *job, heed_file *file, const size_t *numbers,
                        const heed_results *results, heed_error *err)
{
    for (size_t i = 0; i < results->n; i++) {
        if (!job->is_quiet)
            print_warnings_but(results->at[i], job->is_verbose ? NULL : "unsure:", job->name,
                               heed_file_line(file, numbers[i]));
        if (!heed_file_put(file, numbers[i], results->at[i]->translations[0]->text, err))
            return false;
    }
    return true;
}

/* Is the language that a file names this one of the model's: de_AT is de, too? */
static bool is_language(const char *named, const char *own)
{
    for (; *own; named++, own++) {
        const char a = *named == '-' ? '_' : *named, b = *own == '-' ? '_' : *own;
        if (strncasecmp(&a, &b, 1) != 0)
            return false;
    }
    return !*named || *named == '-' || *named == '_' || *named == '@';
}

/* The model's own name of it, to translate to; NULL: it cannot. */
static const char *target_named(const heed_model *model, const char *language)
{
    const char *from, *to;
    for (int i = 0; heed_model_direction(model, i, &from, &to); i++)
        if (is_language(language, to))
            return to;
    return NULL;
}

/* A PO file says which language it is to be in. */
static bool choose_target(const struct file_job *job, const heed_file *file, heed_error *err)
{
    const char *language = heed_file_language(file), *all = heed_model_languages(job->model);
    if (!language || !all)
        return true;
    const char *to = target_named(job->model, language);
    if (job->to && !is_language(language, job->to) && !job->is_quiet)
        complain("%s: its header says Language: %s, and --to says %s, which is done", job->name,
                 language, job->to);
    else if (!job->to && !to && !job->is_quiet)
        complain("%s: its header says Language: %s, which the model does not translate to (it has "
                 "%s); what is filled in is in another language",
                 job->name, language, all);
    return job->to || !to || heed_translator_set(job->translator, "to", to, err);
}

/* All texts that have tags, or all that have none. */
static bool translate_some(const struct file_job *job, heed_file *file, bool has_tags,
                           heed_error *err)
{
    const size_t size = heed_file_size(file);
    const char **texts = need_memory(size + 1, sizeof *texts);
    size_t *numbers = need_memory(size + 1, sizeof *numbers), n = 0;
    for (size_t i = 0; i < size; i++)
        if (heed_file_has_tags(file, i) == has_tags) {
            texts[n] = heed_file_text(file, i);
            numbers[n++] = i;
        }
    bool ok =
        n == 0 || heed_translator_set(job->translator, "markup", has_tags ? "html" : "none", err);
    heed_results *results =
        ok && n > 0 ? heed_translator_translate(job->translator, texts, n, err) : NULL;
    progress_clear(job->progress);
    job->progress->n_before += n;
    if (n > 0)
        ok = results && put_results(job, file, numbers, results, err);
    heed_results_free(results);
    free(texts);
    free(numbers);
    return ok;
}

bool file_translate(const struct file_job *job, const char *text, char **out)
{
    heed_error err = {0};
    const char *warning;
    heed_file *file = heed_file_read(text, strlen(text), job->format, job->name, &err);
    const bool ok = file && choose_target(job, file, &err) &&
                    translate_some(job, file, false, &err) &&
                    translate_some(job, file, true, &err) && (*out = heed_file_write(file, &err));
    if (!ok)
        complain("%s", err.message);
    if (!job->to)
        heed_translator_set(job->translator, "to", "", &err); /* the next file may say another */
    for (size_t i = 0; ok && !job->is_quiet && (warning = heed_file_warning(file, i)); i++)
        complain("%s", warning);
    heed_file_free(file);
    return ok;
}
