/* recipe.h -- how a model is trained: one plain struct, and a table with every field's name, range and meaning.
 *
 * The command line, configuration files, help and the record in a model's file are all made from the table. A number that is
 * HD_OPTION_OPEN is chosen when the text is known (plan.h). Fields of the model itself (--dim, --score …) are model/config.h's;
 * both have one namespace. */
#ifndef HD_TRAIN_RECIPE_H
#define HD_TRAIN_RECIPE_H

#include "option/option_json.h"
#include "text/vary.h"

#include <jansson.h>
#include <stdint.h>

enum hd_schedule {
    HD_SCHEDULE_INV_SQRT,
    HD_SCHEDULE_COSINE,
    HD_SCHEDULE_PLATEAU,
    HD_SCHEDULE_CONSTANT
};
enum hd_precision { HD_PRECISION_F32, HD_PRECISION_BF16, HD_PRECISION_BF16_BLOCKS };
enum hd_optimizer { HD_ADAM, HD_ADAMW, HD_SGD };
enum hd_valid_metric {
    HD_VALID_CE,
    HD_VALID_BLEU,
    HD_VALID_CHRF,
    HD_VALID_EXACT,
    HD_VALID_WER,
    HD_VALID_ACCURACY,
    HD_VALID_F1
};
enum hd_average_of { HD_AVERAGE_LAST, HD_AVERAGE_BEST };

struct hd_recipe {
    /* files */
    heed_option_list src, tgt, tsv, dev_src, dev_tgt, dev_tsv, pair, dev_pair, exclude, clean, spm,
        freeze, guided_alignment;
    char *out, *from, *vocab_from;
    int format; /* enum hd_pair_format, of tsv and pair */
    bool skip_bad;

    /* text */
    int tokens, source_tokens; /* enum hd_vocab_kind; source_tokens HD_OPTION_OPEN: as tokens */
    int vocab_size, spm_type, joint_vocab, normalize;
    float subword_sampling;
    int max_frames, batch_frames; /* vectors of an item, of a batch */
    int time_masks, time_mask, band_masks, band_mask;
    float noise;
    int max_length;                          /* tokens of a sentence */
    char *languages, *attribution, *licence; /* languages: "en-fr", or several between commas */
    float pair_temperature;
    struct hd_vary_rates vary; /* negative: chosen */

    /* the run */
    int updates, epochs, patience; /* 0: no limit */
    float hours;
    int batch_tokens, accumulate, shards, precision;
    int seed, threads;

    /* learning */
    float rate, weight_decay, clip, label_smoothing, momentum, beta1, beta2, eps;
    int warmup, schedule, optimizer;
    float dropout, dropout_embed, dropout_attention, dropout_ffn, dropout_state, dropout_output,
        word_dropout;
    float scheduled_sampling;
    int scheduled_from;
    float rdrop, simcut, simcut_share, guided_weight, ema;
    int average, average_of, quantize;

    /* looking and saving */
    int valid_every, valid_metric, valid_tok, valid_beam, save_every, store;
    bool fresh, quiet, json;
};

/* Every field, ended by {0}: what must stay the same when a run goes on is HEED_OPTION_FIXED, what may change then is
 * HEED_OPTION_RECORDED alone; the others, such as where files are, are not recorded. */
extern const heed_option hd_recipe_options[];

/* Everything as it is when nothing is said. */
void hd_recipe_init(struct hd_recipe *recipe);
void hd_recipe_release(struct hd_recipe *recipe);

/* A field's value as text, as it would be typed, into text[]; "" when there is nothing to say. */
const char *hd_recipe_text(const struct hd_recipe *recipe, const char *name, char text[64]);

/* All that is recorded, as an object of texts; NULL without memory. And back: what is unknown or impossible is refused. */
json_t *hd_recipe_to_json(const struct hd_recipe *recipe);
bool hd_recipe_from_json(struct hd_recipe *recipe, const json_t *json, heed_error *err);

#endif
