/* cmd_convert.c -- `heed convert`: a model of another toolkit becomes one of heed; one of heed is stored in another format. */
#include "command.h"
#include "models.h"
#include "terminal.h"

#include <heed.h>
#include <stdlib.h>
#include <string.h>

enum { TO_HEED, TO_HF };

struct convert {
    const char *vocab, *out, *attribution, *licence, *confidence;
    int store, to;
    heed_option_list detect;
};

static const heed_option options[] = {
    {"vocab", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct convert, vocab),
     .value = "FILE.spm[,FILE.spm]",
     .help = "vocabulary of the model, or source and target vocabularies"},
    {"out", 'o', .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct convert, out), .value = "FILE",
     .help = "model file to write; with --to hf a folder, which must be new"},
    {"store", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct convert, store),
     .initial = "f32", .choices = "f32|f16|bf16|int8",
     .help = "number format of the model file; int8 is 8-bit matrices, with which translating is "
             "faster as well"},
    {"to", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct convert, to), .initial = "heed",
     .choices = "heed|hf",
     .help =
         "what to write: a model file of heed, or a folder that Hugging Face's transformers, and "
         "from there others, can open"},
    {"attribution", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct convert, attribution),
     .value = "TEXT", .help = "record who made the training text"},
    {"licence", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct convert, licence),
     .value = "TEXT", .help = "record the licence of the model"},
    {"confidence", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct convert, confidence),
     .value = "X,X,X,X,X,X",
     .help = "record the constants of confidence, as tools/fit_confidence.py prints them"},
    {"detect", .kind = HEED_OPTION_LIST, HEED_OPTION_FIELD(struct convert, detect),
     .value = "LANG=FILE...",
     .help = "let a model of several languages learn to tell them apart, from text of each, such "
             "as en=FILE; may be repeated"},
    {0},
};

/* "en=FILE" of each language. False with the reason in `err`. */
static bool learn_detector(heed_model *model, const heed_option_list *detect, heed_error *err)
{
    heed_language_text *texts = need_memory(detect->n + 1, sizeof *texts);
    char **names = need_memory(detect->n + 1, sizeof *names);
    bool ok = true;
    for (size_t i = 0; ok && i < detect->n; i++) {
        const char *equals = strchr(detect->at[i], '=');
        ok = equals != NULL;
        if (ok) {
            names[i] = strndup(detect->at[i], (size_t)(equals - detect->at[i]));
            texts[i] = (heed_language_text){names[i], equals + 1};
        } else {
            *err = (heed_error){.code = HEED_BAD_OPTION};
            snprintf(err->message, sizeof err->message,
                     "--detect takes a language and a file, en=FILE, not '%.200s'", detect->at[i]);
        }
    }
    ok = ok && (detect->n == 0 || heed_model_learn_detector(model, texts, detect->n, err));
    for (size_t i = 0; i < detect->n; i++)
        free(names[i]);
    free(names);
    free(texts);
    return ok;
}

/* Of any toolkit, or the model inside. */
static heed_model *read_model(const char *path, const char *const *vocabs, int n_vocabs,
                              heed_error *err)
{
    return default_model() && strcmp(path, default_model()) == 0
               ? model_load(path, err)
               : heed_model_import(path, vocabs, n_vocabs, err);
}

static enum status run(const struct invocation *invocation)
{
    const struct convert *convert = invocation->values;
    if (invocation->arguments.n == 0 || !convert->out) {
        complain("convert needs a model and -o FILE; see heed convert --help");
        return STATUS_USAGE;
    }
    if (convert->to != TO_HF && !may_write_tensors(convert->out))
        return STATUS_USAGE;
    heed_error err = {0};
    const char *vocabs[2] = {convert->vocab, NULL};
    char *first = NULL;
    const char *comma = convert->vocab ? strchr(convert->vocab, ',') : NULL;
    if (comma) {
        first = strndup(convert->vocab, (size_t)(comma - convert->vocab));
        vocabs[0] = first;
        vocabs[1] = comma + 1;
    }
    const int n_vocabs = !convert->vocab ? 0 : comma ? 2 : 1;
    heed_model *model = read_model(invocation->arguments.items[0], vocabs, n_vocabs, &err);
    const bool ok =
        model &&
        (!convert->attribution ||
         heed_model_note(model, "attribution", convert->attribution, &err)) &&
        (!convert->licence || heed_model_note(model, "licence", convert->licence, &err)) &&
        (!convert->confidence || heed_model_note(model, "confidence", convert->confidence, &err)) &&
        learn_detector(model, &convert->detect, &err) &&
        (convert->to == TO_HF ? heed_model_export : heed_model_save)(
            model, convert->out, (enum heed_store)convert->store, &err);
    heed_model_free(model);
    free(first);
    if (!ok)
        complain("%s", err.message);
    return ok ? STATUS_FINE : STATUS_FAILED;
}

const struct command command_convert = {
    .name = "convert",
    .alias = "import",
    .summary = "convert a model of another toolkit",
    .usage = "MODEL [--vocab FILE.spm[,FILE.spm]] [--to hf] -o OUT",
    .description =
        "Converts a model of OPUS-MT (a folder of Hugging Face's transformers: config.json, "
        "model.safetensors or pytorch_model.bin, vocab.json, source.spm, target.spm) of "
        "CTranslate2 (a folder "
        "with model.bin) or of Marian (model.npz or model.bin: Transformers, students with ssru, "
        "s2s, amun and nematus) to one file that heed, "
        "and every reader of "
        "safetensors, can open. The kind of model is recognised from the file or folder. A "
        "model of heed is stored again, in half the space with --store f16, in about a quarter of "
        "it with --store int8, or becomes a folder of transformers with --to hf.",
    .examples =
        {{"heed convert opus-mt-en-de -o en-de.safetensors", "convert a model of OPUS-MT"},
         {"heed convert model.npz --vocab vocab.spm -o model.safetensors",
          "convert a Marian model"},
         {"heed convert model.safetensors --store int8 -o fast.safetensors",
          "store a model in a quarter of the space, for faster translation"},
         {"heed convert default --to hf -o folder",
          "make a folder that transformers opens of the model inside heed"},
         {"heed convert model.safetensors --detect en=text.en fr=text.fr -o new.safetensors",
          "let a model of several languages tell them apart"}},
    .most_arguments = 1,
    .options = options,
    .values_size = sizeof(struct convert),
    .run = run,
};
