/* import.c -- `heed import`: another toolkit's model as a file of heed's, or one of heed's stored anew. */
#include "command.h"
#include "terminal.h"

#include <heed.h>
#include <stdlib.h>
#include <string.h>

struct import {
    const char *vocab, *out, *attribution, *licence;
    int store;
};

static const heed_option options[] = {
    {"vocab", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct import, vocab),
     .value = "FILE.spm[,FILE.spm]", .help = "its vocabulary, or source and target vocabularies"},
    {"out", 'o', .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct import, out), .value = "FILE",
     .help = "the model file to write"},
    {"store", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct import, store), .initial = "f32",
     .choices = "f32|f16|bf16", .help = "how its numbers are stored"},
    {"attribution", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct import, attribution),
     .value = "TEXT", .help = "for the record: whose text it was trained on"},
    {"licence", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct import, licence),
     .value = "TEXT", .help = "for the record: on what terms it may be used"},
    {0},
};

static enum status run(const struct invocation *invocation)
{
    const struct import *import = invocation->values;
    if (invocation->arguments.n == 0 || !import->out) {
        complain("import wants a model and -o FILE; see heed import --help");
        return STATUS_USAGE;
    }
    heed_error err = {0};
    const char *vocabs[2] = {import->vocab, NULL};
    char *first = NULL;
    const char *comma = import->vocab ? strchr(import->vocab, ',') : NULL;
    if (comma) {
        first = strndup(import->vocab, (size_t)(comma - import->vocab));
        vocabs[0] = first;
        vocabs[1] = comma + 1;
    }
    const int n_vocabs = !import->vocab ? 0 : comma ? 2 : 1;
    heed_model *model = heed_model_import(invocation->arguments.items[0], vocabs, n_vocabs, &err);
    const bool ok =
        model &&
        (!import->attribution ||
         heed_model_note(model, "attribution", import->attribution, &err)) &&
        (!import->licence || heed_model_note(model, "licence", import->licence, &err)) &&
        heed_model_save(model, import->out, (enum heed_store)import->store, &err);
    heed_model_free(model);
    free(first);
    if (!ok)
        complain("%s", err.message);
    return ok ? STATUS_FINE : STATUS_FAILED;
}

const struct command command_import = {
    .name = "import",
    .summary = "another toolkit's model as a file of heed's",
    .usage = "MODEL [--vocab FILE.spm[,FILE.spm]] -o OUT.safetensors",
    .description =
        "Reads a Marian model (.npz, types transformer and amun) and writes it as one file "
        "that heed, and every reader of safetensors, can open. A model of heed is written anew, in "
        "half the space with --store f16. The kind of model is recognised from the file itself.",
    .most_arguments = 1,
    .options = options,
    .values_size = sizeof(struct import),
    .run = run,
};
