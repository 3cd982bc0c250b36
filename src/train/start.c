/* start.c -- the model that a run begins with: a new one with vocabularies of its text, another run's, or its own of before. */
#include "train/start.h"

#include "base/error.h"
#include "base/memory.h"
#include "model/fields.h"
#include "model/grow.h"
#include "text/labels.h"
#include "text/vocab_file.h"
#include "text/vocab_train.h"
#include "train/run_text.h"
#include "train/run_vectors.h"

#include <stdio.h>
#include <string.h>

/* ---- vocabularies ---------------------------------------------------------------------------------- */

/* What the first rank has learned to all. */
static struct hd_vocab *tell_vocab(struct hd_run *run, enum hd_vocab_kind kind,
                                   struct hd_vocab *vocab, heed_error *err)
{
    size_t size = 0;
    const void *bytes = vocab ? hd_vocab_bytes(vocab, &size) : NULL;
    if (!hd_ranks_tell(&run->ranks, &size, sizeof size, err))
        return vocab;
    void *copy = hd_alloc(size, 1, err);
    if (copy && bytes)
        memcpy(copy, bytes, size);
    const bool ok = copy && hd_ranks_tell(&run->ranks, copy, size, err);
    if (ok && !vocab)
        vocab = hd_vocab_from_memory(kind, copy, size, err);
    hd_free(copy);
    return vocab;
}

static bool keep_on(void *context)
{
    struct hd_journal *j = context;
    heed_training_event event = {.news = HEED_TRAINING_WAITS};
    return hd_journal_tell(j, &event, NULL);
}

/* The target languages of a text of several directions, each once; to be given to hd_free(). */
static const char **target_languages(const struct hd_corpus *text, int *n, heed_error *err)
{
    const int n_directions = hd_corpus_n_directions(text);
    const char **languages = hd_alloc((size_t)n_directions, sizeof *languages, err);
    *n = 0;
    for (int i = 0; languages && n_directions > 1 && i < n_directions; i++) {
        const char *to = hd_corpus_direction(text, i)->to;
        int k = 0;
        while (k < *n && strcmp(languages[k], to) != 0)
            k++;
        if (k == *n)
            languages[(*n)++] = to;
    }
    return languages;
}

static struct hd_vocab *learn_vocab(struct hd_run *run, unsigned sides, heed_error *err)
{
    static const char *const rules[] = {"nmt_nfkc", "nfkc", "identity"};
    const struct hd_recipe *r = run->recipe;
    const int kind = sides == HD_VOCAB_SOURCE ? r->source_tokens : r->tokens;
    const bool is_pairs = hd_training_task(run->said) == HD_TASK_TRANSLATE;
    int n_languages;
    const char **languages = target_languages(run->text, &n_languages, err);
    if (!languages)
        return NULL;
    const struct hd_vocab_plan plan = {.kind = (enum hd_vocab_kind)kind,
                                       .size = kind == r->tokens ? r->vocab_size : 0,
                                       .is_bpe = r->spm_type == 1,
                                       .seed = (uint64_t)r->seed,
                                       .normalise = rules[r->normalize],
                                       .languages = languages,
                                       .n_languages = sides & HD_VOCAB_SOURCE ? n_languages : 0,
                                       .spells_bytes = !is_pairs || r->vary.of[HD_VARY_COPY] > 0,
                                       .has_placeholders = r->vary.of[HD_VARY_PLACEHOLDERS] > 0,
                                       .vary = &r->vary};
    heed_training_event event = {.news = HEED_TRAINING_PREPARES, .text = "learning the vocabulary"};
    if (!hd_journal_tell(&run->journal, &event, NULL)) {
        hd_free(languages);
        hd_fail(err, HEED_CANCELLED, "stopped before training began; nothing was written");
        return NULL;
    }
    struct hd_vocab *vocab =
        run->ranks.rank == 0 ? hd_vocab_learn(run->text, sides, &plan, keep_on, &run->journal, err)
                             : NULL;
    hd_free(languages);
    if (run->ranks.n == 1 || (run->ranks.rank == 0 && !vocab))
        return vocab;
    return tell_vocab(run, plan.kind, vocab, err);
}

static const char *const vocab_words[] = {"subwords", "words", "characters"};

/* Placeholders want their symbols on both sides: without them there are none, unless they were asked for, which is refused. */
static bool fit_placeholders(struct hd_run *run, const struct hd_vocab *source,
                             const struct hd_vocab *target, heed_error *err)
{
    float *rate = &run->recipe->vary.of[HD_VARY_PLACEHOLDERS];
    for (int i = 0; *rate > 0 && i < HD_N_PLACEHOLDERS; i++) {
        const char *symbol = hd_placeholder(i);
        if (hd_vocab_find(source, symbol) >= 0 && hd_vocab_find(target, symbol) >= 0)
            continue;
        if (hd_training_is_given(run->said, "placeholders"))
            return hd_fail(
                err, HEED_BAD_OPTION,
                "the vocabulary has no symbol %s, so there can be no placeholders; learn "
                "subwords from the text, or leave --placeholders out",
                symbol);
        *rate = 0;
    }
    return true;
}

static struct hd_vocab *copy_vocab(const struct hd_vocab *vocab, heed_error *err)
{
    size_t n;
    const void *bytes = hd_vocab_bytes(vocab, &n);
    return hd_vocab_from_memory(hd_vocab_kind(vocab), bytes, n, err);
}

/* Those of another model. */
static bool take_vocabs(struct hd_run *run, struct hd_vocab **source, struct hd_vocab **target,
                        heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    heed_model *m = hd_model_load_as(r->vocab_from, HD_COMPUTE_STORED, err);
    if (!m)
        return false;
    const bool is_joint = m->source == m->target;
    *target = copy_vocab(m->target, err);
    *source = *target && is_joint ? *target : *target ? copy_vocab(m->source, err) : NULL;
    heed_model_free(m);
    if (!*source)
        return false;
    const bool is_text = hd_vocab_kind(*target) != HD_VOCAB_LABELS;
    r->tokens = (int)hd_vocab_kind(is_text ? *target : *source);
    r->source_tokens = (int)hd_vocab_kind(*source);
    r->joint_vocab = is_joint;
    r->vocab_size = hd_vocab_size(is_text ? *target : *source);
    hd_plan_text(r, hd_training_task(run->said), &run->facts);
    return true;
}

/* One vocabulary of text: a file's, another model's, or learned from a side. */
static struct hd_vocab *make_one_vocab(struct hd_run *run, unsigned side, heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    const enum hd_task task = hd_training_task(run->said);
    if (r->spm.n > 1) {
        hd_fail(err, HEED_BAD_OPTION, "spm takes one model for task %s, not %zu",
                hd_config_choice("task", (int)task).text, r->spm.n);
        return NULL;
    }
    if (r->vocab_from) {
        struct hd_vocab *source = NULL, *target = NULL;
        const bool ok = take_vocabs(run, &source, &target, err);
        const bool is_source = side == HD_VOCAB_SOURCE;
        if (ok && source != target)
            hd_vocab_free(is_source ? target : source);
        return !ok ? NULL : is_source ? source : target;
    }
    if (r->spm.n == 1)
        r->tokens = r->source_tokens = HD_VOCAB_SPM;
    hd_plan_text(r, task, &run->facts);
    return r->spm.n == 1 ? hd_vocab_open(r->spm.at[0], HD_VOCAB_SPM, err)
                         : learn_vocab(run, side, err);
}

/* Of a text and its label: those of the text, and the labels. */
static bool make_label_vocabs(struct hd_run *run, struct hd_vocab **source,
                              struct hd_vocab **target, heed_error *err)
{
    /* Labels are read anew by every rank, and before minutes go into subwords. */
    *target = hd_labels_learn(run->text, err);
    *source = *target ? make_one_vocab(run, HD_VOCAB_SOURCE, err) : NULL;
    if (*source)
        hd_journal_say(&run->journal, "vocabulary: %d %s of the text, %d labels",
                       hd_vocab_size(*source), vocab_words[run->recipe->tokens],
                       hd_vocab_size(*target));
    return *source != NULL;
}

/* Of documents and questions: one, that answers are parts of as well. */
static bool make_question_vocab(struct hd_run *run, struct hd_vocab **source,
                                struct hd_vocab **target, heed_error *err)
{
    *source = *target = make_one_vocab(run, HD_VOCAB_SOURCE, err);
    if (*source)
        hd_journal_say(&run->journal, "vocabulary: %d %s of documents and questions",
                       hd_vocab_size(*source), vocab_words[run->recipe->tokens]);
    return *source != NULL;
}

/* Of vectors and their targets: that of the targets, which stands on both sides. */
static bool make_vector_vocabs(struct hd_run *run, struct hd_vocab **source,
                               struct hd_vocab **target, heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    for (int i = 0; i < HD_N_VARIATIONS; i++)
        r->vary.of[i] = 0;
    r->joint_vocab = 0;
    if (r->valid_metric == HD_OPTION_OPEN)
        r->valid_metric = HD_VALID_WER;
    *source = *target = make_one_vocab(run, HD_VOCAB_TARGET, err);
    if (!*target)
        return false;
    hd_journal_say(&run->journal, "vocabulary: %d %s of the target", hd_vocab_size(*target),
                   vocab_words[r->tokens]);
    return hd_vocab_end(*target) >= 0 ||
           hd_fail(err, HEED_BAD_OPTION,
                   "the target's vocabulary has no end marker </s>, so no model could learn to "
                   "stop");
}

/* Of a language model: one. */
static bool make_own_vocab(struct hd_run *run, struct hd_vocab **source, struct hd_vocab **target,
                           heed_error *err)
{
    *source = *target = make_one_vocab(run, HD_VOCAB_TARGET, err);
    if (!*target)
        return false;
    hd_journal_say(&run->journal, "vocabulary: %d %s", hd_vocab_size(*target),
                   vocab_words[run->recipe->tokens]);
    return hd_vocab_end(*target) >= 0 ||
           hd_fail(err, HEED_BAD_OPTION,
                   "the vocabulary has no end marker </s>, so no model could learn to stop");
}

static bool make_vocabs(struct hd_run *run, struct hd_vocab **source, struct hd_vocab **target,
                        heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    const bool is_given = r->spm.n > 0;
    const enum hd_task task = hd_training_task(run->said);
    if (task == HD_TASK_LABEL)
        return make_label_vocabs(run, source, target, err);
    if (task == HD_TASK_SPAN)
        return make_question_vocab(run, source, target, err);
    if (run->vectors.n > 0)
        return make_vector_vocabs(run, source, target, err);
    if (task == HD_TASK_LANGUAGE_MODEL)
        return make_own_vocab(run, source, target, err);
    if (r->spm.n > 2)
        return hd_fail(err, HEED_BAD_OPTION, "spm takes one model for both sides, or two, not %zu",
                       r->spm.n);
    if (r->vocab_from) {
        if (is_given)
            return hd_fail(err, HEED_BAD_OPTION, "spm and vocab-from are given; choose one");
        if (!take_vocabs(run, source, target, err))
            return false;
    } else if (is_given) {
        r->tokens = r->source_tokens = HD_VOCAB_SPM;
        r->joint_vocab = r->spm.n == 1;
        *source = hd_vocab_open(r->spm.at[0], HD_VOCAB_SPM, err);
        *target = !*source         ? NULL
                  : r->joint_vocab ? *source
                                   : hd_vocab_open(r->spm.at[1], HD_VOCAB_SPM, err);
    } else {
        hd_plan_text(r, task, &run->facts);
        if (r->joint_vocab && r->source_tokens != r->tokens)
            return hd_fail(err, HEED_BAD_OPTION,
                           "joint-vocab is yes, but source-tokens and tokens differ; one "
                           "vocabulary has one kind");
        *source = learn_vocab(run, r->joint_vocab ? HD_VOCAB_BOTH : HD_VOCAB_SOURCE, err);
        *target = !*source         ? NULL
                  : r->joint_vocab ? *source
                                   : learn_vocab(run, HD_VOCAB_TARGET, err);
    }
    hd_plan_text(r, task, &run->facts);
    if (!*target)
        return false;
    if (r->joint_vocab)
        hd_journal_say(&run->journal, "vocabulary: %d %s%s, shared by both sides",
                       hd_vocab_size(*source), vocab_words[r->tokens],
                       is_given || r->vocab_from ? "" : " learned from the text");
    else
        hd_journal_say(&run->journal, "vocabulary: %d %s of the source, %d %s of the target",
                       hd_vocab_size(*source), vocab_words[r->source_tokens],
                       hd_vocab_size(*target), vocab_words[r->tokens]);
    if (hd_vocab_end(*target) < 0)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "the target's vocabulary has no end marker </s>, so no model could learn to stop");
    return fit_placeholders(run, *source, *target, err) &&
           hd_run_check_languages(run, *source, err);
}

/* ---- the model ------------------------------------------------------------------------------------- */

/* A model that exists already: one to start from, one of a run to go on with. */
struct existing {
    const struct hd_config *config;
    bool is_joint;
    const char *name, *or_else; /* what else can be done by who wants another */
};

/* A size is many fields at once: what was said must make the model that is there. */
static bool agree_in_size(const heed_training *said, const struct existing *e, heed_error *err)
{
    if (!hd_training_is_given(said, "size"))
        return true;
    struct hd_config again =
        hd_config_preset((enum hd_arch)e->config->arch, (enum hd_size)said->preset.size);
    if (!hd_training_configure(said, &again, err))
        return false;
    again.source_vocab = e->config->source_vocab;
    again.target_vocab = e->config->target_vocab;
    if (!hd_training_is_given(said, "max-source"))
        again.max_source = e->config->max_source;
    if (!hd_training_is_given(said, "max-positions"))
        again.max_positions = e->config->max_positions;
    return (hd_plan_model(&again, e->is_joint, said, NULL) &&
            hd_config_is_same(e->config, &again)) ||
           hd_fail(err, HEED_BAD_OPTION,
                   "size %s would be another model than %s has; leave it out%s",
                   hd_option_choice(&hd_preset_options[1], said->preset.size).text, e->name,
                   e->or_else);
}

/* What is said twice is what was said last. */
static bool is_said_again(const heed_training *said, size_t i)
{
    for (size_t k = i + 1; k < said->n_settings; k++)
        if (said->settings[k].option == said->settings[i].option)
            return true;
    return false;
}

/* A model that exists is not changed by what was said: that would be another. What is only read, such as the alignment layer, may. */
static bool agree(const heed_training *said, const struct existing *e, heed_error *err)
{
    const int arch = said->preset.arch;
    if (hd_training_is_given(said, "arch") && arch != e->config->arch)
        return hd_fail(err, HEED_BAD_OPTION, "arch is %s, but %s is a %s; leave it out%s",
                       hd_config_choice("arch", arch).text, e->name,
                       hd_config_choice("arch", e->config->arch).text, e->or_else);
    for (size_t i = 0; i < said->n_settings; i++) {
        struct hd_config changed = *e->config;
        const struct hd_setting *s = &said->settings[i];
        if (heed_option_find(hd_config_options, s->option->name) != s->option ||
            is_said_again(said, i))
            continue;
        if (!hd_config_set(&changed, s->option->name, s->text, err))
            return false;
        if (!hd_config_is_same(e->config, &changed))
            return hd_fail(err, HEED_BAD_OPTION,
                           "%s %s would be another model than %s has; leave it out%s",
                           s->option->name, s->text, e->name, e->or_else);
    }
    return agree_in_size(said, e, err);
}

/* Languages by the endings of the files' names: train.en, train.fr.gz. */
static const char *language_of(const char *path, char language[8])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    if (n > 3 && strcmp(name + n - 3, ".gz") == 0)
        n -= 3;
    size_t dot = n;
    while (dot > 0 && name[dot - 1] != '.')
        dot--;
    const size_t letters = n - dot;
    if (dot == 0 || letters < 2 || letters > 3 || memcmp(name + dot, "txt", letters) == 0)
        return NULL;
    snprintf(language, 8, "%.*s", (int)letters, name + dot);
    return language;
}

/* All directions of the text, "en-fr,fr-en". */
static bool list_languages(struct hd_recipe *r, const struct hd_corpus *text, heed_error *err)
{
    const int n = hd_corpus_n_directions(text);
    char *list = hd_alloc((size_t)n, sizeof(struct hd_direction) + 2, err), *at = list;
    for (int i = 0; list && i < n; i++) {
        const struct hd_direction *d = hd_corpus_direction(text, i);
        at += sprintf(at, "%s%s-%s", i ? "," : "", d->from, d->to);
    }
    hd_free(r->languages);
    return (r->languages = list) != NULL;
}

static bool guess_languages(struct hd_run *run, heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    char source[8], target[8], both[20];
    if (hd_corpus_n_directions(run->text) > 0)
        return list_languages(r, run->text, err);
    if (r->languages || run->vectors.n > 0 || r->src.n == 0 || r->tgt.n == 0 ||
        !language_of(r->src.at[0], source) || !language_of(r->tgt.at[0], target))
        return true;
    snprintf(both, sizeof both, "%s-%s", source, target);
    return (r->languages = hd_copy_string(both, err)) != NULL;
}

/* ---- a new run, one from a model, one that goes on -------------------------------------------------- */

/* Sentences that the model has no places for are left out, unless longer ones were asked for, which is refused. */
static bool plan_recipe(struct hd_run *run, const struct hd_config *c, heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    if (!hd_training_is_given(run->said, "max-length") && r->max_length >= hd_plan_room(c))
        r->max_length = hd_plan_room(c) > 1 ? hd_plan_room(c) - 1 : 1;
    return hd_plan_recipe(r, c, &run->facts, err);
}

static bool start_new(struct hd_run *run, heed_error *err)
{
    heed_training *said = run->said;
    struct hd_recipe *r = run->recipe;
    struct hd_vocab *source = NULL, *target = NULL;
    hd_plan_preset(&said->preset, &run->facts);
    struct hd_config c =
        hd_config_preset((enum hd_arch)said->preset.arch, (enum hd_size)said->preset.size);
    /* What can be refused is refused before minutes go into a vocabulary. */
    struct hd_config early;
    if (!hd_training_configure(said, &c, err))
        return false;
    if (run->vectors.n > 0)
        hd_run_fit_vectors(run, &c);
    hd_plan_positions(&c, said);
    if (!hd_plan_guidance(&c, r, err))
        return false;
    early = c;
    early.source_vocab = early.target_vocab = 100;
    if (!hd_plan_model(&early, false, said, err) || !make_vocabs(run, &source, &target, err)) {
        if (target != source)
            hd_vocab_free(target);
        hd_vocab_free(source);
        return false;
    }
    c.source_vocab = hd_vocab_size(source);
    c.target_vocab = hd_vocab_size(target);
    struct hd_net *net = NULL;
    bool ok = hd_plan_model(&c, source == target && run->vectors.n == 0, said, err) &&
              plan_recipe(run, &c, err) && guess_languages(run, err) &&
              (net = hd_net_new(&c, err)) != NULL;
    if (!ok) {
        if (target != source)
            hd_vocab_free(target);
        hd_vocab_free(source);
        return false;
    }
    hd_net_init(net, (uint64_t)r->seed);
    ok = hd_run_measure_vectors(run, net, err);
    run->model = hd_model_of(net, source, target, NULL, err);
    return ok && run->model != NULL;
}

/* A model that is started from keeps its vocabulary, so what is said of it must be what made it: a configuration that
 * `heed info --recipe` tells says it all again. */
static bool keep_vocab(struct hd_run *run, heed_error *err)
{
    static const char *const of_vocab[] = {"tokens",      "source-tokens", "vocab-size",
                                           "joint-vocab", "spm-type",      "normalize"};
    enum { N = sizeof of_vocab / sizeof *of_vocab };
    struct hd_recipe *r = run->recipe, made;
    const heed_model *model = run->model;
    const json_t *record = json_object_get(model->record, "recipe");
    if (r->spm.n > 0 || r->vocab_from)
        return hd_fail(err, HEED_BAD_OPTION,
                       "from keeps the vocabulary of %s, so %s cannot be chosen", r->from,
                       r->vocab_from ? "vocab-from" : "spm");
    const struct hd_vocab *cut = /* what text is cut by: labels are not */
        hd_vocab_kind(model->target) == HD_VOCAB_LABELS ? model->source : model->target;
    hd_recipe_init(&made);
    made.vocab_size = hd_vocab_size(cut);
    made.spm_type = made.normalize = HD_OPTION_OPEN; /* only a record tells */
    for (size_t i = 0; i < N; i++) {
        const char *was = json_string_value(json_object_get(record, of_vocab[i]));
        if (was)
            (void)heed_option_set_named(hd_recipe_options, &made, of_vocab[i], was, NULL);
    }
    made.tokens = (int)(hd_vocab_spm(cut) ? HD_VOCAB_SPM : hd_vocab_kind(cut));
    made.source_tokens =
        (int)(hd_vocab_spm(model->source) ? HD_VOCAB_SPM : hd_vocab_kind(model->source));
    made.joint_vocab = model->source == model->target;
    bool ok = true;
    for (size_t i = 0; ok && i < N; i++) {
        char a[64], b[64];
        const char *has = hd_recipe_text(&made, of_vocab[i], a);
        const char *now = hd_recipe_text(r, of_vocab[i], b);
        if (hd_training_is_given(run->said, of_vocab[i]) && strcmp(now, has) != 0)
            ok =
                hd_fail(err, HEED_BAD_OPTION, "from keeps the vocabulary of %s, so %s cannot be %s",
                        r->from, of_vocab[i], now);
        else if (*has)
            ok = heed_option_set_named(hd_recipe_options, r, of_vocab[i], has, err);
    }
    hd_recipe_release(&made);
    return ok;
}

/* The text has been read for the task that was said. */
static bool check_task_of(const heed_model *m, enum hd_task task, const char *path, heed_error *err)
{
    const struct hd_option_choice is = hd_config_choice("task", m->net->config.task);
    return m->net->config.task == (int)task ||
           hd_fail(err, HEED_BAD_OPTION, "%s is a model of task %s; say --task %s", path, is.text,
                   is.text);
}

/* What was said may be a larger model that can begin as this one: then it becomes that. All else is told by agree(). */
static bool grow(struct hd_run *run, heed_error *err)
{
    static const char *const sizes[] = {"ffn", "encoder-layers", "decoder-layers"};
    heed_model *m = run->model;
    struct hd_config larger = m->net->config;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (size_t i = 0; i < run->said->n_settings; i++) {
            const struct hd_setting *s = &run->said->settings[i];
            if (strcmp(s->option->name, sizes[k]) == 0 && !is_said_again(run->said, i) &&
                !hd_config_set(&larger, sizes[k], s->text, err))
                return false;
        }
    if (!hd_config_grows(&m->net->config, &larger))
        return true;
    struct hd_net *net = hd_config_check(&larger, err)
                             ? hd_net_grown(m->net, &larger, (uint64_t)run->recipe->seed, err)
                             : NULL;
    if (!net)
        return false;
    hd_net_free(m->net);
    m->net = net;
    run->has_grown = true;
    return true;
}

static bool start_from(struct hd_run *run, heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    run->model = hd_model_load_as(r->from, HD_COMPUTE_TO_TRAIN, err);
    const enum hd_task task = hd_training_task(run->said);
    if (!run->model || !check_task_of(run->model, task, r->from, err) || !keep_vocab(run, err) ||
        !grow(run, err))
        return false;
    hd_plan_text(r, task, &run->facts);
    if (r->rate < 0 && r->optimizer != HD_SGD)
        r->rate = 0.0003F; /* what is known already should not be shaken off */
    struct hd_config *c = &run->model->net->config;
    const struct existing from = {c, r->joint_vocab, r->from, ", or train without --from"};
    return fit_placeholders(run, run->model->source, run->model->target, err) &&
           hd_run_check_languages(run, run->model->source, err) && agree(run->said, &from, err) &&
           hd_run_agree_vectors(run, r->from, err) && hd_plan_guidance(c, r, err) &&
           plan_recipe(run, c, err) && guess_languages(run, err);
}

static bool is_same_list(const heed_option_list *a, const heed_option_list *b)
{
    bool is_same = a->n == b->n;
    for (size_t i = 0; is_same && i < a->n; i++)
        is_same = strcmp(a->at[i], b->at[i]) == 0;
    return is_same;
}

/* Options given again for a run that goes on: those that may change are taken, others must be as they were. */
static bool take_changes(struct hd_run *run, const struct hd_recipe *was, heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    for (const heed_option *o = hd_recipe_options; o->name; o++) {
        char a[64], b[64];
        if (!(o->flags & HEED_OPTION_RECORDED))
            continue;
        if (o->kind == HEED_OPTION_LIST) {
            if (!is_same_list((const void *)((const char *)r + o->offset),
                              (const void *)((const char *)was + o->offset)))
                return hd_fail(err, HEED_BAD_OPTION,
                               "%s differs from the run that is saved in %s; use the same, another "
                               "--out, or --fresh",
                               o->name, run->state_path);
            continue;
        }
        const char *then = heed_option_text(o, was, b, sizeof b);
        if (!hd_training_is_given(run->said, o->name)) {
            if (*then && !heed_option_set(o, r, then, err))
                return false;
            continue;
        }
        const char *now = heed_option_text(o, r, a, sizeof a);
        if (strcmp(now, then) == 0)
            continue;
        if (o->flags & HEED_OPTION_FIXED)
            return hd_fail(
                err, HEED_BAD_OPTION,
                "%s is %s, but the run that is saved in %s has %s, which cannot change on the "
                "way; use %s, another --out, or --fresh",
                o->name, now, run->state_path, *then ? then : "none", *then ? then : "none");
        hd_journal_say(&run->journal, "%s changes from %s to %s", o->name, then, now);
    }
    return true;
}

static bool go_on(struct hd_run *run, struct hd_saved_state *saved, heed_error *err)
{
    struct hd_recipe was;
    struct hd_config c;
    hd_recipe_init(&was);
    const struct existing before = {&c, saved->source == saved->target, "the run that is saved",
                                    ", or start over with --fresh"};
    bool ok = hd_recipe_from_json(&was, saved->recipe, err) && take_changes(run, &was, err) &&
              hd_config_from_json(&c, saved->config, err) && hd_config_check(&c, err) &&
              agree(run->said, &before, err);
    hd_recipe_release(&was);
    if (ok && saved->fingerprint != run->fingerprint)
        ok = hd_fail(
            err, HEED_BAD_OPTION,
            "the text is not the one that %s was trained on so far; use the same text, another "
            "--out, or --fresh",
            run->stem);
    for (int i = 0; i < HD_N_VARIATIONS; i++) /* a run of before there was any */
        run->recipe->vary.of[i] = run->recipe->vary.of[i] > 0 ? run->recipe->vary.of[i] : 0;
    struct hd_net *net = ok ? hd_net_new(&c, err) : NULL;
    if (!net)
        return false;
    run->model = hd_model_of(net, saved->source, saved->target, NULL, err);
    saved->source = saved->target = NULL;
    if (run->model && saved->shift)
        json_object_set(run->model->record, "alignment_shift", saved->shift);
    return run->model && hd_plan_recipe(run->recipe, &c, &run->facts, err);
}

bool hd_run_start(struct hd_run *run, struct hd_saved_state *saved, heed_error *err)
{
    const bool ok = saved               ? go_on(run, saved, err)
                    : run->recipe->from ? start_from(run, err)
                                        : start_new(run, err);
    return ok &&
           (run->vectors.n == 0 || hd_model_set_feature(run->model, &run->vectors.feature, err));
}
