/* heed.c -- the public API: thin, the only file that sees every room. */
#include <heed.h>
#include <heed_draw.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "base/threads.h"
#include "kernel/kernel.h"
#include "model/model_file.h"
#include "model/import.h"
#include "model/record.h"
#include "picture/picture.h"
#include "picture/show.h"
#include "text/compare.h"
#include "text/evaluate.h"
#include "text/lines.h"
#include "train/run.h"
#include "translate/links.h"
#include "translate/translate.h"

#include <string.h>

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

const char *heed_version(void)
{
    return HEED_VERSION;
}

const char *heed_compiler(void)
{
#if defined(__clang__)
    return "clang " TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__);
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "an unknown compiler";
#endif
}

const char *heed_kernel(heed_error *err)
{
    const struct hd_kernels *chosen = hd_kernels_chosen(err);
    return chosen ? chosen->name : NULL;
}

const char *heed_kernel_available(int i)
{
    const struct hd_kernels *const *all = hd_kernels_available();
    for (int k = 0; all[k]; k++)
        if (k == i)
            return all[k]->name;
    return NULL;
}

const char *heed_kernel_note(void)
{
    return hd_kernels_note();
}

int heed_cores(void)
{
    return hd_cores();
}

const char *heed_nearest(const char *word, const char *const *names, int n)
{
    return hd_nearest(word, names, n);
}

heed_model *heed_model_load(const char *path, heed_error *err)
{
    return hd_model_load(path, err);
}

heed_model *heed_model_load_memory(const char *name, const void *data, size_t size, heed_error *err)
{
    return hd_model_load_memory(name, data, size, err);
}

heed_model *heed_model_import(const char *path, const char *const *vocabs, int n_vocabs,
                              heed_error *err)
{
    return hd_import(path, vocabs, n_vocabs, err);
}

bool heed_model_save(const heed_model *model, const char *path, enum heed_store store,
                     heed_error *err)
{
    static const enum hd_dtype dtypes[] = {HD_F32, HD_F16, HD_BF16};
    return hd_model_save(model, path, dtypes[store], err);
}

void heed_model_free(heed_model *model)
{
    hd_model_free(model);
}

bool heed_model_note(heed_model *model, const char *name, const char *text, heed_error *err)
{
    return hd_model_note(model, name, text, err);
}

char *heed_model_info(const heed_model *model, bool as_json, heed_error *err)
{
    return as_json ? hd_model_info_line(model, err) : hd_model_info_text(model, err);
}

char *heed_model_recipe(const heed_model *model, heed_error *err)
{
    return hd_model_recipe(model, err);
}

bool heed_model_has_attention(const heed_model *model)
{
    return hd_has_attention(model);
}

void heed_free(void *text)
{
    hd_free(text);
}

heed_eval_options heed_eval_options_default(void)
{
    return hd_eval_options_default();
}

heed_evaluation *heed_evaluate(const heed_pair *pairs, size_t n, const heed_eval_options *options,
                               heed_error *err)
{
    return hd_evaluate(pairs, n, options, err);
}

heed_evaluation *heed_evaluate_files(const heed_pair *paths, const heed_eval_options *options,
                                     heed_error *err)
{
    return hd_evaluate_files(paths, options, err);
}

bool heed_compare(heed_comparison *comparisons, const heed_pair *const *systems, int n_systems,
                  size_t n, const heed_eval_options *options, int n_samples, uint64_t seed,
                  heed_error *err)
{
    return hd_compare(comparisons, systems, n_systems, n, options, n_samples, seed, err);
}

void heed_evaluation_free(heed_evaluation *evaluation)
{
    hd_free(evaluation);
}

heed_options heed_options_default(void)
{
    return hd_options_default();
}

heed_results *heed_translate(const heed_model *const *models, int n_models,
                             const char *const *texts, size_t n, const heed_options *options,
                             heed_error *err)
{
    return hd_translate(models, n_models, texts, n, options, err);
}

heed_results *heed_align(const heed_model *const *models, int n_models, const heed_text_pair *pairs,
                         size_t n, const heed_options *options, heed_error *err)
{
    return hd_align(models, n_models, pairs, n, options, err);
}

heed_results *heed_score(const heed_model *const *models, int n_models, const heed_text_pair *pairs,
                         size_t n, const heed_options *options, heed_error *err)
{
    heed_options without = options ? *options : hd_options_default();
    without.wants_attention = false;
    return hd_align(models, n_models, pairs, n, &without, err);
}

void heed_results_free(heed_results *results)
{
    hd_results_free(results);
}

size_t heed_symmetrize(enum heed_symmetry how, const heed_link *one, size_t n_one,
                       const heed_link *other, size_t n_other, heed_link *out)
{
    return hd_symmetrize(how, one, n_one, other, n_other, out);
}

void heed_alignment_judge(heed_alignment_quality *quality, const heed_link *links, size_t n_links,
                          const heed_link *sure, size_t n_sure, const heed_link *possible,
                          size_t n_possible)
{
    hd_alignment_judge(quality, links, n_links, sure, n_sure, possible, n_possible);
}

bool heed_lines_read(heed_lines *lines, const char *path, heed_error *err)
{
    return hd_lines_of_file(lines, path, err);
}

void heed_lines_release(heed_lines *lines)
{
    hd_free(lines->memory);
    *lines = (heed_lines){0};
}

bool heed_draw(const heed_picture *picture, const char *path, heed_error *err)
{
    return hd_picture_write(picture, path, err);
}

char *heed_draw_bytes(const heed_picture *picture, const char *format, size_t *size,
                      heed_error *err)
{
    return hd_picture_bytes(picture, format, size, err);
}

char *heed_draw_text(const heed_picture_attention *attention, const heed_text_options *options,
                     heed_error *err)
{
    return hd_picture_show(attention, options, err);
}
