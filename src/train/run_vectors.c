/* run_vectors.c -- vectors as the source of a run. */
#include "train/run_vectors.h"

#include "base/error.h"
#include "model/fields.h"

#include <string.h>

bool hd_run_has_vectors(const struct hd_run *run)
{
    const heed_option_list *src = &run->recipe->src;
    return hd_training_source(run->said) == HD_SOURCE_VECTORS ||
           (!hd_training_is_given(run->said, "source") && src->n > 0 &&
            hd_is_vector_path(src->at[0]));
}

static bool open_list(struct hd_vectors *v, const heed_option_list *files, heed_error *err)
{
    for (size_t i = 0; i < files->n; i++) {
        if (!hd_is_vector_path(files->at[i]))
            return hd_fail(err, HEED_BAD_OPTION,
                           "%s is no file of vectors, by its name; those end in .safetensors, .npz "
                           "or .npy, and heed features makes them of sound and pictures",
                           files->at[i]);
        if (!hd_vectors_open(v, files->at[i], err))
            return false;
    }
    return true;
}

bool hd_run_open_vectors(struct hd_run *run, heed_error *err)
{
    const struct hd_recipe *r = run->recipe;
    if (r->tsv.n + r->pair.n + r->dev_tsv.n + r->dev_pair.n > 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "vectors are no text, so tsv and pair cannot hold them; name them with "
                       "--src FILE.safetensors and their targets with --tgt FILE");
    if (r->src.n == 0 || r->tgt.n == 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "there is nothing to learn from: name vectors with --src FILE.safetensors "
                       "and a line for each with --tgt FILE");
    for (size_t i = 0; i < r->tgt.n; i++)
        if (strcmp(r->tgt.at[i], "-") == 0)
            return hd_fail(err, HEED_BAD_OPTION,
                           "the targets of vectors are not read from standard input; put them into "
                           "a file");
    if (!open_list(&run->vectors, &r->src, err) || !open_list(&run->dev_vectors, &r->dev_src, err))
        return false;
    if (run->dev_vectors.n > 0 && (run->dev_vectors.width != run->vectors.width ||
                                   run->dev_vectors.has_grids != run->vectors.has_grids))
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: its vectors have width %d%s, but those to learn from have %d%s",
                       r->dev_src.at[0], run->dev_vectors.width,
                       run->dev_vectors.has_grids ? " and grids" : "", run->vectors.width,
                       run->vectors.has_grids ? " and grids" : "");
    return true;
}

static bool same_number(const struct hd_vectors *v, const struct hd_corpus *text,
                        const heed_option_list *src, const heed_option_list *tgt, heed_error *err)
{
    const size_t n_lines = hd_corpus_counts(text)->n_lines;
    return (size_t)v->n == n_lines ||
           hd_fail(err, HEED_BAD_TEXT,
                   "%s%s has %d items, but %s%s has %zu lines; every item has its own", src->at[0],
                   src->n > 1 ? " and others" : "", v->n, tgt->at[0],
                   tgt->n > 1 ? " and others" : "", n_lines);
}

bool hd_run_check_vectors(const struct hd_run *run, heed_error *err)
{
    const struct hd_recipe *r = run->recipe;
    return same_number(&run->vectors, run->text, &r->src, &r->tgt, err) &&
           (!run->dev_text ||
            same_number(&run->dev_vectors, run->dev_text, &r->dev_src, &r->dev_tgt, err));
}

void hd_run_fit_vectors(const struct hd_run *run, struct hd_config *c)
{
    c->source = HD_SOURCE_VECTORS;
    c->source_width = run->vectors.width;
    c->has_grids = run->vectors.has_grids;
}

bool hd_run_agree_vectors(const struct hd_run *run, const char *name, heed_error *err)
{
    const struct hd_config *c = &run->model->net->config;
    const bool reads = c->source == HD_SOURCE_VECTORS, has = run->vectors.n > 0;
    if (reads != has)
        return hd_fail(err, HEED_BAD_OPTION, "%s reads %s, but --src is %s", name,
                       hd_config_choice("source", c->source).text,
                       has ? "a file of vectors" : "none of vectors");
    if (has && (c->source_width != run->vectors.width || c->has_grids != run->vectors.has_grids))
        return hd_fail(err, HEED_BAD_OPTION,
                       "%s reads vectors of width %d%s, but those of --src have %d%s", name,
                       c->source_width, c->has_grids ? " and grids" : "", run->vectors.width,
                       run->vectors.has_grids ? " and grids" : "");
    return true;
}

bool hd_run_measure_vectors(struct hd_run *run, struct hd_net *net, heed_error *err)
{
    return run->vectors.n == 0 ||
           hd_vectors_statistics(&run->vectors, net->source.mean->x, net->source.scale->x, err);
}
