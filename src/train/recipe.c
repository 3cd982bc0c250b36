/* recipe.c -- the table of everything that can be said about a training run. */
#include "train/recipe.h"

#include "base/error.h"
#include "base/quote.h"
#include "exchange/pairs.h"
#include "text/clean.h"

#include <limits.h>
#include <stddef.h>

/* clang-format off */
#define AT(member)                HEED_OPTION_FIELD(struct hd_recipe, member)
#define WHOLE(member, low, high)  .kind = HEED_OPTION_INT, AT(member), .least = low, .most = high, .value = "N"
#define REAL(member, low, high)   .kind = HEED_OPTION_FLOAT, AT(member), .least = low, .most = high, .value = "X"
#define FLAG(member)              .kind = HEED_OPTION_FLAG, AT(member)
#define YES_NO(member)            .kind = HEED_OPTION_YES_NO, AT(member)
#define CHOICE(member, names)     .kind = HEED_OPTION_CHOICE, AT(member), .choices = names
#define TEXT(member, what)        .kind = HEED_OPTION_TEXT, AT(member), .value = what
#define LIST(member, what)        .kind = HEED_OPTION_LIST, AT(member), .value = what
/* When a run goes on: must be the same, may change, or is nobody's business and not recorded. */
#define FIXED                     .flags = HEED_OPTION_RECORDED | HEED_OPTION_FIXED
#define FREE                      .flags = HEED_OPTION_RECORDED
#define LOCAL                     .flags = 0
#define AUTO(how)                 | HEED_OPTION_AUTO, .default_help = how
#define OR                        .initial =
#define IS                        .help =
#define FROM_TEXT                 "chosen from your text"

/* The order is that of the record in a model's file. */
const heed_option hd_recipe_options[] = {
    {"src", LIST(src, "FILE..."), LOCAL, .group = "Files", IS "source text, one sentence per line, plain or gzip; -: standard input; or vectors, .safetensors, .npz or .npy"},
    {"tgt", LIST(tgt, "FILE..."), LOCAL, IS "target text: the translation of each line; of a language model, the text"},
    {"tsv", LIST(tsv, "FILE..."), LOCAL, IS "instead of src and tgt, both sides in one file: lines of source, TAB, target; CSV, TMX or PO files; a folder of such; of task label text, TAB, label; of task span document, TAB, question, TAB, answer, and perhaps TAB and the number of the answer's first token, from 0"},
    {"dev-src", LIST(dev_src, "FILE..."), LOCAL, IS "source text for validation"},
    {"dev-tgt", LIST(dev_tgt, "FILE..."), LOCAL, IS "target text for validation; without validation text every 200th pair is held out"},
    {"dev-tsv", LIST(dev_tsv, "FILE..."), LOCAL, IS "text for validation, both sides in one file"},
    {"pair", LIST(pair, "SRC-TGT=FILE.tsv..."), LOCAL, IS "text of two languages, such as en-fr=FILE.tsv; several of them make a multilingual model"},
    {"dev-pair", LIST(dev_pair, "SRC-TGT=FILE.tsv..."), LOCAL, IS "text of two languages for validation"},
    {"format", CHOICE(format, HD_PAIR_FORMATS), LOCAL, OR "auto", IS "format of the files of tsv and pair; auto: by the file's name and first bytes"},
    {"exclude", LIST(exclude, "FILE..."), LOCAL, IS "skip pairs whose source or target is a line of these files, such as test sets"},
    {"clean", LIST(clean, HD_CLEAN_NAMES "..."), FIXED, IS "leave out pairs of the training text: that were there before, of lengths that do not fit, with a side of another language, with the same text on both sides, with other numbers"},
    {"skip-bad", FLAG(skip_bad), FIXED, OR "no", IS "skip broken pairs instead of stopping at the first"},
    {"out", 'o', TEXT(out, "MODEL.safetensors"), LOCAL, IS "model file to write; beside it MODEL.state.safetensors, .jsonl, .log and .svg"},

    {"tokens", CHOICE(tokens, "spm|words|chars"), FIXED, .group = "Vocabulary", OR "spm", IS "cut text into subwords, words or characters"},
    {"source-tokens", CHOICE(source_tokens, "spm|words|chars"), FIXED AUTO("same as tokens"), IS "the same for the source, if it differs: characters for letters to sounds"},
    {"vocab-size", WHOLE(vocab_size, 0, 1 << 24), FIXED AUTO(FROM_TEXT), IS "vocabulary size"},
    {"joint-vocab", YES_NO(joint_vocab), FIXED AUTO("yes for subwords"), IS "one vocabulary for both languages"},
    {"spm", LIST(spm, "FILE.model..."), LOCAL, IS "use this SentencePiece model; or two, for source and target"},
    {"vocab-from", TEXT(vocab_from, "MODEL"), LOCAL, IS "use the vocabulary of this model; a language model that goes with it takes that of its target"},
    {"spm-type", CHOICE(spm_type, "unigram|bpe"), FIXED, OR "unigram", IS "type of the SentencePiece model to train"},
    {"normalize", CHOICE(normalize, "nmt_nfkc|nfkc|identity"), FIXED, OR "nmt_nfkc", IS "normalization rule of SentencePiece"},
    {"subword-sampling", REAL(subword_sampling, 0, 0.99), FIXED, OR "0", IS "subword regularization: how often words are cut in other ways; 0: never"},
    {"max-length", WHOLE(max_length, 1, 1 << 20), FIXED, OR "200", IS "skip pairs with more tokens than this on a side; of task span document and question together"},
    {"max-frames", WHOLE(max_frames, 1, 1 << 24), FIXED, OR "10000", IS "skip items with more source vectors than this"},
    {"pair-temperature", REAL(pair_temperature, 0.1, 100), FIXED, .group = "Text", OR "1", IS "sampling of several pairs: a pair with n lines gets a share of n^(1/X); 1: proportional"},
    {"vary-punctuation", REAL(vary.of[HD_VARY_PUNCTUATION], 0, 1), FIXED AUTO(FROM_TEXT), IS "rate of pairs without their final punctuation; 0: off"},
    {"vary-case", REAL(vary.of[HD_VARY_CASE], 0, 1), FIXED AUTO(FROM_TEXT), IS "rate of pairs in lower case, capitals or title case; 0: off"},
    {"vary-quotes", REAL(vary.of[HD_VARY_QUOTES], 0, 1), FIXED AUTO(FROM_TEXT), IS "rate of sources with quotes and apostrophes in the other style; 0: off"},
    {"join", REAL(vary.of[HD_VARY_JOIN], 0, 1), FIXED AUTO(FROM_TEXT), IS "rate of pairs joined with one or two others; 0: off"},
    {"copy", REAL(vary.of[HD_VARY_COPY], 0, 1), FIXED AUTO(FROM_TEXT), IS "rate of pairs that get a made-up name, number or code to copy; 0: off"},
    {"placeholders", REAL(vary.of[HD_VARY_PLACEHOLDERS], 0, 1), FIXED AUTO(FROM_TEXT), IS "rate of pairs that get one to three placeholder symbols to keep; 0: off"},
    {"languages", TEXT(languages, "SRC-TGT"), FIXED AUTO("from the file names"), .group = "Record in the model file", IS "languages, such as en-fr"},
    {"attribution", TEXT(attribution, "TEXT"), FREE, IS "who made the training text"},
    {"licence", TEXT(licence, "TEXT"), FREE, IS "licence of the training text and the model"},

    {"updates", WHOLE(updates, 0, INT_MAX), FREE, .group = "Run", OR "0", IS "stop after N updates; 0: no limit"},
    {"epochs", WHOLE(epochs, 0, INT_MAX), FREE, OR "0", IS "stop after N passes over the text; 0: no limit"},
    {"hours", REAL(hours, 0, 1e6), LOCAL, OR "0", IS "stop X hours after this command was started; 0: no limit"},
    {"patience", WHOLE(patience, 0, INT_MAX), FREE, OR "10", IS "stop after N validations without improvement; 0: never"},
    {"batch-tokens", WHOLE(batch_tokens, 1, 1 << 24), FIXED AUTO(FROM_TEXT), IS "target tokens per batch; of tasks label and span source tokens"},
    {"batch-frames", WHOLE(batch_frames, 1, 1 << 28), FIXED AUTO("32 times batch-tokens"), IS "source vectors per batch: it has no more of them, nor of target tokens"},
    {"accumulate", WHOLE(accumulate, 1, 1 << 16), FIXED, OR "1", IS "batches per update"},
    {"shards", WHOLE(shards, 1, 4096), FIXED, OR "8", IS "maximum number of parts of an update, which threads and machines share"},
    {"precision", CHOICE(precision, "f32|bf16|bf16-blocks"), FIXED, OR "f32", IS "numbers that matrix products multiply; bf16: faster on CPUs with AVX512_BF16; bf16-blocks, which adds in another order: with AMX; sums and weights stay f32"},
    {"seed", WHOLE(seed, 0, INT_MAX), FIXED, OR "1", IS "random seed"},
    {"threads", 'j', WHOLE(threads, 1, 4096), LOCAL AUTO("all cores"), IS "number of threads; does not change the result"},

    {"rate", REAL(rate, 0, 1e3), FREE AUTO("0.003 tiny, 0.0015 small, 0.0007 base; 0.002 recurrent; 0.5 sgd; 0.0003 with from"), .group = "Optimization", IS "peak learning rate"},
    {"warmup", WHOLE(warmup, 0, INT_MAX), FREE AUTO(FROM_TEXT), IS "updates until the peak learning rate"},
    {"schedule", CHOICE(schedule, "inv-sqrt|cosine|plateau|constant"), FREE, OR "inv-sqrt", IS "learning rate after the warmup"},
    {"optimizer", CHOICE(optimizer, "adam|adamw|sgd"), FIXED, OR "adam", IS "optimizer"},
    {"weight-decay", REAL(weight_decay, 0, 10), FREE, OR "0", IS "weight decay of matrices: decoupled with adamw, else an L2 penalty"},
    {"momentum", REAL(momentum, 0, 0.9999), FREE, OR "0.9", IS "momentum of sgd"},
    {"beta1", REAL(beta1, 0, 0.9999), FREE, OR "0.9", IS "beta1 of adam and adamw"},
    {"beta2", REAL(beta2, 0, 0.99999), FREE, OR "0.98", IS "beta2 of adam and adamw"},
    {"eps", REAL(eps, 1e-30, 1), FREE, OR "1e-9", IS "epsilon of adam and adamw"},
    {"clip", REAL(clip, 0, 1e9), FREE, OR "1", IS "maximum norm of the gradient; 0: no clipping"},
    {"label-smoothing", REAL(label_smoothing, 0, 0.9), FREE, .group = "Regularization", OR "0.1", IS "label smoothing"},
    {"dropout", REAL(dropout, 0, 0.95), FREE AUTO("0.1 to 0.3, " FROM_TEXT), IS "dropout rate; default for the five options below"},
    {"dropout-embed", REAL(dropout_embed, 0, 0.95), FREE AUTO("dropout"), IS "dropout of embeddings"},
    {"dropout-state", REAL(dropout_state, 0, 0.95), FREE AUTO("dropout"), IS "dropout of states between layers"},
    {"dropout-attention", REAL(dropout_attention, 0, 0.95), FREE AUTO("half of dropout"), IS "dropout of attention weights (transformer)"},
    {"dropout-ffn", REAL(dropout_ffn, 0, 0.95), FREE AUTO("half of dropout"), IS "dropout inside feed-forward layers (transformer)"},
    {"dropout-output", REAL(dropout_output, 0, 0.95), FREE AUTO("dropout; 0 for transformers"), IS "dropout before the output layer"},
    {"word-dropout", REAL(word_dropout, 0, 0.95), FREE, OR "0", IS "share of words to mask on both sides"},
    {"scheduled-sampling", REAL(scheduled_sampling, 0, 1), FREE, OR "0", IS "share of target words that a recurrent decoder is shown as it would say them itself, drawn from what it says, instead of as they are; 0: none"},
    {"scheduled-from", WHOLE(scheduled_from, 0, INT_MAX), FREE, OR "0", IS "updates without scheduled sampling; its share then rises over as many more"},
    {"time-masks", WHOLE(time_masks, 0, 100), FREE, OR "0", IS "SpecAugment: runs of source vectors to mask in every item; 0: off"},
    {"time-mask", WHOLE(time_mask, 1, 1 << 20), FREE, OR "20", IS "longest of them, in vectors; none is longer than a fifth of its item"},
    {"band-masks", WHOLE(band_masks, 0, 100), FREE, OR "0", IS "SpecAugment: bands of neighbouring numbers to mask in every item; 0: off"},
    {"band-mask", WHOLE(band_mask, 1, 1 << 16), FREE, OR "4", IS "widest of them"},
    {"noise", REAL(noise, 0, 10), FREE, OR "0", IS "noise added to source vectors, in their standard deviations; 0: off"},
    {"rdrop", REAL(rdrop, 0, 100), FREE, OR "0", IS "R-Drop: weight of the divergence between two passes with different dropout; 0: off"},
    {"simcut", REAL(simcut, 0, 100), FREE, OR "0", IS "SimCut: weight of the divergence between a pass with masked words and one without; 0: off"},
    {"simcut-share", REAL(simcut_share, 0, 0.95), FREE, OR "0.05", IS "share of words that SimCut masks"},
    {"guided-alignment", LIST(guided_alignment, "self|FILE..."), LOCAL, .group = "Attention", IS "teach one head of attention to align: links 'i-j' of words, from 0, a line for each pair and a file for each text; self: found by heed's own aligner"},
    {"guided-weight", REAL(guided_weight, 0, 100), FIXED, OR "0.1", IS "weight of guided alignment; the loss has it beside the cross entropy"},
    {"ema", REAL(ema, 0, 0.999999), FIXED AUTO("0.999"), .group = "Optimization", IS "decay of the moving average of the weights, which is what is validated and saved; 0: off"},
    {"average", WHOLE(average, 1, 64), FIXED, OR "1", IS "validate and save the mean of the weights at N validations"},
    {"average-of", CHOICE(average_of, "last|best"), FIXED, OR "last", IS "which validations to average"},
    {"quantize", CHOICE(quantize, "none|8"), FREE, OR "none", IS "8: forward products and validation in 8 bits, as the model will translate; to finish a model given by --from"},

    {"valid-every", WHOLE(valid_every, 1, INT_MAX), FREE AUTO(FROM_TEXT), .group = "Validation and output", IS "updates between validations"},
    {"valid-metric", CHOICE(valid_metric, "ce|bleu|chrf|exact|wer|accuracy|f1"), FIXED AUTO("bleu; exact where the source is cut into characters; accuracy of labels, f1 of answers, ce of a language model"), IS "metric that decides which model is the best"},
    {"valid-tok", CHOICE(valid_tok, "13a|none|char|intl|zh"), FIXED, OR "13a", IS "tokenization for BLEU; none for text that is tokenized already"},
    {"valid-beam", WHOLE(valid_beam, 1, 64), FREE, OR "1", IS "beam size in validation; 1: greedy"},
    {"save-every", WHOLE(save_every, 1, INT_MAX), FREE AUTO("valid-every"), IS "updates between saved states"},
    {"store", CHOICE(store, "f32|f16|bf16|int8"), FREE, OR "f32", IS "number format of the model file"},
    {"from", TEXT(from, "MODEL"), LOCAL, .group = "Run", IS "start from this model and keep its vocabulary"},
    {"freeze", LIST(freeze, "PATTERN..."), FIXED, IS "do not train these parameters: encoder, 'decoder.1.*', '*embed'"},
    {"fresh", FLAG(fresh), LOCAL, OR "no", IS "start over even if there is a saved run"},
    {"quiet", 'q', FLAG(quiet), LOCAL, .group = "Validation and output", OR "no", IS "print errors only"},
    {"json", FLAG(json), LOCAL, OR "no", IS "print every figure as a line of JSON"},
    {0},
};
/* clang-format on */

void hd_recipe_init(struct hd_recipe *recipe)
{
    *recipe = (struct hd_recipe){0};
    (void)heed_option_defaults(hd_recipe_options, recipe, NULL); /* no texts: nothing can fail */
}

void hd_recipe_release(struct hd_recipe *recipe)
{
    heed_option_release(hd_recipe_options, recipe);
    *recipe = (struct hd_recipe){0};
}

const char *hd_recipe_text(const struct hd_recipe *recipe, const char *name, char text[64])
{
    return heed_option_text(heed_option_find(hd_recipe_options, name), recipe, text, 64);
}

json_t *hd_recipe_to_json(const struct hd_recipe *recipe)
{
    json_t *json = json_object();
    for (const heed_option *o = hd_recipe_options; json && o->name; o++) {
        char text[64];
        const bool is_list = o->kind == HEED_OPTION_LIST;
        const heed_option_list *list = (const void *)((const char *)recipe + o->offset);
        const char *said = heed_option_text(o, recipe, text, sizeof text);
        if (!(o->flags & HEED_OPTION_RECORDED) || (is_list ? list->n == 0 : !*said))
            continue;
        json_t *value = is_list ? hd_option_to_json(o, recipe) : json_string(said);
        if (json_object_set_new(json, o->name, value) != 0) {
            json_decref(json);
            json = NULL;
        }
    }
    return json;
}

bool hd_recipe_from_json(struct hd_recipe *recipe, const json_t *json, heed_error *err)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)json, name, value)
    {
        const heed_option *o = heed_option_find(hd_recipe_options, name);
        const bool is_list = o && o->kind == HEED_OPTION_LIST;
        if (!o || !(is_list ? json_is_array(value) : json_is_string(value)) ||
            !(is_list ? hd_option_from_json(o, recipe, value, err)
                      : heed_option_set(o, recipe, json_string_value(value), err)))
            return hd_fail(err, HEED_BAD_MODEL, "a recipe has no field %s of that kind",
                           hd_quote(name).text);
    }
    return true;
}
