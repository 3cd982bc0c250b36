/* run_prepare.c -- from the options to a run that is ready to begin or to go on. */
#include "train/run_prepare.h"

#include "base/error.h"
#include "base/memory.h"
#include "kernel/kernel.h"
#include "model/fields.h"
#include "model/languages.h"
#include "text/doubts.h"
#include "train/outputs.h"
#include "train/run_links.h"
#include "train/run_text.h"
#include "train/start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_DEV = 2000 }; /* of the pairs that are held out, translated at each validation */

/* ---- what was chosen ------------------------------------------------------------------------------- */

static double millions(size_t n)
{
    return (double)n / 1e6;
}

/* Of how many pairs that are held out one is translated at each validation. */
static size_t held_per_dev(const struct hd_run *run)
{
    const size_t n_held = run->facts.n_pairs / HD_HOLD_OUT;
    return n_held > MOST_DEV ? (n_held + MOST_DEV - 1) / MOST_DEV : 1;
}

static void tell_text(struct hd_run *run)
{
    const struct hd_text_facts *f = &run->facts;
    const enum hd_task task = hd_training_task(run->said);
    if (task == HD_TASK_TRANSLATE)
        hd_journal_say(&run->journal,
                       "text: %zu pairs, about %.2f million source and %.2f million target words",
                       f->n_pairs, millions(f->n_source_words), millions(f->n_target_words));
    else
        hd_journal_say(
            &run->journal, "text: %zu lines, about %.2f million words", f->n_pairs,
            millions(task == HD_TASK_LANGUAGE_MODEL ? f->n_target_words : f->n_source_words));
}

static void tell_model(struct hd_run *run)
{
    const struct hd_recipe *r = run->recipe;
    const struct hd_config *c = &run->model->net->config;
    const heed_training *said = run->said;
    const bool is_transformer = c->arch == HD_TRANSFORMER;
    char layers[64];
    if (hd_config_has_encoder(c) && hd_config_has_decoder(c))
        snprintf(layers, sizeof layers, "%d+%d layers", c->encoder_layers, c->decoder_layers);
    else
        snprintf(layers, sizeof layers, "%d layers",
                 hd_config_has_encoder(c) ? c->encoder_layers : c->decoder_layers);
    const bool has_unit =
        is_transformer && hd_config_has_decoder(c) && c->decoder == HD_DECODER_SSRU;
    hd_journal_say(&run->journal, "model: %s, %s of %d%s%s, %.2f million parameters%s",
                   hd_config_choice("arch", c->arch).text, layers, c->dim,
                   is_transformer && c->norm == HD_NORM_PRE ? ", pre-norm" : "",
                   has_unit ? ", decoder ssru" : "", millions(run->learner.size),
                   run->has_grown ? ", grown from what it was"
                   : r->from      ? ", as it was"
                   : hd_training_is_given(said, "size") || hd_training_is_given(said, "dim")
                       ? ""
                       : ", a size that suits so much text");
}

/* What was chosen, and why. */
static void tell_choices(struct hd_run *run)
{
    const struct hd_recipe *r = run->recipe;
    const struct hd_config *c = &run->model->net->config;
    const heed_training *said = run->said;
    char texts[5][64];
    tell_model(run);
    hd_journal_say(
        &run->journal,
        "recipe: %s, rate %s after %d updates of warm-up, then %s; batches of %s %s "
        "tokens; dropout %s",
        hd_recipe_text(r, "optimizer", texts[0]), hd_recipe_text(r, "rate", texts[1]), r->warmup,
        hd_recipe_text(r, "schedule", texts[2]), hd_recipe_text(r, "batch-tokens", texts[3]),
        hd_config_has_decoder(c) ? "target" : "source", hd_recipe_text(r, "dropout", texts[4]));
    char *variation =
        hd_vary_tell(&r->vary, &run->facts.vary,
                     r->tokens == HD_VOCAB_SPM && r->source_tokens == r->tokens, NULL);
    if (variation && hd_training_task(said) == HD_TASK_TRANSLATE)
        hd_journal_say(&run->journal, "variation: %s", variation);
    hd_free(variation);
    double times;
    const char *fast = hd_kernels_fast_precision(&times);
    if (fast && r->precision == HD_PRECISION_F32) {
        char factor[64] = "faster";
        if (times > 0)
            snprintf(factor, sizeof factor, "about %.2g times as fast", times);
        hd_journal_say(&run->journal,
                       "this CPU multiplies bf16 faster: --precision %s would train %s", fast,
                       factor);
    }
    char until[128] = "";
    size_t at = 0;
    if (r->updates > 0)
        at += (size_t)snprintf(until + at, sizeof until - at, "%d updates, ", r->updates);
    if (r->epochs > 0)
        at += (size_t)snprintf(until + at, sizeof until - at, "%d epochs, ", r->epochs);
    if (r->hours > 0)
        at += (size_t)snprintf(until + at, sizeof until - at, "%g hours, ", (double)r->hours);
    if (r->patience > 0)
        at += (size_t)snprintf(
            until + at, sizeof until - at, "%d validations without a better %s%s, ", r->patience,
            hd_metric_name(r), r->valid_metric == HD_VALID_CE ? "" : " or cross entropy");
    if (at >= 2)
        until[at - 2] = '\0';
    hd_journal_say(
        &run->journal,
        "runs until %s; validates every %d updates on %d sentences%s; seed %d, %d thread%s",
        at ? until : "it is stopped", r->valid_every, hd_dev_size(run->dev),
        run->dev_text           ? ""
        : held_per_dev(run) > 1 ? " (of every 200th pair, held out: no dev text was given)"
                                : " (every 200th pair, held out: no dev text was given)",
        r->seed, hd_pool_size(run->threads), hd_pool_size(run->threads) == 1 ? "" : "s");
    const int workers = hd_pool_size(run->threads) * run->ranks.n;
    if (run->ranks.n > 1)
        hd_journal_say(&run->journal, "%d ranks of %d threads each share every update%s",
                       run->ranks.n, hd_pool_size(run->threads),
                       run->ranks.n & (run->ranks.n - 1) ? "; only a power of two of them has work"
                                                         : "");
    if (workers > r->shards)
        hd_journal_say(
            &run->journal,
            "an update has at most %d shards, so %d threads will be idle; --shards %d would keep "
            "them busy",
            r->shards, workers - r->shards, workers);
}
/* ---- all of it --------------------------------------------------------------------------------------- */

static char *dump(json_t *json)
{
    char *text =
        json ? json_dumps(json, JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(json);
    return text;
}

static bool make_tools(struct hd_run *run, heed_error *err)
{
    const struct hd_recipe *r = run->recipe;
    const heed_model *m = run->model;
    if (!hd_learner_init(&run->learner, m->net, r, run->threads, &run->ranks, err))
        return false;
    const struct hd_config *c = &m->net->config;
    const struct hd_feed_options feed = {.seed = (uint64_t)r->seed,
                                         .tokens = r->batch_tokens * r->accumulate,
                                         .counts_source = !hd_config_has_decoder(c),
                                         .max_length = r->max_length,
                                         .max_answer = c->task == HD_TASK_SPAN ? c->max_answer : 0,
                                         .subword_sampling = r->subword_sampling,
                                         .hold_out = run->dev_text ? 0 : HD_HOLD_OUT,
                                         .vary = r->vary,
                                         .links = r->guided_alignment.n > 0 ? &run->links : NULL,
                                         .links_by_character = run->links_by_character,
                                         .vectors = run->vectors.n > 0 ? &run->vectors : NULL,
                                         .frames = hd_config_frames(c),
                                         .max_frames = r->max_frames,
                                         .batch_frames = r->batch_frames,
                                         .temperature = r->pair_temperature};
    const struct hd_vocab *source =
        hd_config_has_encoder(c) && c->source == HD_SOURCE_TEXT ? m->source : NULL;
    run->feed = hd_feed_new(run->text, source, m->target, &feed, run->threads, err);
    const struct hd_corpus *dev_text = run->dev_text ? run->dev_text : run->text;
    const size_t first = run->dev_text ? 0 : HD_HOLD_OUT - 1,
                 step = run->dev_text ? 1 : HD_HOLD_OUT * held_per_dev(run);
    /* The far end of what no model was trained for is not looked at: its memory has no bound, or it has no positions. */
    const int room = hd_plan_room(&m->net->config),
              longest = room < 4 * r->max_length ? room : 4 * r->max_length;
    run->dev = run->feed ? hd_dev_new(dev_text, first, step, source, m->target, longest,
                                      c->task == HD_TASK_SPAN, err)
                         : NULL;
    if (!run->dev)
        return false;
    if (run->vectors.n > 0)
        hd_dev_set_vectors(run->dev, run->dev_text ? &run->dev_vectors : &run->vectors,
                           hd_config_frames(c), dev_text, first, step);
    run->config_json = dump(hd_config_to_json(&m->net->config));
    run->recipe_json = dump(hd_recipe_to_json(r));
    return (run->config_json && run->recipe_json) ||
           hd_fail(err, HEED_NO_MEMORY, "there is no memory left");
}

bool hd_run_save(struct hd_run *run, bool is_good, heed_error *err)
{
    const struct hd_identity identity = {
        run->config_json,   run->recipe_json,
        run->fingerprint,   run->model->source,
        run->model->target, json_object_get(run->model->record, "alignment_shift")};
    int is_there = 1;
    return hd_learner_share(&run->learner, false, err) &&
           (run->ranks.rank > 0 ||
            hd_state_save(run->state_path, &run->learner, &run->state, &identity, is_good, err)) &&
           hd_ranks_tell(&run->ranks, &is_there, sizeof is_there, err);
}

/* The state of an earlier run, if there is one: the first rank knows. NULL with HEED_OK in err when there is none. */
static struct hd_saved_state *open_state(struct hd_run *run, heed_error *err)
{
    struct hd_saved_state *saved =
        run->ranks.rank == 0 ? hd_state_open(run->state_path, err) : NULL;
    int is_there = saved != NULL;
    if (hd_failed(err) || !hd_ranks_tell(&run->ranks, &is_there, sizeof is_there, err))
        return saved;
    if (is_there && !saved && !(saved = hd_state_open(run->state_path, err)))
        hd_fail(err, HEED_BAD_FILE,
                "rank %d does not see %s; the folder of --out must be shared by all machines",
                run->ranks.rank, run->state_path);
    return saved;
}

/* Is there anything to learn from? Asked before a state is written that would hold the options which left nothing. */
static bool has_batch(struct hd_run *run, heed_error *err)
{
    struct hd_feed_position first = run->state.progress.place;
    int n;
    return hd_feed_next(run->feed, &first, &n, err) != NULL;
}

/* With --fresh: delete the earlier run's states. Called when nothing can refuse the new run any more. */
static bool remove_states(const struct hd_run *run, heed_error *err)
{
    char previous[HD_STATE_PATH];
    const char *const paths[2] = {run->state_path,
                                  hd_state_previous(previous, run->state_path) ? previous : NULL};
    for (int i = 0; run->ranks.rank == 0 && i < 2; i++)
        if (paths[i] && unlink(paths[i]) != 0 && errno != ENOENT)
            return hd_fail(err, HEED_BAD_FILE, "%s cannot be removed: %s", paths[i],
                           strerror(errno));
    return true;
}

static void say_doubt(void *journal, const char *sentence)
{
    hd_journal_say(journal, "warning: %s", sentence);
}

/* The first rank speaks for all. */
static void tell_doubts(struct hd_run *run)
{
    const char *languages = hd_corpus_n_directions(run->text) > 1 ? NULL : run->recipe->languages;
    const struct hd_doubts doubts = {run->text, run->dev_text, HD_HOLD_OUT, languages};
    if (run->ranks.rank == 0 && hd_training_task(run->said) == HD_TASK_TRANSLATE &&
        run->vectors.n == 0)
        hd_tell_doubts(&doubts, say_doubt, &run->journal);
}

static void tell_vectors(struct hd_run *run)
{
    double n = 0;
    for (int i = 0; i < run->vectors.n; i++)
        n += hd_vectors_length(&run->vectors, i);
    hd_journal_say(&run->journal,
                   "source: %d items, %.0f vectors of width %d%s; target: about %.3f million words",
                   run->vectors.n, n, run->vectors.width,
                   run->vectors.has_grids ? ", in rows and columns" : "",
                   millions(run->facts.n_target_words));
}

/* Positions of the source of a pair, and whether CTC finds a path for its target; HEED_BAD_TEXT is told elsewhere. */
static bool has_path(const struct hd_run *run, size_t i, struct hd_ids *ids, heed_error *err)
{
    const heed_model *m = run->model;
    const struct hd_config *c = &m->net->config;
    const struct hd_text_pair pair = hd_corpus_pair(run->text, i);
    size_t n_positions;
    ids->n = 0;
    if (run->vectors.n > 0) {
        n_positions =
            (size_t)hd_vector_sequence(&run->vectors, hd_config_frames(c), run->text, i).n;
    } else {
        const bool with_end = hd_vocab_end(m->source) >= 0;
        if (!hd_vocab_encode(m->source, pair.source, pair.n_source, with_end, ids, err))
            return false;
        n_positions = ids->n;
        ids->n = 0;
    }
    return hd_vocab_encode(m->target, pair.target, pair.n_target, false, ids, err) &&
           (size_t)hd_ctc_least(ids->at, (int)ids->n) <= n_positions;
}

/* Targets that are too long for CTC are learned from by the decoder alone: how many there are. */
static bool tell_ctc(struct hd_run *run, heed_error *err)
{
    if (!run->model->net->ctc.W || run->ranks.rank > 0)
        return true;
    const size_t n = hd_corpus_size(run->text);
    struct hd_ids ids = {0};
    heed_error why = {0};
    size_t n_skipped = 0;
    for (size_t i = 0; i < n && why.code != HEED_NO_MEMORY; i++)
        n_skipped += !has_path(run, i, &ids, &why);
    hd_ids_release(&ids);
    if (why.code == HEED_NO_MEMORY)
        return hd_fail(err, why.code, "%s", why.message);
    if (n_skipped > 0)
        hd_journal_say(&run->journal,
                       "ctc: %zu of %zu targets are longer than their source has positions, and "
                       "are learned from by attention alone%s",
                       n_skipped, n,
                       run->vectors.n > 0 ? "; a smaller --pyramid or --stack leaves more" : "");
    return true;
}

static bool prepare(struct hd_run *run, heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    const int cores = heed_cores() / run->ranks.n_here;
    run->threads = hd_pool_new(r->threads != HD_OPTION_OPEN ? r->threads
                               : cores > 1                  ? cores
                                                            : 1,
                               err);
    if (!run->threads || !hd_run_read_text(run, err))
        return false;
    if (run->vectors.n > 0)
        tell_vectors(run);
    else
        tell_text(run);
    if (!hd_run_read_links(run, err))
        return false;
    heed_error why = {0};
    struct hd_saved_state *saved = r->fresh ? NULL : open_state(run, &why);
    if (hd_failed(&why)) {
        hd_state_close(saved);
        return hd_fail(err, why.code, "%s", why.message);
    }
    run->is_resumed = saved != NULL;
    bool ok = hd_run_start(run, saved, err) && make_tools(run, err) &&
              hd_model_learn_from_corpus(run->model, run->text, err);
    if (ok && !saved)
        tell_doubts(run);
    ok = ok && tell_ctc(run, err);
    if (ok) {
        tell_choices(run);
        run->state.progress.factor = 1;
        run->curves = (struct hd_curves){.metric = hd_metric_name(r),
                                         .has_score = r->valid_metric != HD_VALID_CE};
    }
    if (ok && saved) {
        ok = hd_state_restore(saved, false, &run->learner, &run->state, err);
        if (ok)
            hd_curves_read(&run->curves, run->stem, run->state.progress.update);
        if (ok)
            hd_journal_say(&run->journal, "goes on after update %ld", run->state.progress.update);
    } else if (ok)
        ok = has_batch(run, err) && remove_states(run, err) && hd_run_save(run, true, err);
    hd_state_close(saved);
    return ok;
}

bool hd_run_prepare(struct hd_run *run, heed_error *err)
{
    if (!hd_outputs_name(run, err) || !hd_plan_check(run->said, err) ||
        !hd_ranks_join(&run->ranks, err))
        return false;
    run->journal.is_silent = run->ranks.rank > 0;
    if (run->ranks.rank == 0) {
        if (!hd_outputs_check(run, err) || !hd_journal_open(&run->journal, run->stem, err))
            return false;
        hd_outputs_sweep(run);
    }
    if (prepare(run, err))
        return true;
    if (run->ranks.rank == 0)
        hd_journal_discard(&run->journal, run->stem);
    return false;
}

void hd_run_release(struct hd_run *run)
{
    hd_learner_release(&run->learner);
    hd_run_state_release(&run->state);
    hd_dev_free(run->dev);
    hd_feed_free(run->feed);
    heed_model_free(run->model);
    hd_corpus_free(run->text);
    hd_corpus_free(run->dev_text);
    hd_vectors_close(&run->vectors);
    hd_vectors_close(&run->dev_vectors);
    hd_link_lists_release(&run->links);
    hd_pool_free(run->threads);
    hd_curves_release(&run->curves);
    hd_journal_close(&run->journal);
    free(run->config_json);
    free(run->recipe_json);
    hd_free(run->stem);
    hd_free(run->state_path);
}
