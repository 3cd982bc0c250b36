/* cmd_convert.c -- `heed convert`: a model of another toolkit becomes one of heed; one of heed is stored in another format. */
#include "command.h"
#include "terminal.h"

#include <heed.h>
#include <stdlib.h>
#include <string.h>

struct convert {
    const char *vocab, *out, *attribution, *licence;
    int store;
};

static const heed_option options[] = {
    {"vocab", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct convert, vocab),
     .value = "FILE.spm[,FILE.spm]",
     .help = "vocabulary of the model, or source and target vocabularies"},
    {"out", 'o', .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct convert, out), .value = "FILE",
     .help = "model file to write"},
    {"store", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct convert, store),
     .initial = "f32", .choices = "f32|f16|bf16|int8",
     .help = "number format of the model file; int8 is 8-bit matrices, with which translating is "
             "faster as well"},
    {"attribution", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct convert, attribution),
     .value = "TEXT", .help = "record who made the training text"},
    {"licence", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct convert, licence),
     .value = "TEXT", .help = "record the licence of the model"},
    {0},
};

static enum status run(const struct invocation *invocation)
{
    const struct convert *convert = invocation->values;
    if (invocation->arguments.n == 0 || !convert->out) {
        complain("convert needs a model and -o FILE; see heed convert --help");
        return STATUS_USAGE;
    }
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
    heed_model *model = heed_model_import(invocation->arguments.items[0], vocabs, n_vocabs, &err);
    const bool ok =
        model &&
        (!convert->attribution ||
         heed_model_note(model, "attribution", convert->attribution, &err)) &&
        (!convert->licence || heed_model_note(model, "licence", convert->licence, &err)) &&
        heed_model_save(model, convert->out, (enum heed_store)convert->store, &err);
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
    .usage = "MODEL [--vocab FILE.spm[,FILE.spm]] -o OUT.safetensors",
    .description =
        "Converts a Marian model (.npz, types transformer and amun) to one file that heed, and "
        "every reader of safetensors, can open. The kind of model is recognised from the file. A "
        "model of heed is stored again, in half the space with --store f16, in about a quarter of "
        "it with --store int8.",
    .examples = {{"heed convert model.npz --vocab vocab.spm -o model.safetensors",
                  "convert a Marian model"},
                 {"heed convert model.safetensors --store int8 -o fast.safetensors",
                  "store a model in a quarter of the space, for faster translation"}},
    .most_arguments = 1,
    .options = options,
    .values_size = sizeof(struct convert),
    .run = run,
};
