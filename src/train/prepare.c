/* prepare.c -- from what the user said to a run that can begin, or go on. */
#include "train/run.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "model/fields.h"
#include "text/vocab_file.h"
#include "text/vocab_train.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HOLD_OUT = 200,  /* without dev text every so-manyth pair is for validation, */
    MOST_DEV = 2000, /* which takes so many of them at most */
};

/* ---- names --------------------------------------------------------------------------------------- */

/* A model must not take the place of what it is made from. */
static bool spare_texts(const struct hd_recipe *r, heed_error *err)
{
    const struct hd_names *const all[] = {&r->src,     &r->tgt,     &r->tsv, &r->dev_src,
                                          &r->dev_tgt, &r->dev_tsv, &r->spm};
    struct stat out, in;
    if (stat(r->out, &out) != 0)
        return true;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < all[i]->n; k++)
            if (stat(all[i]->at[k], &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
                return hd_fail(err, HEED_BAD_OPTION,
                               "out: the model would take the place of %s; choose another name",
                               all[i]->at[k]);
    return true;
}

static bool name_files(struct hd_run *run, heed_error *err)
{
    const char *out = run->recipe->out, *ending = ".safetensors";
    if (!out || !*out)
        return hd_fail(err, HEED_BAD_OPTION,
                       "out is missing; say where the model should go: --out MODEL.safetensors");
    const size_t n = strlen(out), e = strlen(ending);
    const bool has_ending = n > e && strcmp(out + n - e, ending) == 0;
    const size_t stem = has_ending ? n - e : n;
    struct stat st;
    if (out[n - 1] == '/' || (stat(out, &st) == 0 && S_ISDIR(st.st_mode)))
        return hd_fail(err, HEED_BAD_OPTION,
                       "out: %s is a folder; name a file in it, such as %s%smodel.safetensors", out,
                       out, out[n - 1] == '/' ? "" : "/");
    if (!spare_texts(run->recipe, err))
        return false;
    run->stem = hd_alloc(stem + 1, 1, err);
    run->state_path = hd_alloc(stem + 32, 1, err);
    if (!run->stem || !run->state_path)
        return false;
    memcpy(run->stem, out, stem);
    snprintf(run->state_path, stem + 32, "%s.state.safetensors", run->stem);
    return true;
}

/* Is `name` that of a file that was being written to `target` (base/file.c), TARGET.<process>-<number>.tmp? */
static bool is_unfinished(const char *name, const char *target)
{
    const size_t n = strlen(target);
    if (strncmp(name, target, n) != 0 || name[n] != '.')
        return false;
    const char *rest = name + n + 1;
    const size_t process = strspn(rest, "0123456789");
    const size_t number = rest[process] == '-' ? strspn(rest + process + 1, "0123456789") : 0;
    return process > 0 && number > 0 && strcmp(rest + process + 1 + number, ".tmp") == 0;
}

/* Remove what runs have left that were killed while they wrote; nobody else writes this model now. */
static void sweep(const struct hd_run *run)
{
    const char *out = run->recipe->out, *slash = strrchr(out, '/');
    const size_t n_folder = slash ? (size_t)(slash + 1 - out) : 0;
    char folder[4096], names[3][4096], path[8192];
    snprintf(folder, sizeof folder, "%.*s", (int)n_folder, out);
    snprintf(names[0], sizeof names[0], "%s", out + n_folder);
    snprintf(names[1], sizeof names[1], "%s", run->state_path + n_folder);
    snprintf(names[2], sizeof names[2], "%s.svg", run->stem + n_folder);
    DIR *files = opendir(n_folder ? folder : ".");
    for (const struct dirent *file; files && (file = readdir(files));)
        for (int i = 0; i < 3; i++)
            if (is_unfinished(file->d_name, names[i])) {
                snprintf(path, sizeof path, "%s%s", folder, file->d_name);
                (void)unlink(path);
            }
    if (files)
        closedir(files);
}

/* ---- text ---------------------------------------------------------------------------------------- */

static bool keep_on(void *context)
{
    struct hd_journal *j = context;
    heed_training_event event = {.news = HEED_TRAINING_WAITS};
    return hd_journal_tell(j, &event, NULL);
}

struct reading {
    struct hd_journal *journal;
    const char *what;
};

static bool show_reading(void *context, double share)
{
    const struct reading *r = context;
    heed_training_event event = {.news = HEED_TRAINING_PREPARES, .text = r->what, .share = share};
    return hd_journal_tell(r->journal, &event, NULL);
}

static struct hd_corpus *open_text(struct hd_run *run, const char *what, const struct hd_names *src,
                                   const struct hd_names *tgt, const struct hd_names *tsv,
                                   heed_error *err)
{
    struct reading reading = {&run->journal, what};
    const bool is_tsv = tsv->n > 0;
    const struct hd_corpus_files files = {.source =
                                              (const char *const *)(is_tsv ? tsv->at : src->at),
                                          .target = is_tsv ? NULL : (const char *const *)tgt->at,
                                          .n_source = (int)(is_tsv ? tsv->n : src->n),
                                          .n_target = is_tsv ? 0 : (int)tgt->n,
                                          .is_tsv = is_tsv};
    char spool[4096];
    snprintf(spool, sizeof spool, run->ranks.n > 1 ? "%s.rank-%d" : "%s", run->recipe->out,
             run->ranks.rank);
    const struct hd_corpus_options options = {.spool = spool,
                                              .skip_bad = run->recipe->skip_bad,
                                              .progress = show_reading,
                                              .context = &reading};
    struct hd_corpus *corpus = hd_corpus_open(&files, &options, err);
    char *left_out = corpus ? hd_corpus_left_out(corpus, NULL) : NULL;
    if (left_out && *left_out)
        hd_journal_say(&run->journal, "%s: %s", what, left_out);
    hd_free(left_out);
    return corpus;
}

/* How often standard input is named. */
static int count_stdin(const struct hd_recipe *r)
{
    int n_named = 0;
    const struct hd_names *lists[] = {&r->src,     &r->tgt,     &r->tsv,
                                      &r->dev_src, &r->dev_tgt, &r->dev_tsv};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t k = 0; k < lists[i]->n; k++)
            n_named += strcmp(lists[i]->at[k], "-") == 0;
    return n_named;
}

static bool read_text(struct hd_run *run, heed_error *err)
{
    const struct hd_recipe *r = run->recipe;
    if (count_stdin(r) > 1)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "standard input (-) can be read only once; put one of the texts into a file");
    if (run->ranks.n > 1 && count_stdin(r) > 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "standard input reaches one of the %d ranks only; put the text into a file",
                       run->ranks.n);
    if (r->tsv.n == 0 && (r->src.n == 0 || r->tgt.n == 0))
        return hd_fail(err, HEED_BAD_OPTION,
                       "there is no text: name it with --src and --tgt, or with --tsv");
    if (r->tsv.n > 0 && r->src.n + r->tgt.n > 0)
        return hd_fail(err, HEED_BAD_OPTION, "tsv is given and src or tgt as well; choose one way");
    if ((r->dev_src.n > 0) != (r->dev_tgt.n > 0))
        return hd_fail(err, HEED_BAD_OPTION, "dev-src and dev-tgt go together; one is missing");
    if (r->dev_tsv.n > 0 && r->dev_src.n > 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "dev-tsv is given and dev-src as well; choose one way");
    run->text = open_text(run, "reading the text", &r->src, &r->tgt, &r->tsv, err);
    if (!run->text)
        return false;
    run->facts = hd_look_at_text(run->text);
    run->fingerprint = hd_corpus_fingerprint(run->text);
    if (r->dev_src.n + r->dev_tsv.n == 0) {
        if (run->facts.n_pairs >= HOLD_OUT)
            return true;
        return hd_fail(err, HEED_BAD_OPTION,
                       "there are only %zu pairs, too few to hold some out for validation; give "
                       "--dev-src and --dev-tgt, or --dev-tsv",
                       run->facts.n_pairs);
    }
    run->dev_text =
        open_text(run, "reading the dev text", &r->dev_src, &r->dev_tgt, &r->dev_tsv, err);
    if (run->dev_text)
        run->fingerprint = run->fingerprint * 31 + hd_corpus_fingerprint(run->dev_text);
    return run->dev_text != NULL;
}

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

static struct hd_vocab *learn_vocab(struct hd_run *run, unsigned sides, heed_error *err)
{
    static const char *const rules[] = {"nmt_nfkc", "nfkc", "identity"};
    const struct hd_recipe *r = run->recipe;
    const int kind = sides == HD_VOCAB_SOURCE ? r->source_tokens : r->tokens;
    const struct hd_vocab_plan plan = {.kind = (enum hd_vocab_kind)kind,
                                       .size = kind == r->tokens ? r->vocab_size : 0,
                                       .is_bpe = r->spm_type == 1,
                                       .seed = (uint64_t)r->seed,
                                       .normalise = rules[r->normalize]};
    heed_training_event event = {.news = HEED_TRAINING_PREPARES, .text = "learning the vocabulary"};
    if (!hd_journal_tell(&run->journal, &event, NULL)) {
        hd_fail(err, HEED_CANCELLED, "stopped before training began; nothing was written");
        return NULL;
    }
    struct hd_vocab *vocab =
        run->ranks.rank == 0 ? hd_vocab_learn(run->text, sides, &plan, keep_on, &run->journal, err)
                             : NULL;
    if (run->ranks.n == 1 || (run->ranks.rank == 0 && !vocab))
        return vocab;
    return tell_vocab(run, plan.kind, vocab, err);
}

static bool make_vocabs(struct hd_run *run, struct hd_vocab **source, struct hd_vocab **target,
                        heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    const bool is_given = r->spm.n > 0;
    if (r->spm.n > 2)
        return hd_fail(err, HEED_BAD_OPTION, "spm takes one model for both sides, or two, not %zu",
                       r->spm.n);
    if (is_given) {
        r->tokens = r->source_tokens = HD_VOCAB_SPM;
        r->joint_vocab = r->spm.n == 1;
        *source = hd_vocab_open(r->spm.at[0], HD_VOCAB_SPM, err);
        *target = !*source         ? NULL
                  : r->joint_vocab ? *source
                                   : hd_vocab_open(r->spm.at[1], HD_VOCAB_SPM, err);
    } else {
        hd_plan_text(r, &run->facts);
        if (r->joint_vocab && r->source_tokens != r->tokens)
            return hd_fail(err, HEED_BAD_OPTION,
                           "joint-vocab is yes, but source-tokens and tokens differ; one "
                           "vocabulary has one kind");
        *source = learn_vocab(run, r->joint_vocab ? HD_VOCAB_BOTH : HD_VOCAB_SOURCE, err);
        *target = !*source         ? NULL
                  : r->joint_vocab ? *source
                                   : learn_vocab(run, HD_VOCAB_TARGET, err);
    }
    hd_plan_text(r, &run->facts);
    if (!*target)
        return false;
    static const char *const what[] = {"subwords", "words", "characters"};
    if (r->joint_vocab)
        hd_journal_say(&run->journal, "vocabulary: %d %s%s, shared by both sides",
                       hd_vocab_size(*source), what[r->tokens],
                       is_given ? "" : " learned from the text");
    else
        hd_journal_say(&run->journal, "vocabulary: %d %s of the source, %d %s of the target",
                       hd_vocab_size(*source), what[r->source_tokens], hd_vocab_size(*target),
                       what[r->tokens]);
    if (hd_vocab_end(*target) < 0)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "the target's vocabulary has no end marker </s>, so no model could learn to stop");
    return true;
}

/* ---- the model ------------------------------------------------------------------------------------- */

static bool is_setting(void *context, const char *name)
{
    return hd_training_has_setting(context, name);
}

static bool apply_settings(const heed_training *said, struct hd_config *c, heed_error *err)
{
    for (size_t i = 0; i < said->n_settings; i++)
        if (!hd_config_set(c, said->settings[i].name, said->settings[i].value, err))
            return false;
    return true;
}

/* A size is many fields at once: what was said must make the model that is there. */
static bool agree_in_size(const heed_training *said, const struct hd_config *c, bool is_joint,
                          const char *whose, heed_error *err)
{
    struct hd_config again;
    if (!said->size)
        return true;
    if (!hd_config_preset_named(&again, hd_field_value(hd_field_find("arch"), c->arch).s,
                                said->size, err) ||
        !apply_settings(said, &again, err))
        return false;
    again.source_vocab = c->source_vocab;
    again.target_vocab = c->target_vocab;
    const bool is_possible = hd_plan_model(&again, is_joint, is_setting, (void *)said, NULL);
    json_t *a = hd_config_to_json(c), *b = hd_config_to_json(&again);
    const bool is_same = is_possible && json_equal(a, b);
    json_decref(a);
    json_decref(b);
    return is_same || hd_fail(err, HEED_BAD_OPTION,
                              "size %s would be another model than %s has; leave it out, or start "
                              "over with --fresh",
                              said->size, whose);
}

/* A configuration that exists already (of a model to start from, of a run to go on with) is not changed by what was said: that would
 * be another model. What is only read, such as the alignment layer, may. */
static bool agree(const heed_training *said, const struct hd_config *c, bool is_joint,
                  const char *whose, heed_error *err)
{
    if (said->arch && strcmp(said->arch, hd_field_value(hd_field_find("arch"), c->arch).s) != 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "arch is %s, but %s is a %s; leave it out or start over with --fresh",
                       said->arch, whose, hd_field_value(hd_field_find("arch"), c->arch).s);
    for (size_t i = 0; i < said->n_settings; i++) {
        struct hd_config changed = *c;
        const char *name = said->settings[i].name, *value = said->settings[i].value;
        if (!hd_config_set(&changed, name, value, err))
            return false;
        json_t *a = hd_config_to_json(c), *b = hd_config_to_json(&changed);
        const bool is_same = json_equal(a, b);
        json_decref(a);
        json_decref(b);
        if (!is_same)
            return hd_fail(err, HEED_BAD_OPTION,
                           "%s %s would be another model than %s has; leave it out, or start over "
                           "with --fresh",
                           name, value, whose);
    }
    return agree_in_size(said, c, is_joint, whose, err);
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

static bool guess_languages(struct hd_recipe *r, heed_error *err)
{
    char source[8], target[8], both[20];
    if (r->languages || r->src.n == 0 || !language_of(r->src.at[0], source) ||
        !language_of(r->tgt.at[0], target))
        return true;
    snprintf(both, sizeof both, "%s-%s", source, target);
    return (r->languages = hd_copy_string(both, err)) != NULL;
}

static double millions(size_t n)
{
    return (double)n / 1e6;
}

/* Of how many pairs that are held out one is translated at each validation. */
static size_t held_per_dev(const struct hd_run *run)
{
    const size_t n_held = run->facts.n_pairs / HOLD_OUT;
    return n_held > MOST_DEV ? (n_held + MOST_DEV - 1) / MOST_DEV : 1;
}

/* What was chosen, and why. */
static void tell_choices(struct hd_run *run)
{
    const struct hd_recipe *r = run->recipe;
    const struct hd_config *c = &run->model->net->config;
    const heed_training *said = run->said;
    const bool is_transformer = c->arch == HD_TRANSFORMER;
    char layers[64], texts[5][64];
    snprintf(layers, sizeof layers, "%d+%d layers", c->encoder_layers, c->decoder_layers);
    hd_journal_say(
        &run->journal, "model: %s, %s of %d%s, %.2f million parameters%s",
        hd_field_value(hd_field_find("arch"), c->arch).s, layers, c->dim,
        is_transformer && c->norm == HD_NORM_PRE ? ", pre-norm" : "", millions(run->learner.size),
        r->from                                              ? ", as it was"
        : said->size || hd_training_has_setting(said, "dim") ? ""
                                                             : ", a size that suits so much text");
    hd_journal_say(&run->journal,
                   "recipe: %s, rate %s after %d updates of warm-up, then %s; batches of %s target "
                   "pieces; dropout %s",
                   hd_recipe_text(r, hd_recipe_find("optimizer"), texts[0]),
                   hd_recipe_text(r, hd_recipe_find("rate"), texts[1]), r->warmup,
                   hd_recipe_text(r, hd_recipe_find("schedule"), texts[2]),
                   hd_recipe_text(r, hd_recipe_find("batch-tokens"), texts[3]),
                   hd_recipe_text(r, hd_recipe_find("dropout"), texts[4]));
    char until[128] = "";
    size_t at = 0;
    if (r->updates > 0)
        at += (size_t)snprintf(until + at, sizeof until - at, "%d updates, ", r->updates);
    if (r->epochs > 0)
        at += (size_t)snprintf(until + at, sizeof until - at, "%d epochs, ", r->epochs);
    if (r->hours > 0)
        at += (size_t)snprintf(until + at, sizeof until - at, "%g hours, ", (double)r->hours);
    if (r->patience > 0)
        at +=
            (size_t)snprintf(until + at, sizeof until - at, "%d validations without a better %s, ",
                             r->patience, hd_metric_name(r));
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

/* ---- a new run, one from a model, one that goes on -------------------------------------------------- */

/* Sentences that the model has no places for are left out, unless longer ones were asked for, which is refused. */
static bool plan_recipe(struct hd_run *run, const struct hd_config *c, heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    const bool is_given = run->said->is_given[hd_recipe_find("max-length") - hd_recipe_fields];
    if (!is_given && r->max_length >= hd_plan_room(c))
        r->max_length = hd_plan_room(c) > 1 ? hd_plan_room(c) - 1 : 1;
    return hd_plan_recipe(r, c, &run->facts, err);
}

static bool start_new(struct hd_run *run, heed_error *err)
{
    const heed_training *said = run->said;
    struct hd_recipe *r = run->recipe;
    struct hd_config c;
    struct hd_vocab *source = NULL, *target = NULL;
    const char *arch = said->arch ? said->arch : hd_plan_arch(&run->facts);
    const char *size = said->size ? said->size : hd_plan_size(&run->facts);
    /* What can be refused is refused before minutes go into a vocabulary. */
    struct hd_config early;
    if (!hd_config_preset_named(&c, arch, size, err) || !apply_settings(said, &c, err))
        return false;
    early = c;
    early.source_vocab = early.target_vocab = 100;
    if (!hd_plan_model(&early, false, is_setting, (void *)said, err) ||
        !make_vocabs(run, &source, &target, err)) {
        if (target != source)
            hd_vocab_free(target);
        hd_vocab_free(source);
        return false;
    }
    c.source_vocab = hd_vocab_size(source);
    c.target_vocab = hd_vocab_size(target);
    struct hd_net *net = NULL;
    bool ok = hd_plan_model(&c, source == target, is_setting, (void *)said, err) &&
              plan_recipe(run, &c, err) && guess_languages(r, err) &&
              (net = hd_net_new(&c, err)) != NULL;
    if (!ok) {
        if (target != source)
            hd_vocab_free(target);
        hd_vocab_free(source);
        return false;
    }
    hd_net_init(net, (uint64_t)r->seed);
    run->model = hd_model_of(net, source, target, NULL, err);
    return run->model != NULL;
}

/* A model that is started from keeps its vocabulary, so what is said of it must be what made it: a configuration that
 * `heed info --recipe` tells says it all again. */
static bool keep_vocab(struct hd_run *run, heed_error *err)
{
    static const char *const of_vocab[] = {"tokens",      "source-tokens", "vocab-size",
                                           "joint-vocab", "spm-type",      "normalize"};
    struct hd_recipe *r = run->recipe, made;
    const heed_model *model = run->model;
    const json_t *record = json_object_get(model->record, "recipe");
    if (r->spm.n > 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "from keeps the vocabulary of %s, so spm cannot be chosen", r->from);
    hd_recipe_init(&made);
    made.vocab_size = hd_vocab_size(model->target);
    for (size_t i = 0; i < sizeof of_vocab / sizeof *of_vocab; i++) {
        const char *was = json_string_value(json_object_get(record, of_vocab[i]));
        if (was)
            (void)hd_recipe_set(&made, hd_recipe_find(of_vocab[i]), was, NULL);
    }
    made.tokens = (int)hd_vocab_kind(model->target);
    made.source_tokens = (int)hd_vocab_kind(model->source);
    made.joint_vocab = model->source == model->target;
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof of_vocab / sizeof *of_vocab; i++) {
        const struct hd_recipe_field *f = hd_recipe_find(of_vocab[i]);
        char a[64], b[64];
        const char *has = hd_recipe_text(&made, f, a), *now = hd_recipe_text(r, f, b);
        if (run->said->is_given[f - hd_recipe_fields] && strcmp(now, has) != 0)
            ok = hd_fail(err, HEED_BAD_OPTION,
                         "from keeps the vocabulary of %s, which has %s %s, so %s cannot be chosen",
                         r->from, f->name, has, now);
        else
            ok = hd_recipe_set(r, f, has, err);
    }
    hd_recipe_release(&made);
    return ok;
}

static bool start_from(struct hd_run *run, heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    run->model = hd_model_load(r->from, err);
    if (!run->model || !keep_vocab(run, err))
        return false;
    hd_plan_text(r, &run->facts);
    if (r->rate < 0 && r->optimizer != HD_SGD)
        r->rate = 0.0003F; /* what is known already should not be shaken off */
    const struct hd_config *c = &run->model->net->config;
    return agree(run->said, c, r->joint_vocab, r->from, err) && plan_recipe(run, c, err) &&
           guess_languages(r, err);
}

/* Options given again for a run that goes on: those that may change are taken, others must be as they were. */
static bool take_changes(struct hd_run *run, const struct hd_recipe *was, heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    for (int i = 0; i < hd_n_recipe_fields; i++) {
        const struct hd_recipe_field *f = &hd_recipe_fields[i];
        char a[64], b[64];
        if (f->change == HD_LOCAL)
            continue;
        if (f->type == HD_R_LIST) {
            const struct hd_names *now = (const void *)((const char *)r + f->offset),
                                  *then = (const void *)((const char *)was + f->offset);
            bool is_same = now->n == then->n;
            for (size_t k = 0; is_same && k < now->n; k++)
                is_same = strcmp(now->at[k], then->at[k]) == 0;
            if (!is_same)
                return hd_fail(err, HEED_BAD_OPTION,
                               "%s differs from the run that is saved in %s; use the same, another "
                               "--out, or --fresh",
                               f->name, run->state_path);
            continue;
        }
        const char *then = hd_recipe_text(was, f, b);
        if (!run->said->is_given[i]) {
            if (*then && !hd_recipe_set(r, f, then, err))
                return false;
            continue;
        }
        const char *now = hd_recipe_text(r, f, a);
        if (strcmp(now, then) == 0)
            continue;
        if (f->change == HD_FIXED)
            return hd_fail(
                err, HEED_BAD_OPTION,
                "%s is %s, but the run that is saved in %s has %s, which cannot change on the "
                "way; use %s, another --out, or --fresh",
                f->name, now, run->state_path, *then ? then : "none", *then ? then : "none");
        hd_journal_say(&run->journal, "%s changes from %s to %s", f->name, then, now);
    }
    return true;
}

static bool go_on(struct hd_run *run, struct hd_saved_state *saved, heed_error *err)
{
    struct hd_recipe was;
    struct hd_config c;
    hd_recipe_init(&was);
    bool ok = hd_recipe_from_json(&was, saved->recipe, err) && take_changes(run, &was, err) &&
              hd_config_from_json(&c, saved->config, err) && hd_config_check(&c, err) &&
              agree(run->said, &c, saved->source == saved->target, "the run that is saved", err);
    hd_recipe_release(&was);
    if (ok && saved->fingerprint != run->fingerprint)
        ok = hd_fail(
            err, HEED_BAD_OPTION,
            "the text is not the one that %s was trained on so far; use the same text, another "
            "--out, or --fresh",
            run->stem);
    struct hd_net *net = ok ? hd_net_new(&c, err) : NULL;
    if (!net)
        return false;
    run->model = hd_model_of(net, saved->source, saved->target, NULL, err);
    saved->source = saved->target = NULL;
    return run->model && hd_plan_recipe(run->recipe, &c, &run->facts, err);
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
    const struct hd_feed_options feed = {.seed = (uint64_t)r->seed,
                                         .tokens = r->batch_tokens * r->accumulate,
                                         .max_length = r->max_length,
                                         .subword_sampling = r->subword_sampling,
                                         .hold_out = run->dev_text ? 0 : HOLD_OUT};
    run->feed = hd_feed_new(run->text, m->source, m->target, &feed, run->threads, err);
    const struct hd_corpus *dev_text = run->dev_text ? run->dev_text : run->text;
    const size_t first = run->dev_text ? 0 : HOLD_OUT - 1,
                 step = run->dev_text ? 1 : HOLD_OUT * held_per_dev(run);
    /* The far end of what no model was trained for is not looked at: its memory has no bound, or it has no positions. */
    const int room = hd_plan_room(&m->net->config),
              longest = room < 4 * r->max_length ? room : 4 * r->max_length;
    run->dev =
        run->feed ? hd_dev_new(dev_text, first, step, m->source, m->target, longest, err) : NULL;
    if (!run->dev)
        return false;
    run->config_json = dump(hd_config_to_json(&m->net->config));
    run->recipe_json = dump(hd_recipe_to_json(r));
    return (run->config_json && run->recipe_json) ||
           hd_fail(err, HEED_NO_MEMORY, "there is no memory left");
}

bool hd_run_save(struct hd_run *run, bool is_good, heed_error *err)
{
    const struct hd_identity identity = {run->config_json, run->recipe_json, run->fingerprint,
                                         run->model->source, run->model->target};
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

bool hd_run_prepare(struct hd_run *run, heed_error *err)
{
    struct hd_recipe *r = run->recipe;
    if (!name_files(run, err) || !hd_plan_check(r, err) || !hd_ranks_join(&run->ranks, err))
        return false;
    run->journal.is_silent = run->ranks.rank > 0;
    if (run->ranks.rank == 0 && !hd_journal_open(&run->journal, run->stem, err))
        return false;
    if (run->ranks.rank == 0)
        sweep(run);
    const int cores = hd_cores() / run->ranks.n_here;
    run->threads = hd_pool_new(r->threads != HD_CHOOSE ? r->threads : cores > 1 ? cores : 1, err);
    if (!run->threads || !read_text(run, err))
        return false;
    if (r->fresh && run->ranks.rank == 0 && unlink(run->state_path) != 0 && errno != ENOENT)
        return hd_fail(err, HEED_BAD_FILE, "%s cannot be removed: %s", run->state_path,
                       strerror(errno));
    hd_journal_say(&run->journal,
                   "text: %zu pairs, about %.2f million source and %.2f million target words",
                   run->facts.n_pairs, millions(run->facts.n_source_words),
                   millions(run->facts.n_target_words));
    heed_error why = {0};
    struct hd_saved_state *saved = open_state(run, &why);
    if (hd_failed(&why)) {
        hd_state_close(saved);
        return hd_fail(err, why.code, "%s", why.message);
    }
    run->is_resumed = saved != NULL;
    bool ok = saved ? go_on(run, saved, err) : r->from ? start_from(run, err) : start_new(run, err);
    ok = ok && make_tools(run, err);
    if (ok)
        tell_choices(run);
    run->state.progress.factor = 1;
    if (ok)
        run->curves = (struct hd_curves){.metric = hd_metric_name(r),
                                         .has_score = r->valid_metric != HD_VALID_CE};
    if (ok && saved) {
        ok = hd_state_restore(saved, false, &run->learner, &run->state, err);
        if (ok)
            hd_curves_read(&run->curves, run->stem, run->state.progress.update);
        if (ok)
            hd_journal_say(&run->journal, "goes on after update %ld", run->state.progress.update);
    } else if (ok)
        ok = hd_run_save(run, true, err);
    hd_state_close(saved);
    return ok;
}

void hd_run_release(struct hd_run *run)
{
    hd_learner_release(&run->learner);
    hd_run_state_release(&run->state);
    hd_dev_free(run->dev);
    hd_feed_free(run->feed);
    hd_model_free(run->model);
    hd_corpus_free(run->text);
    hd_corpus_free(run->dev_text);
    hd_pool_free(run->threads);
    hd_curves_release(&run->curves);
    hd_journal_close(&run->journal);
    free(run->config_json);
    free(run->recipe_json);
    hd_free(run->stem);
    hd_free(run->state_path);
}
