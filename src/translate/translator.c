/* translator.c -- translators begin, are told what to do, and end. */
#include "translate/translator.h"

#include "base/error.h"
#include "base/memory.h"
#include "model/screen.h"

#include <stdlib.h>

/* The 8-bit screen of the output layer, with which words alone are found faster, takes as long to make as a few sentences. */
enum { WORTH_A_SCREEN = 8 };

heed_translator *heed_translator_new(const heed_model *const *models, int n_models, heed_error *err)
{
    heed_translator *t = hd_new(heed_translator, err);
    if (!t)
        return NULL;
    pthread_mutex_init(&t->set_lock, NULL);
    pthread_mutex_init(&t->option_lock, NULL);
    hd_calls_init(&t->calls);
    hd_requests_init(&t->requests);
    if (!hd_ensemble_init(&t->ensemble, models, n_models, err) ||
        !hd_translate_options_init(&t->options, err)) {
        heed_translator_free(t);
        return NULL;
    }
    return t;
}

heed_translator *heed_translator_open(const char *path, heed_error *err)
{
    heed_model *model = heed_model_load(path, err);
    if (!model)
        return NULL;
    heed_translator *t = heed_translator_new((const heed_model *const *)&model, 1, err);
    if (t)
        t->own = model;
    else
        heed_model_free(model);
    return t;
}

void heed_translator_free(heed_translator *t)
{
    if (!t)
        return;
    hd_requests_release(&t->requests);
    hd_calls_release(&t->calls);
    hd_translate_options_release(&t->options);
    hd_ensemble_release(&t->ensemble);
    heed_model_free(t->own);
    pthread_mutex_destroy(&t->option_lock);
    pthread_mutex_destroy(&t->set_lock);
    hd_free(t);
}

/* ---- options ------------------------------------------------------------------------------------- */

static bool set_compute(heed_translator *t, int compute, heed_error *err)
{
    if (t->has_begun)
        return hd_fail(err, HEED_BAD_OPTION,
                       "compute must be set before the first text of a translator");
    return hd_ensemble_compute(&t->ensemble, (enum hd_compute)compute, err);
}

/* An option is set in a copy, which then takes the place of the options: to read a file takes time, and texts need not wait for it. */
static bool set(heed_translator *t, const char *name, const char *value, heed_error *err)
{
    heed_options fresh = {0};
    if (!hd_translate_options_copy(&fresh, &t->options, err))
        return false;
    bool ok = hd_translate_options_set(&fresh, name, value, err);
    pthread_mutex_lock(&t->option_lock);
    ok = ok && (fresh.compute == t->options.compute || set_compute(t, fresh.compute, err));
    heed_options left = fresh;
    if (ok) {
        left = t->options;
        t->options = fresh;
    }
    pthread_mutex_unlock(&t->option_lock);
    hd_translate_options_release(&left);
    return ok;
}

bool heed_translator_set(heed_translator *t, const char *name, const char *value, heed_error *err)
{
    if (!hd_is_given(t, "translator", err))
        return false;
    pthread_mutex_lock(&t->set_lock);
    const bool is_set = set(t, name, value, err);
    pthread_mutex_unlock(&t->set_lock);
    return is_set;
}

bool heed_translator_fuse(heed_translator *t, const heed_model *lm, double weight, heed_error *err)
{
    if (!hd_is_given(t, "translator", err))
        return false;
    if (!(weight >= -100 && weight <= 100))
        return hd_fail(err, HEED_BAD_OPTION, "lm-weight must be a number from -100 to 100, not %g",
                       weight);
    pthread_mutex_lock(&t->option_lock);
    const bool ok = t->has_begun ? hd_fail(err, HEED_BAD_OPTION,
                                           "a language model must be set before the first text of "
                                           "a translator")
                                 : hd_ensemble_fuse(&t->ensemble, lm, (float)weight, err);
    pthread_mutex_unlock(&t->option_lock);
    return ok;
}

bool hd_translator_begin(heed_translator *t, const heed_options *o, heed_error *err)
{
    pthread_mutex_lock(&t->option_lock);
    const bool ok =
        o->compute == t->options.compute ||
        hd_fail(err, HEED_BAD_OPTION,
                "compute is of a translator as a whole; set it with heed_translator_set()");
    t->has_begun = t->has_begun || ok;
    pthread_mutex_unlock(&t->option_lock);
    return ok;
}

bool hd_translator_options(heed_translator *t, heed_options *copy, heed_error *err)
{
    pthread_mutex_lock(&t->option_lock);
    const bool is_copied = hd_translate_options_copy(copy, &t->options, err);
    pthread_mutex_unlock(&t->option_lock);
    return is_copied;
}

heed_options *heed_options_new(const heed_translator *t, heed_error *err)
{
    heed_options *o = hd_new(heed_options, err);
    if (!o || (t ? hd_translator_options((heed_translator *)t, o, err)
                 : hd_translate_options_init(o, err)))
        return o;
    heed_options_free(o);
    return NULL;
}

int hd_translator_threads(const heed_options *o)
{
    return o->n_threads > 0 ? o->n_threads : heed_cores();
}

static struct hd_head *head_of(const struct hd_ensemble *e)
{
    return e->converted[0] ? &e->converted[0]->head : &e->models[0]->net->head;
}

bool hd_translator_allow_words_alone(heed_translator *t, struct hd_job *job, size_t n_segments,
                                     heed_error *err)
{
    if (!hd_job_needs_words_alone(job))
        return true;
    const long n = atomic_fetch_add(&t->n_greedy, (long)n_segments) + (long)n_segments;
    job->search[HD_SEARCH_FIRST].words_alone = n >= WORTH_A_SCREEN;
    return n < WORTH_A_SCREEN || hd_screen_make(head_of(&t->ensemble), err);
}
