/* run.c -- the training loop: update, validate, save, until a limit is reached.
 *
 * Invariant: updates, validations and saved models depend on the number of updates alone. The clock only decides when the state is
 * written in between, and when to stop with --hours. */
#include "train/run.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/real.h"
#include "kernel/kernel.h"
#include "model/guidance.h"
#include "model/languages.h"
#include "train/alignment_choice.h"
#include "train/estimate.h"
#include "train/outputs.h"
#include "train/patience.h"
#include "train/run_prepare.h"
#include "train/schedule.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAVE_SECONDS = 300, /* between two saves by the clock */
    MOST_BAD = 5,       /* updates in a row that are not finite, before the run goes back */
    MOST_RETURNS = 10,  /* before it gives up */
    HOPELESS = 10,      /* times the cross entropy of guessing: training diverges */
    PLATEAU = 3,        /* validations without a better score, before the rate is halved */
    NOTE_UPDATES = 10,  /* updates between two lines of MODEL.jsonl */
    LOG_SECONDS = 30,   /* between two lines of MODEL.log */
    TIMED_UPDATES = 20, /* of this call, after which it tells how long it expects to take, */
    TIMED_SECONDS = 30, /* or as many as there were by then, */
    SHORT_RUN = 100,    /* unless fewer updates than these are left */
};

/* Counters of this call; not saved. */
struct run_counters {
    double saved, logged; /* when, hd_seconds() */
    long first_update;
    double began, busy; /* seconds of learning, without validation */
    long noted_tokens;
    double noted_busy, loss, weight; /* since the last note: Σ loss · tokens, Σ tokens */
    double speed, last_loss;
    bool is_time_over, has_learned, has_estimated;
    struct hd_progress in_file; /* that of the state that was saved last */
};

/* What ranks decide together after an update. */
enum { VOTE_STOP = 1, VOTE_SAVE = 2, VOTE_TIME = 4 };

/* ---- averages --------------------------------------------------------------------------------------- */

/* The weights that are judged and saved: as they are, or their moving average. */
static const float *own_weights(const struct hd_run *run)
{
    return run->learner.ema ? run->learner.ema : hd_params_values(run->learner.net->params);
}

/* The place for this validation's weights: the oldest's, or the worst's if that is worse; -1 for none. */
static int place_to_keep(const struct hd_run *run, double score)
{
    const struct hd_progress *p = &run->state.progress;
    const struct hd_recipe *r = run->recipe;
    if (p->n_kept < r->average)
        return p->n_kept;
    if (r->average_of == HD_AVERAGE_LAST)
        return (int)(p->n_validations % r->average);
    int worst = 0;
    for (int i = 1; i < p->n_kept; i++)
        worst = p->kept_score[i] < p->kept_score[worst] ? i : worst;
    return p->kept_score[worst] < score ? worst : -1;
}

static bool keep(struct hd_run *run, double score, heed_error *err)
{
    struct hd_run_state *s = &run->state;
    const int i = place_to_keep(run, score);
    s->progress.n_validations++;
    if (i < 0)
        return true;
    if (!s->kept[i] && !(s->kept[i] = hd_alloc(run->learner.size, sizeof(float), err)))
        return false;
    memcpy(s->kept[i], own_weights(run), run->learner.size * sizeof(float));
    s->progress.kept_score[i] = score;
    s->progress.n_kept = s->progress.n_kept > i ? s->progress.n_kept : i + 1;
    return true;
}

static void mean_of_kept(const struct hd_run *run, float *mean)
{
    const struct hd_kernels *k = hd_kernels_chosen(NULL);
    const int n = run->state.progress.n_kept;
    const long size = (long)run->learner.size;
    memcpy(mean, run->state.kept[0], (size_t)size * sizeof *mean);
    for (int i = 1; i < n; i++)
        k->add(mean, mean, run->state.kept[i], size);
    k->scale(mean, 1 / (float)n, mean, size);
}

/* ---- validation -------------------------------------------------------------------------------------- */

/* Scores are turned so that more is better; this turns them back. */
static double sign_of(const struct hd_recipe *r)
{
    return r->valid_metric == HD_VALID_CE || r->valid_metric == HD_VALID_WER ? -1 : 1;
}

static json_t *record_of(const struct hd_run *run, const struct hd_validated *v)
{
    const struct hd_progress *p = &run->state.progress;
    json_t *recipe = json_loads(run->recipe_json, 0, NULL);
    /* Limits do not change what was learned so far, unless the schedule depends on them. */
    if (run->recipe->schedule != HD_SCHEDULE_COSINE) {
        json_object_del(recipe, "updates");
        json_object_del(recipe, "epochs");
    }
    json_t *record = json_pack(
        "{so sI si sI sI s{ss sf sf}}", "recipe", recipe, "updates", (json_int_t)p->update,
        "epochs", p->place.epoch, "target_pieces", (json_int_t)p->n_tokens, "pairs",
        (json_int_t)run->facts.n_pairs, "validation", "metric", hd_metric_name(run->recipe),
        "score", sign_of(run->recipe) * hd_score_of(run->recipe, v), "cross_entropy", v->ce);
    if (record && run->recipe->languages)
        hd_languages_to_record(record, run->recipe->languages);
    if (record && run->facts.is_of_documents)
        json_object_set_new(record, "documents", json_true());
    /* Which step's attention tells of a word: that of the guided head, or as it was in the model that this one began as. */
    json_t *shift = json_object_get(run->model->record, "alignment_shift");
    if (record && run->recipe->guided_alignment.n > 0)
        json_object_set_new(record, "alignment_shift",
                            json_integer(hd_guided_shift(&run->model->net->config)));
    else if (record && shift)
        json_object_set(record, "alignment_shift", shift);
    if (record && run->recipe->attribution)
        json_object_set_new(record, "attribution", json_string(run->recipe->attribution));
    if (record && run->recipe->licence)
        json_object_set_new(record, "licence", json_string(run->recipe->licence));
    return record;
}

/* A score that can be compared and written, whatever it is. */
static double score_of(const struct hd_recipe *r, const struct hd_validated *v)
{
    const double score = hd_score_of(r, v);
    return isfinite(score) ? score : -1e300;
}

static json_t *number_of(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* The best so far is what is in the model's file, which may come from a closing validation of an earlier call. */
static void tell_best(const struct hd_run *run, heed_training_event *event)
{
    const struct hd_progress *p = &run->state.progress;
    event->has_best = p->has_best || p->is_closed;
    event->best = sign_of(run->recipe) * (p->is_closed ? p->closed_best : p->best);
    event->best_update = p->is_closed ? p->closed_best_update : p->best_update;
}

static void report(struct hd_run *run, const struct run_counters *counters,
                   const struct hd_validated *v, bool is_best)
{
    struct hd_journal *j = &run->journal;
    const struct hd_progress *p = &run->state.progress;
    const double sign = sign_of(run->recipe);
    heed_training_event event = {.news = HEED_TRAINING_VALIDATED,
                                 .update = p->update,
                                 .loss = counters->last_loss,
                                 .ce = v->ce,
                                 .perplexity = v->perplexity,
                                 .bleu = v->bleu,
                                 .chrf = v->chrf,
                                 .exact = v->exact,
                                 .wer = v->wer,
                                 .has_text = v->has_text,
                                 .accuracy = v->accuracy,
                                 .f1 = v->f1,
                                 .has_labels = v->has_labels,
                                 .has_answers = v->has_answers,
                                 .is_best = is_best,
                                 .metric = hd_metric_name(run->recipe),
                                 .n_stale = p->n_stale,
                                 .patience = run->recipe->patience};
    tell_best(run, &event);
    json_t *note =
        json_pack("{ss sI so so sb sf sf}", "event", "validation", "update", (json_int_t)p->update,
                  "cross_entropy", number_of(v->ce), "perplexity", number_of(v->perplexity),
                  "is_best", is_best, "best", sign * p->best, "seconds", hd_seconds() - j->began);
    if (note && v->has_text) {
        json_object_set_new(note, "bleu", json_real(v->bleu));
        json_object_set_new(note, "chrf", json_real(v->chrf));
        json_object_set_new(note, "exact", json_real(v->exact));
        json_object_set_new(note, "wer", json_real(v->wer));
    }
    if (note && v->has_labels) {
        json_object_set_new(note, "accuracy", json_real(v->accuracy));
        json_object_set_new(note, "f1", json_real(v->f1));
    }
    if (note && v->has_answers) {
        json_object_set_new(note, "exact", json_real(v->exact));
        json_object_set_new(note, "f1", json_real(v->f1));
    }
    struct hd_curves *c = &run->curves;
    const bool is_finite = isfinite(v->ce);
    if (is_finite)
        hd_points_add(&c->ce, (double)p->update, v->ce);
    if (is_finite && c->has_score)
        hd_points_add(&c->score, (double)p->update, sign * hd_score_of(run->recipe, v));
    c->best = is_best ? c->ce.n - 1 : c->best;
    heed_error why = {0};
    if (run->ranks.rank == 0 && !hd_curves_draw(c, run->stem, &why) && !c->has_told) {
        c->has_told = true;
        hd_journal_say(j, "the learning curves are not drawn: %s", why.message);
    }
    char text[128] = "";
    if (v->has_text)
        snprintf(text, sizeof text, ", BLEU %.2f, chrF %.2f, exact %.2f %%, WER %.2f", v->bleu,
                 v->chrf, v->exact, v->wer);
    else if (v->has_labels)
        snprintf(text, sizeof text, ", accuracy %.2f %%, F1 %.2f", v->accuracy, v->f1);
    else if (v->has_answers)
        snprintf(text, sizeof text, ", exact %.2f %%, F1 %.2f", v->exact, v->f1);
    hd_journal_log(j, "update %ld: cross entropy %.4f, perplexity %.2f%s%s", p->update, v->ce,
                   v->perplexity, text, is_best ? " (best)" : "");
    (void)hd_journal_tell(j, &event, note);
}

/* A rate that follows the score is halved when that stays where it is. */
static void watch_plateau(struct hd_run *run)
{
    struct hd_progress *p = &run->state.progress;
    if (p->n_stale_plateau < PLATEAU || run->recipe->schedule != HD_SCHEDULE_PLATEAU)
        return;
    p->factor /= 2;
    p->n_stale_plateau = 0;
    hd_journal_say(&run->journal, "%d validations brought nothing better: the rate is halved",
                   PLATEAU);
}

/* A model that is worse than guessing, and by far, does not come back from there. (While losses are not finite the run goes back by itself.) */
static bool check_sense(const struct hd_run *run, const struct hd_validated *v, heed_error *err)
{
    const double guessing = hd_real_log(run->model->net->config.target_vocab);
    const bool is_finite = v->ce - v->ce == 0;
    if (run->state.progress.n_bad > 0 || (is_finite && v->ce <= HOPELESS * guessing))
        return true;
    return hd_fail(err, HEED_DIVERGED,
                   "training diverges: after update %ld the cross entropy of the dev text is %.3g, "
                   "when guessing has %.3g; choose a lower --rate or a longer --warmup, and start "
                   "over with --fresh",
                   run->state.progress.update, v->ce, guessing);
}

/* Validate the weights that would be saved (averaged or not) and save the model if it is the best so far. `weights` are the net's own,
 * put aside by the caller. */
static bool judge(struct hd_run *run, float *weights, struct hd_validated *v, bool *is_best,
                  heed_error *err)
{
    struct hd_learner *l = &run->learner;
    const struct hd_recipe *r = run->recipe;
    float *values = hd_params_values(l->net->params);
    const size_t bytes = l->size * sizeof(float);
    bool ok = true;
    if (r->average > 1 &&
        r->average_of == HD_AVERAGE_BEST) { /* each by itself, to know which are best */
        const float *own = own_weights(run) == values ? weights : own_weights(run);
        assert(own); /* averages are made with the net's own weights put aside */
        memcpy(values, own, bytes);
        hd_learner_repack(l);
        ok = hd_validate(l, run->dev, v, err) && keep(run, score_of(r, v), err);
    } else if (r->average > 1)
        ok = keep(run, 0, err);
    if (!ok)
        return false;
    if (r->average > 1)
        mean_of_kept(run, values);
    else if (l->ema)
        memcpy(values, l->ema, bytes);
    if (values != own_weights(run) || r->average > 1)
        hd_learner_repack(l);
    if (!hd_validate(l, run->dev, v, err) || !check_sense(run, v, err))
        return false;
    *is_best = hd_patience_note(&run->state.progress, score_of(r, v), v->ce);
    watch_plateau(run);
    if (!*is_best)
        return true;
    json_t *record = record_of(run, v);
    json_decref(run->model->record);
    run->model->record = record;
    static const enum hd_dtype stores[] = {HD_F32, HD_F16, HD_BF16, HD_I8};
    if (!run->model->record)
        return hd_fail(err, HEED_NO_MEMORY, "there is no memory left");
    return run->ranks.rank > 0 || hd_model_save(run->model, r->out, stores[r->store], err);
}

static bool look(struct hd_run *run, const struct run_counters *counters, heed_error *err)
{
    struct hd_learner *l = &run->learner;
    const size_t bytes = l->size * sizeof(float);
    float *values = hd_params_values(l->net->params), *aside = NULL;
    const bool is_swapped = l->ema || run->recipe->average > 1;
    if (!hd_learner_share(l, true, err) ||
        (is_swapped && !(aside = hd_alloc(l->size, sizeof *aside, err))))
        return false;
    if (aside)
        memcpy(aside, values, bytes);
    heed_training_event event = {.news = HEED_TRAINING_VALIDATES,
                                 .update = run->state.progress.update};
    (void)hd_journal_tell(&run->journal, &event, NULL);
    struct hd_validated v;
    struct hd_stop *stop = l->stop;
    if (run->recipe->average > 1) /* what is kept has changed by then */
        hd_learner_set_stop(l, NULL);
    bool is_best = false, ok = judge(run, aside, &v, &is_best, err);
    hd_learner_set_stop(l, stop);
    if (aside) {
        memcpy(values, aside, bytes);
        hd_learner_repack(l);
    }
    hd_free(aside);
    if (ok)
        report(run, counters, &v, is_best);
    return ok;
}

/* ---- saving ------------------------------------------------------------------------------------------- */

/* Undo the closing validation of an earlier call: a longer run would not have had it. The model's file gets back the contents that the
 * state has kept, if any. */
static bool reopen(struct hd_run *run, heed_error *err)
{
    const bool is_mine = run->state.has_before && run->ranks.rank == 0;
    run->state.progress.is_closed = run->state.has_before = false;
    struct hd_saved_state *saved = is_mine ? hd_state_open(run->state_path, err) : NULL;
    const struct hd_tensor *before = saved ? hd_state_before(saved) : NULL;
    struct hd_writer w = {0};
    const bool ok =
        !is_mine || (before && hd_writer_open(&w, run->recipe->out, err) &&
                     hd_write(&w, before->data, before->bytes, err) && hd_writer_commit(&w, err));
    if (!ok)
        hd_writer_abandon(&w);
    hd_state_close(saved);
    return ok || hd_fail(err, HEED_BAD_FILE, "%s is gone, and with it the best model so far",
                         run->state_path);
}

/* Nothing is lost when a file cannot be written. */
static bool fail_unharmed(const heed_error *why, heed_error *err)
{
    return hd_fail(
        err, why->code,
        "%s; the state of the last save is still there, and the same command goes on from it",
        why->message);
}

static bool save(struct hd_run *run, struct run_counters *counters, bool is_good, heed_error *err)
{
    heed_error why = {0};
    if (!hd_run_save(run, is_good, &why))
        return fail_unharmed(&why, err);
    counters->saved = hd_seconds();
    counters->in_file = run->state.progress;
    heed_training_event event = {.news = HEED_TRAINING_SAVED, .update = run->state.progress.update};
    (void)hd_journal_tell(&run->journal, &event, NULL);
    return true;
}

/* Back to the last good state, with half the rate from there on. */
static bool go_back(struct hd_run *run, heed_error *err)
{
    const struct hd_progress bad = run->state.progress;
    struct hd_saved_state *saved = hd_state_open(run->state_path, err);
    if (!saved)
        return hd_fail(err, HEED_BAD_FILE, "%s is gone, so there is no way back to a good state",
                       run->state_path);
    const bool ok = hd_state_restore(saved, true, &run->learner, &run->state, err);
    hd_state_close(saved);
    if (!ok)
        return false;
    struct hd_progress *p = &run->state.progress;
    p->factor = (bad.factor < p->factor ? bad.factor : p->factor) / 2;
    p->is_closed = p->is_closed && bad.is_closed;
    p->n_returns = bad.n_returns + 1;
    p->n_skipped = bad.n_skipped;
    hd_journal_say(&run->journal,
                   "the loss of %d updates in a row was not a finite number: back to update %ld, "
                   "with half the rate",
                   MOST_BAD, p->update);
    if (p->n_returns > MOST_RETURNS)
        return hd_fail(err, HEED_DIVERGED,
                       "training diverges: the loss does not stay finite, even at 1/%d of the "
                       "rate; choose a lower "
                       "--rate, a longer "
                       "--warmup or a lower --clip",
                       1 << MOST_RETURNS);
    return hd_run_save(run, true, err);
}

/* ---- the loop ----------------------------------------------------------------------------------------- */

static double share_of_epoch(const struct hd_run *run)
{
    return hd_feed_epoch(run->feed, &run->state.progress.place);
}

/* Seconds until a limit is reached, at the speed so far; below 0 when there is none. With patience alone it is the least that
 * is left. */
static double seconds_left(const struct hd_run *run, const struct run_counters *counters,
                           bool *is_least)
{
    const struct hd_recipe *r = run->recipe;
    const struct hd_progress *p = &run->state.progress;
    const double gone = hd_seconds() - counters->began,
                 done = (double)(p->update - counters->first_update);
    double left = -1;
    if (r->updates > 0 && done > 0)
        left = gone / done * (double)(r->updates - p->update);
    if (r->epochs > 0 && p->update > 0 && done > 0) {
        const double all = (double)p->update / share_of_epoch(run) * (double)r->epochs;
        const double until = gone / done * (all - (double)p->update);
        left = left < 0 || until < left ? until : left;
    }
    if (r->hours > 0) {
        const double until = 3600 * (double)r->hours - (hd_seconds() - run->journal.began);
        left = left < 0 || until < left ? until : left;
    }
    *is_least = left < 0 && r->patience > p->n_stale && done > 0;
    if (*is_least) {
        const double validations = (double)(r->patience - p->n_stale);
        left = gone / done * (validations * r->valid_every - (double)(p->update % r->valid_every));
    }
    return left;
}

static bool tell_update(struct hd_run *run, struct run_counters *counters,
                        const struct hd_updated *u, float rate)
{
    const struct hd_progress *p = &run->state.progress;
    if (u->is_finite) {
        counters->loss += u->loss * (double)u->n_tokens;
        counters->weight += (double)u->n_tokens;
    }
    const double now = hd_seconds();
    json_t *note = NULL;
    heed_training_event event = {.news = HEED_TRAINING_LEARNED,
                                 .update = p->update,
                                 .epoch = share_of_epoch(run),
                                 .rate = (double)rate,
                                 .metric = hd_metric_name(run->recipe),
                                 .n_stale = p->n_stale,
                                 .patience = run->recipe->patience};
    event.seconds_left = seconds_left(run, counters, &event.is_least);
    tell_best(run, &event);
    if (counters->weight > 0)
        counters->last_loss = counters->loss / counters->weight;
    if (p->update % NOTE_UPDATES == 0 && counters->weight > 0) {
        const double busy = counters->busy - counters->noted_busy;
        counters->speed = busy > 0 ? (double)(p->n_tokens - counters->noted_tokens) / busy : 0;
        note = json_pack("{ss sI sI sf sf sf so sf sf}", "event", "update", "update",
                         (json_int_t)p->update, "target_pieces", (json_int_t)p->n_tokens, "epoch",
                         event.epoch, "loss", counters->last_loss, "rate", (double)rate, "norm",
                         number_of(u->norm), "tokens_per_second", counters->speed, "seconds",
                         now - run->journal.began);
        if (note && run->ranks.n > 1)
            json_object_set_new(note, "exchange_seconds", json_real(run->ranks.seconds));
        hd_points_add(&run->curves.loss, (double)p->update, counters->last_loss);
        counters->noted_busy = counters->busy;
        counters->noted_tokens = p->n_tokens;
        counters->loss = counters->weight = 0;
    }
    if (now - counters->logged >= LOG_SECONDS) {
        counters->logged = now;
        hd_journal_log(&run->journal,
                       "update %ld, epoch %.2f: loss %.4f, rate %.3g, %.0f target tokens/s",
                       p->update, event.epoch, counters->last_loss, (double)rate, counters->speed);
    }
    event.loss = counters->last_loss;
    event.tokens_per_second = counters->speed;
    return hd_journal_tell(&run->journal, &event, note);
}

/* What a validation of this run has. */
static const char *shown_of(const struct hd_run *run)
{
    if (run->recipe->valid_metric == HD_VALID_CE)
        return "perplexity";
    switch (hd_training_task(run->said)) {
    case HD_TASK_LABEL:
        return "perplexity, accuracy and F1";
    case HD_TASK_SPAN:
        return "perplexity, exact answers and F1";
    default:
        return "perplexity, BLEU and chrF";
    }
}

static void tell_estimate(struct hd_run *run, struct run_counters *counters)
{
    const struct hd_recipe *r = run->recipe;
    const long done = run->state.progress.update - counters->first_update;
    const double gone = hd_seconds() - counters->began;
    if (counters->has_estimated || (done < TIMED_UPDATES && gone < TIMED_SECONDS))
        return;
    counters->has_estimated = true;
    struct hd_estimate estimate = {.seconds_per_update = gone / (double)done,
                                   .patience = r->patience,
                                   .valid_every = r->valid_every,
                                   .n_threads = hd_pool_size(run->threads),
                                   .n_ranks = run->ranks.n,
                                   .shown = shown_of(run)};
    estimate.seconds_left = seconds_left(run, counters, &estimate.is_least);
    if (estimate.seconds_left >= 0 &&
        estimate.seconds_left < SHORT_RUN * estimate.seconds_per_update)
        return;
    char text[400];
    hd_estimate_text(&estimate, text, sizeof text);
    hd_journal_say(&run->journal, "%s", text);
}

/* Why the run is over, NULL when it is not. `place` is where the next batch comes from. */
static const char *why_over(const struct hd_run *run, const struct hd_feed_position *next)
{
    const struct hd_recipe *r = run->recipe;
    const struct hd_progress *p = &run->state.progress;
    if (r->updates > 0 && p->update >= r->updates)
        return "all updates are done";
    if (r->epochs > 0 && next->epoch >= r->epochs)
        return "all epochs are done";
    if (r->patience > 0 && p->n_stale >= r->patience)
        return "it no longer improves";
    return NULL;
}

/* What may follow an update: validation, a vote of all ranks, saving the state. */
static bool follow_up(struct hd_run *run, struct run_counters *counters, heed_error *err)
{
    const struct hd_recipe *r = run->recipe;
    const struct hd_progress *p = &run->state.progress;
    const bool is_time_to_look = p->update % r->valid_every == 0;
    /* A state whose last loss was not finite is not one to return to. */
    const bool is_good = p->n_bad == 0 && (is_time_to_look || p->update % r->save_every == 0);
    heed_error why = {0};
    if (is_time_to_look && (!reopen(run, &why) || !look(run, counters, &why)))
        return why.code == HEED_CANCELLED || why.code == HEED_DIVERGED
                   ? hd_fail(err, why.code, "%s", why.message)
                   : fail_unharmed(&why, err);
    unsigned votes = run->journal.wants_to_stop ? VOTE_STOP : 0;
    if (run->ranks.rank == 0 && hd_seconds() - counters->saved > SAVE_SECONDS)
        votes |= VOTE_SAVE;
    if (run->ranks.rank == 0 && r->hours > 0 &&
        hd_seconds() - run->journal.began > 3600 * (double)r->hours)
        votes |= VOTE_TIME;
    if (!hd_ranks_vote(&run->ranks, &votes, err))
        return false;
    run->journal.wants_to_stop = votes & VOTE_STOP;
    counters->is_time_over = votes & VOTE_TIME;
    return !(is_good || votes & VOTE_SAVE) || save(run, counters, is_good, err);
}

/* One update, with what follows it at its number. */
static bool advance(struct hd_run *run, struct run_counters *counters,
                    const struct hd_pair_ids *pairs, int n, const struct hd_feed_position *next,
                    heed_error *err)
{
    struct hd_progress *p = &run->state.progress;
    const float rate = hd_rate(run->recipe, p->update + 1, p->factor);
    const double before = hd_seconds();
    struct hd_updated u;
    if (!hd_learn(&run->learner, pairs, n, p->update + 1, rate, &u, err))
        return false;
    counters->busy += hd_seconds() - before;
    p->update++;
    p->place = *next;
    p->n_tokens += u.is_finite ? u.n_tokens : 0;
    p->n_bad = u.is_finite ? 0 : p->n_bad + 1;
    p->n_skipped += !u.is_finite;
    if (!u.is_finite && p->n_bad == 1)
        hd_journal_say(&run->journal,
                       "update %ld: the loss or its gradient is not a finite number; skipped",
                       p->update);
    (void)tell_update(run, counters, &u, rate);
    tell_estimate(run, counters);
    return p->n_bad >= MOST_BAD ? go_back(run, err) : follow_up(run, counters, err);
}

/* A run that was stopped in the middle of a validation begins with it. So does one that finishes a model in 8 bits: what it makes is
 * kept only where it is better than the model that it began with. */
static bool has_look_due(const struct hd_run *run)
{
    const struct hd_progress *p = &run->state.progress;
    const struct hd_recipe *r = run->recipe;
    if (p->update == 0)
        return r->quantize && r->from && *r->from && !p->has_best;
    return p->update % r->valid_every == 0 && p->looked_update != p->update &&
           !(p->is_closed && p->closed_update == p->update);
}

static void tell_left_out(struct hd_run *run)
{
    const struct hd_feed_counts c = hd_feed_counts(run->feed);
    if (c.n_long + c.n_empty > 0)
        hd_journal_say(&run->journal,
                       "of %zu pairs %zu are left out because a side is longer than max-length %d, "
                       "and %zu because a "
                       "side has no known token",
                       c.n_pairs, c.n_long, run->recipe->max_length, c.n_empty);
}

/* Closing validation of a run that ends between two validations. A longer run would not have had it, so the state is saved as it was
 * before, together with the previous contents of the model's file: n updates and m more give the bits of n + m. */
static bool close_run(struct hd_run *run, struct run_counters *counters, heed_error *err)
{
    struct hd_run_state *s = &run->state;
    heed_error why = {0};
    if (s->progress.has_best && run->ranks.rank == 0 &&
        hd_outputs_has_model(run->recipe->out, &why))
        (void)hd_map_open(&s->before, run->recipe->out, &why);
    if (hd_failed(&why)) /* it is there and cannot be read now: going on would lose it */
        return hd_fail(err, why.code, "%s", why.message);
    if (!save(run, counters, false, err) || !look(run, counters, err))
        return false;
    const struct hd_progress closed = s->progress;
    struct hd_saved_state *saved = hd_state_open(run->state_path, err);
    const bool ok = saved && hd_state_restore(saved, false, &run->learner, s, err);
    hd_state_close(saved);
    s->progress.is_closed = closed.has_best;
    s->progress.closed_update = closed.update;
    s->progress.closed_best = closed.best;
    s->progress.closed_best_update = closed.best_update;
    return ok && save(run, counters, false, err);
}

/* Is the best model so far still in its file? The first rank knows. */
static bool is_model_gone(struct hd_run *run, bool *is_gone, heed_error *err)
{
    heed_error why = {0};
    int answer = run->ranks.rank == 0 && !hd_outputs_has_best(run, &why);
    if (hd_failed(&why))
        return hd_fail(err, why.code, "%s", why.message);
    const bool ok = hd_ranks_tell(&run->ranks, &answer, sizeof answer, err);
    *is_gone = answer;
    return ok;
}

/* The best model was deleted. If the state still has its weights, validate them again, which writes the file. */
static bool write_again(struct hd_run *run, struct run_counters *counters, heed_error *err)
{
    struct hd_progress *p = &run->state.progress;
    const struct hd_progress before = *p;
    bool ok = true;
    if (p->is_closed && p->closed_update == p->update)
        ok = reopen(run, err) && close_run(run, counters, err);
    else if (p->best_update == p->update && run->recipe->average == 1) {
        p->has_best = false;
        ok = look(run, counters, err);
        *p = before;
    } else
        return hd_fail(err, HEED_BAD_FILE,
                       "%s is gone, and the state has the weights of update %ld, not those of the "
                       "best model, %ld; raise --updates to find another, or start over with "
                       "--fresh",
                       run->recipe->out, p->update,
                       p->is_closed ? p->closed_best_update : p->best_update);
    if (ok)
        hd_journal_say(&run->journal, "%s was gone; it is written again", run->recipe->out);
    return ok;
}

static bool finish(struct hd_run *run, struct run_counters *counters, const char *why,
                   heed_error *err)
{
    struct hd_progress *p = &run->state.progress;
    const bool is_closed_here = p->is_closed && p->closed_update == p->update;
    const bool is_looked_at = p->looked_update == p->update || is_closed_here;
    if (counters->has_learned && p->place.epoch == 0)
        tell_left_out(run);
    if (!is_looked_at && (!reopen(run, err) || !close_run(run, counters, err)))
        return false;
    bool is_gone = false;
    if (is_looked_at && (p->has_best || p->is_closed) &&
        (!is_model_gone(run, &is_gone, err) || (is_gone && !write_again(run, counters, err))))
        return false;
    if ((p->has_best || p->is_closed) && !hd_run_choose_alignment(run, err))
        return false;
    const char *news = counters->has_learned || !is_looked_at ? "done" : "nothing to do";
    const double best = p->is_closed ? p->closed_best : p->best;
    if (!p->has_best && !p->is_closed)
        return hd_fail(err, HEED_DIVERGED,
                       "%s after %ld updates, but no validation gave a finite number, so there is "
                       "no model; choose a "
                       "lower --rate and start over with --fresh",
                       why, p->update);
    hd_journal_say(&run->journal,
                   "%s: %s after %ld updates; the best, %s %.2f at update %ld, is in %s", news, why,
                   p->update, hd_metric_name(run->recipe), sign_of(run->recipe) * best,
                   p->is_closed ? p->closed_best_update : p->best_update, run->recipe->out);
    return true;
}

/* The end of a run that was asked to stop; what was left in the middle has changed nothing. */
static bool stop(struct hd_run *run, struct run_counters *counters, heed_error *err)
{
    const struct hd_progress *p = &run->state.progress;
    const struct hd_progress *saved = &counters->in_file;
    const bool is_saved = saved->update == p->update && saved->n_validations == p->n_validations &&
                          saved->looked_update == p->looked_update &&
                          saved->is_closed == p->is_closed &&
                          saved->closed_update == p->closed_update &&
                          saved->n_returns == p->n_returns && saved->n_skipped == p->n_skipped;
    return (is_saved || save(run, counters, false, err)) &&
           hd_fail(err, HEED_CANCELLED,
                   "stopped after update %ld; the state is saved, and the same command goes on "
                   "from there",
                   run->state.progress.update);
}

/* Update after update. True when the run is over, with the reason in `over`. */
static bool learn_on(struct hd_run *run, struct run_counters *counters, const char **over,
                     heed_error *err)
{
    struct hd_progress *p = &run->state.progress;
    bool is_gone = false;
    int last_epoch = p->place.epoch;
    if ((p->has_best && !is_model_gone(run, &is_gone, err)) ||
        (has_look_due(run) && !follow_up(run, counters, err)))
        return false;
    while (!run->journal.wants_to_stop) {
        struct hd_feed_position next = p->place;
        int n;
        *over = why_over(run, &next);
        const struct hd_pair_ids *pairs = *over ? NULL : hd_feed_next(run->feed, &next, &n, err);
        if (!*over && !pairs)
            return false;
        *over = *over ? *over : why_over(run, &next);
        if (!*over && counters->is_time_over)
            *over = "the hours are over";
        if (*over)
            return true;
        if (!counters->has_learned && is_gone) {
            hd_journal_say(&run->journal, "%s is gone; the next validation writes another",
                           run->recipe->out);
            p->has_best = p->is_closed = false;
        }
        if (!advance(run, counters, pairs, n, &next, err))
            return false;
        counters->has_learned = true;
        if (last_epoch == 0 && p->place.epoch > 0)
            tell_left_out(run);
        last_epoch = p->place.epoch;
    }
    return hd_fail(err, HEED_CANCELLED, "stopped on request");
}

static bool wants_to_stop(void *journal)
{
    heed_training_event event = {.news = HEED_TRAINING_WAITS};
    return !hd_journal_tell(journal, &event, NULL);
}

static bool learn(struct hd_run *run, heed_error *err)
{
    const struct hd_progress *p = &run->state.progress;
    const double now = hd_seconds();
    struct run_counters counters = {.saved = now,
                                    .logged = now,
                                    .began = now,
                                    .first_update = p->update,
                                    .noted_tokens = p->n_tokens,
                                    .in_file = *p};
    struct hd_stop stopping = {.is_wanted = wants_to_stop, .context = &run->journal, .asked = now};
    if (run->ranks.n ==
        1) /* others would wait for what is left out; ranks vote after each update */
        hd_learner_set_stop(&run->learner, &stopping);
    const char *over = NULL;
    heed_error why = {0};
    const bool ok = learn_on(run, &counters, &over, &why) && finish(run, &counters, over, &why);
    hd_learner_set_stop(&run->learner, NULL);
    if (ok)
        return true;
    return why.code == HEED_CANCELLED ? stop(run, &counters, err)
                                      : hd_fail(err, why.code, "%s", why.message);
}

bool heed_training_run(heed_training *said, bool (*watch)(void *, const heed_training_event *),
                       void *context, heed_error *err)
{
    if (!hd_is_given(said, "training", err))
        return false;
    struct hd_run run = {.said = said,
                         .recipe = &said->recipe,
                         .journal = {.watch = watch, .context = context, .began = hd_seconds()}};
    heed_error why = {0};
    const bool ok = hd_run_prepare(&run, &why) && learn(&run, &why);
    if (!ok && run.journal.log)
        hd_journal_log(&run.journal, "%s", why.message);
    hd_ranks_leave(&run.ranks, !ok && why.code != HEED_CANCELLED);
    hd_run_release(&run);
    return ok || hd_fail(err, why.code, "%s", why.message);
}
