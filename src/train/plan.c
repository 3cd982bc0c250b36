/* plan.c -- choices that fit the text: small models and strong regularisation for little text, more of both for more. */
#include "train/plan.h"

#include "base/error.h"
#include "model/fields.h"
#include "text/sentence.h"
#include "text/vocab.h"
#include "text/vocab_train.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static size_t words_of(const char *text, size_t n)
{
    size_t words = 0;
    for (size_t i = 0; i < n; i++)
        words += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
    return words;
}

/* Do most of a thousand lines have several sentences? */
static bool is_of_documents(const struct hd_corpus *corpus)
{
    enum { ENOUGH = 1000 };
    const size_t n_pairs = hd_corpus_size(corpus), step = n_pairs / ENOUGH + 1;
    size_t n = 0, n_documents = 0;
    for (size_t i = 0; i < n_pairs; i += step, n++) {
        const struct hd_text_pair p = hd_corpus_pair(corpus, i);
        struct hd_sentences sentences;
        struct hd_span span;
        hd_sentences_begin(&sentences, p.source, p.n_source, NULL);
        hd_sentences_next(&sentences, &span);
        n_documents += hd_sentences_next(&sentences, &span);
    }
    return n_documents > n / 2;
}

struct hd_text_facts hd_text_facts_of(const struct hd_corpus *corpus)
{
    enum { ENOUGH = 100000 }; /* pairs to count the words of */
    struct hd_text_facts f = {.n_pairs = hd_corpus_size(corpus),
                              .is_of_documents = is_of_documents(corpus),
                              .vary = hd_vary_facts_of(corpus)};
    const size_t step = f.n_pairs / ENOUGH + 1;
    size_t n = 0;
    for (size_t i = 0; i < f.n_pairs; i += step, n++) {
        const struct hd_text_pair p = hd_corpus_pair(corpus, i);
        f.n_source_words += words_of(p.source, p.n_source);
        f.n_target_words += words_of(p.target, p.n_target);
    }
    f.n_source_words = (size_t)((double)f.n_source_words / (double)n * (double)f.n_pairs);
    f.n_target_words = (size_t)((double)f.n_target_words / (double)n * (double)f.n_pairs);
    return f;
}

/* What is varied is a pair of sentences that say the same. */
static void plan_variation(struct hd_recipe *r, enum hd_task task, const struct hd_text_facts *f)
{
    for (int i = 0; task != HD_TASK_TRANSLATE && i < HD_N_VARIATIONS; i++)
        r->vary.of[i] = r->vary.of[i] > 0 ? r->vary.of[i] : 0;
    hd_vary_choose(&r->vary, &f->vary,
                   r->tokens == HD_VOCAB_SPM && r->source_tokens == HD_VOCAB_SPM);
}

static int metric_of(const struct hd_recipe *r, enum hd_task task)
{
    return task == HD_TASK_LABEL                ? HD_VALID_ACCURACY
           : task == HD_TASK_SPAN               ? HD_VALID_F1
           : task == HD_TASK_LANGUAGE_MODEL     ? HD_VALID_CE
           : r->source_tokens == HD_VOCAB_CHARS ? HD_VALID_EXACT
                                                : HD_VALID_BLEU;
}

/* Words to learn subwords from: of the sides that are text. */
static size_t words_to_learn(const struct hd_recipe *r, enum hd_task task,
                             const struct hd_text_facts *f)
{
    if (task == HD_TASK_LABEL || task == HD_TASK_SPAN)
        return f->n_source_words;
    if (task == HD_TASK_LANGUAGE_MODEL)
        return f->n_target_words;
    const size_t both = f->n_source_words + f->n_target_words;
    return r->joint_vocab ? both : both / 2;
}

void hd_plan_text(struct hd_recipe *r, enum hd_task task, const struct hd_text_facts *f)
{
    if (r->source_tokens == HD_OPTION_OPEN)
        r->source_tokens = r->tokens;
    if (r->joint_vocab == HD_OPTION_OPEN)
        r->joint_vocab =
            task == HD_TASK_TRANSLATE && r->tokens == HD_VOCAB_SPM && r->source_tokens == r->tokens;
    if (r->vocab_size == HD_OPTION_OPEN && r->tokens == HD_VOCAB_SPM)
        r->vocab_size = hd_vocab_size_for(f->n_pairs, words_to_learn(r, task, f));
    else if (r->vocab_size == HD_OPTION_OPEN)
        r->vocab_size = r->tokens == HD_VOCAB_WORDS ? 30000 : 0;
    plan_variation(r, task, f);
    if (r->valid_metric == HD_OPTION_OPEN)
        r->valid_metric = metric_of(r, task);
}

void hd_plan_preset(struct hd_preset_choice *preset, const struct hd_text_facts *f)
{
    if (preset->arch == HD_OPTION_OPEN)
        preset->arch = HD_TRANSFORMER;
    if (preset->size == HD_OPTION_OPEN)
        preset->size = f->n_pairs < 400000    ? HD_SIZE_TINY
                       : f->n_pairs < 4000000 ? HD_SIZE_SMALL
                                              : HD_SIZE_BASE;
}

void hd_plan_positions(struct hd_config *c, const heed_training *said)
{
    const int needed = said->recipe.max_length + 1; /* the end marker is one more */
    if (hd_plan_room(c) >= needed)
        return;
    if (c->arch != HD_TRANSFORMER && c->max_source == 0)
        c->max_source = needed <= HD_MAX_DIM ? needed : HD_MAX_DIM;
    else if (c->arch == HD_TRANSFORMER && !hd_training_is_given(said, "max-positions"))
        c->max_positions = needed;
}

bool hd_plan_model(struct hd_config *c, bool is_joint, const heed_training *said, heed_error *err)
{
    if (c->arch == HD_TRANSFORMER && !hd_training_is_given(said, "norm"))
        c->norm = HD_NORM_PRE; /* learns from the first update at any rate; post-norm wants care */
    if (hd_training_is_given(said, "tie") || !is_joint)
        return hd_config_check(c, err);
    static const int ties[] = {HD_TIE_ALL, HD_TIE_SOURCE_TARGET};
    for (int i = 0; i < 2; i++) {
        struct hd_config tied = *c;
        tied.tie = ties[i];
        if (hd_config_check(&tied, NULL)) {
            *c = tied;
            return true;
        }
    }
    return hd_config_check(c, err);
}

bool hd_plan_guidance(struct hd_config *c, const struct hd_recipe *r, heed_error *err)
{
    if (r->guided_alignment.n == 0)
        return true;
    const bool is_transformer = c->arch == HD_TRANSFORMER;
    if (!is_transformer && (c->score == HD_SCORE_NONE || c->context == HD_CONTEXT_FIRST ||
                            c->context == HD_CONTEXT_EVERY))
        return hd_fail(err, HEED_BAD_OPTION,
                       "guided-alignment teaches attention to align, and this model has none");
    if (c->n_alignment_heads > 1)
        return hd_fail(err, HEED_BAD_OPTION,
                       "guided-alignment teaches one head; give alignment-heads one number, not %d",
                       c->n_alignment_heads);
    if (c->n_alignment_heads == 0 && (is_transformer || c->score == HD_SCORE_MULTI_HEAD)) {
        c->n_alignment_heads = 1;
        c->alignment_heads[0] = 0;
    }
    return true;
}

int hd_plan_room(const struct hd_config *c)
{
    const bool is_transformer = c->arch == HD_TRANSFORMER;
    return is_transformer && c->positions == HD_POSITIONS_LEARNED ? c->max_positions
           : !is_transformer && c->score == HD_SCORE_LOCATION     ? c->max_source
                                                                  : INT_MAX;
}

static void fill(float *field, float value)
{
    if (*field < 0)
        *field = value;
}

static void fill_int(int *field, int value)
{
    if (*field == HD_OPTION_OPEN)
        *field = value;
}

static void plan_dropout(struct hd_recipe *r, bool is_transformer, size_t n_pairs)
{
    fill(&r->dropout, n_pairs < 60000 ? 0.3F : n_pairs < 100000 ? 0.2F : 0.1F);
    const float x = r->dropout;
    fill(&r->dropout_embed, x);
    fill(&r->dropout_state, x);
    fill(&r->dropout_output, is_transformer ? 0 : x);
    fill(&r->dropout_attention, is_transformer ? x / 2 : 0);
    fill(&r->dropout_ffn, is_transformer ? x / 2 : 0);
}

/* What has no meaning for a task is refused: whoever sets it expects it to do something. */
static bool check_task(const heed_training *said, enum hd_task task, heed_error *err)
{
    static const char *const of_pairs[] = {
        "vary-punctuation", "vary-case",        "vary-quotes",   "join", "copy",
        "placeholders",     "guided-alignment", "source-tokens", "pair", "joint-vocab"};
    const struct hd_option_choice name = hd_config_choice("task", (int)task);
    const int metric = said->recipe.valid_metric;
    for (size_t i = 0; task != HD_TASK_TRANSLATE && i < sizeof of_pairs / sizeof *of_pairs; i++)
        if (hd_training_is_given(said, of_pairs[i]))
            return hd_fail(err, HEED_BAD_OPTION,
                           "%s is for sentences and their translations, but task is %s; leave it "
                           "out",
                           of_pairs[i], name.text);
    const bool is_of_labels = metric == HD_VALID_ACCURACY || metric == HD_VALID_F1,
               is_of_answers = metric == HD_VALID_EXACT || metric == HD_VALID_F1;
    const bool is_right = metric == HD_OPTION_OPEN || metric == HD_VALID_CE ||
                          (task == HD_TASK_LABEL && is_of_labels) ||
                          (task == HD_TASK_SPAN && is_of_answers) ||
                          (task == HD_TASK_TRANSLATE && !is_of_labels);
    if (task == HD_TASK_SPAN && hd_training_is_given(said, "subword-sampling") &&
        said->recipe.subword_sampling > 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "subword-sampling cuts a document anew each time, and an answer has its "
                       "place in it; leave it out with task span");
    char text[64];
    return is_right ||
           hd_fail(err, HEED_BAD_OPTION, "valid-metric %s does not measure task %s; leave it out",
                   hd_recipe_text(&said->recipe, "valid-metric", text), name.text);
}

bool hd_plan_check(const heed_training *said, heed_error *err)
{
    const struct hd_recipe *r = &said->recipe;
    if (!check_task(said, hd_training_task(said), err))
        return false;
    if (r->rdrop > 0 && r->simcut > 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "rdrop and simcut are two ways to the same end; choose one of them");
    if (r->schedule == HD_SCHEDULE_COSINE && r->updates == 0)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "the schedule cosine ends at the last update, so it needs updates; or choose "
            "inv-sqrt");
    return true;
}

bool hd_plan_recipe(struct hd_recipe *r, const struct hd_config *c, const struct hd_text_facts *f,
                    heed_error *err)
{
    const bool is_transformer = c->arch == HD_TRANSFORMER;
    if (r->scheduled_sampling > 0 && (is_transformer || !hd_config_has_decoder(c)))
        return hd_fail(err, HEED_BAD_OPTION,
                       "scheduled-sampling is for recurrent decoders, which say one word after the "
                       "other while they learn; this model has %s; leave it out",
                       is_transformer ? "a transformer's" : "none");
    fill_int(&r->batch_tokens, f->n_pairs < 3000 ? 512 : f->n_pairs < 1000000 ? 2048 : 4096);
    fill_int(&r->batch_frames, r->batch_tokens < (1 << 23) ? 32 * r->batch_tokens : 1 << 28);
    const size_t n_words = hd_config_has_decoder(c) ? f->n_target_words : f->n_source_words;
    const double per_pair = (double)n_words / (double)f->n_pairs * 1.4 + 1;
    const double per_update = (double)r->batch_tokens * (double)r->accumulate / per_pair;
    const double epoch = (double)f->n_pairs / per_update; /* updates, about */
    fill(&r->rate, r->optimizer == HD_SGD ? 0.5F
                   : !is_transformer      ? 0.002F
                   : c->dim <= 160        ? 0.003F
                   : c->dim <= 320        ? 0.0015F
                                          : 0.0007F);
    fill_int(&r->warmup, epoch < 50 ? 200 : epoch < 500 ? 500 : 1000);
    plan_dropout(r, is_transformer, f->n_pairs);
    fill(&r->ema, 0.999F);
    const int half = (int)(epoch / 2);
    fill_int(&r->valid_every, half < 50 ? 50 : half > 1000 ? 1000 : half);
    fill_int(&r->save_every, r->valid_every);
    if (r->max_length >= hd_plan_room(c))
        return hd_fail(err, HEED_BAD_OPTION,
                       "max-length %d lets in longer sentences than the model has places for; %s "
                       "must be %d or more, or "
                       "max-length %d or less",
                       r->max_length, is_transformer ? "max-positions" : "max-source",
                       r->max_length + 1, hd_plan_room(c) - 1);
    if (r->schedule == HD_SCHEDULE_COSINE && r->warmup >= r->updates)
        return hd_fail(err, HEED_BAD_OPTION,
                       "the schedule cosine needs more updates (%d) than warmup (%d)", r->updates,
                       r->warmup);
    return true;
}
