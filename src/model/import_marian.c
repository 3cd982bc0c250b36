/* import_marian.c -- Marian's models, .npz or model.bin: its configuration as ours (marian_config.c), its tensors under our names
 * (marian_transformer.c, marian_rnn.c), its vocabularies. */
#include "model/import.h"
#include "model/import_marian.h"

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "format/marian_bin.h"
#include "format/npz.h"
#include "text/vocab_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- tables of words -------------------------------------------------------------------------------------------------------- */

bool hd_marian_take(struct hd_marian *m, const char *theirs, const char *format, ...)
{
    char ours[96];
    va_list args;
    va_start(args, format);
    vsnprintf(ours, sizeof ours, format, args);
    va_end(args);
    return hd_foreign_take(&m->in, theirs, false, ours);
}

/* The first of these names that the file has, else the first. */
static const char *first_of(const struct hd_marian *m, const char *a, const char *b)
{
    return !hd_foreign_find(&m->in, a) && hd_foreign_find(&m->in, b) ? b : a;
}

static bool take_tables(struct hd_marian *m)
{
    const struct hd_config *c = &m->in.net->config;
    const bool is_one = c->tie == HD_TIE_ALL || c->tie == HD_TIE_SOURCE_TARGET;
    if (is_one && !hd_marian_take(m, "Wemb", "embed"))
        return false;
    if (!is_one && (!hd_marian_take(m, first_of(m, "encoder_Wemb", "Wemb"), "source.embed") ||
                    !hd_marian_take(m, first_of(m, "decoder_Wemb", "Wemb_dec"), "target.embed")))
        return false;
    if (m->in.net->head.is_tied)
        return true;
    const bool is_recurrent = c->arch != HD_TRANSFORMER;
    const char *straight = is_recurrent ? first_of(m, "decoder_ff_logit_l2_W", "ff_logit_W")
                                        : "decoder_ff_logit_out_W",
               *turned = is_recurrent ? "decoder_ff_logit_l2_Wt" : "decoder_ff_logit_out_Wt";
    if (hd_foreign_find(&m->in, straight))
        return hd_marian_take(m, straight, "output.W");
    return hd_foreign_take(&m->in, turned, true, "output.W");
}

/* ---- the whole ------------------------------------------------------------------------------------------------------------ */

static bool read_net(struct hd_marian *m)
{
    struct hd_config config;
    return hd_marian_config(m, &config) && hd_foreign_make(&m->in, &config) && take_tables(m) &&
           (config.arch == HD_TRANSFORMER ? hd_marian_take_transformer(m)
                                          : hd_marian_take_recurrent(m)) &&
           hd_foreign_is_done(&m->in);
}

static bool ends_in(const char *path, const char *ending)
{
    const size_t n = strlen(path), n_ending = strlen(ending);
    return n > n_ending && strcmp(path + n - n_ending, ending) == 0;
}

/* A SentencePiece model, or a list of words by its ending, as Marian has it. */
static struct hd_vocab *read_vocab(const char *path, heed_error *err)
{
    static const char *const lists[] = {".yml", ".yaml", ".json", ".txt"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (ends_in(path, lists[i]))
            return hd_vocab_open(path, HD_VOCAB_WORDS, err);
    struct hd_map map;
    if (!hd_map_open(&map, path, err))
        return NULL;
    heed_error why = {0};
    struct hd_vocab *vocab = hd_vocab_from_memory(HD_VOCAB_SPM, map.data, map.size, &why);
    if (!vocab)
        hd_fail(err, why.code, "%s: %s", path, why.message);
    hd_map_close(&map);
    return vocab;
}

/* What is known of where it comes from. */
static json_t *record_of(const struct hd_marian *m)
{
    const struct hd_marian_word version = hd_marian_value(m, "version");
    const bool is_text = hd_utf8_valid(version.s, strlen(version.s), NULL);
    return json_pack("{s:s, s:s}", "imported_from", "marian", "version", is_text ? version.s : "");
}

static heed_model *import_opened(const char *path, const struct hd_tensors *tensors,
                                 const char *const *vocabs, int n_vocabs, heed_error *err)
{
    struct hd_marian m = {0};
    heed_model *model = NULL;
    if (hd_foreign_init(&m.in, path, tensors, err) && read_net(&m)) {
        struct hd_vocab *source = read_vocab(vocabs[0], err);
        struct hd_vocab *target = n_vocabs < 2 || !source ? source : read_vocab(vocabs[1], err);
        model = hd_foreign_model(&m.in, source, target, target ? record_of(&m) : NULL);
    }
    hd_foreign_release(&m.in);
    hd_free(m.yaml);
    return model;
}

static heed_model *import_npz(struct hd_npz *file, const char *const *vocabs, int n_vocabs,
                              heed_error *err)
{
    heed_model *model =
        file ? import_opened(file->path, &file->tensors, vocabs, n_vocabs, err) : NULL;
    hd_npz_close(file);
    return model;
}

static heed_model *import_bin(struct hd_marian_bin *file, const char *const *vocabs, int n_vocabs,
                              heed_error *err)
{
    heed_model *model =
        file ? import_opened(file->path, &file->tensors, vocabs, n_vocabs, err) : NULL;
    hd_marian_bin_close(file);
    return model;
}

heed_model *hd_import_memory(const char *name, const void *data, size_t size,
                             const char *const *vocabs, int n_vocabs, heed_error *err)
{
    if (hd_is_marian_bin(data, size))
        return import_bin(hd_marian_bin_open_memory(name, data, size, err), vocabs, n_vocabs, err);
    return import_npz(hd_npz_open_memory(name, data, size, err), vocabs, n_vocabs, err);
}

heed_model *hd_import_marian(const char *path, const char *const *vocabs, int n_vocabs,
                             heed_error *err)
{
    struct hd_map map;
    if (!hd_map_open(&map, path, err))
        return NULL;
    heed_model *model = hd_import_memory(path, map.data, map.size, vocabs, n_vocabs, err);
    hd_map_close(&map);
    return model;
}
