/* cmd_features.c -- `heed features`: sound and pictures become vectors, a source to train with. */
#include "command.h"
#include "models.h"
#include "terminal.h"

#include <heed.h>
#include <stdio.h>

struct features {
    const char *out, *like;
    bool is_quiet;
};

static const heed_option options[] = {
    {"out", 'o', .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct features, out), .value = "FILE",
     .help = "file of vectors to write"},
    {"like", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct features, like), .value = "FILE",
     .help = "take the settings, principal components and deviations of another file of vectors, "
             "or those that a model was trained with; options given win"},
    {"quiet", 'q', .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct features, is_quiet),
     .help = "say nothing but errors"},
    {0},
};

static bool make(heed_features *f, const struct invocation *invocation, heed_error *err)
{
    const struct features *wanted = invocation->values;
    for (int i = 0; i < invocation->n_settings; i++)
        if (!heed_features_set(f, invocation->settings[i].option->name,
                               invocation->settings[i].text, err))
            return false;
    if (wanted->like && !heed_features_like(f, wanted->like, err))
        return false;
    for (int i = 0; i < invocation->arguments.n; i++)
        if (!heed_features_add(f, invocation->arguments.items[i], err))
            return false;
    return heed_features_write(f, wanted->out, err);
}

static enum status run(const struct invocation *invocation)
{
    const struct features *wanted = invocation->values;
    if (invocation->arguments.n == 0 || !wanted->out) {
        complain("features needs sound or picture files and -o FILE; see heed features --help");
        return STATUS_USAGE;
    }
    if (!may_write_tensors(wanted->out))
        return STATUS_USAGE;
    heed_error err = {0};
    heed_features *f = heed_features_new(&err);
    const bool ok = f && make(f, invocation, &err);
    if (!ok)
        complain("%s", err.message);
    else if (!wanted->is_quiet)
        fprintf(stderr, "%s: %lld items, %lld vectors of %lld numbers\n", wanted->out,
                heed_features_count(f, HEED_FEATURES_ITEMS),
                heed_features_count(f, HEED_FEATURES_VECTORS),
                heed_features_count(f, HEED_FEATURES_NUMBERS));
    heed_features_free(f);
    return ok ? STATUS_FINE : err.code == HEED_BAD_OPTION ? STATUS_USAGE : STATUS_FAILED;
}

const struct command command_features = {
    .name = "features",
    .summary = "make vectors of sound or pictures, to train with",
    .usage = "[OPTIONS] FILE... -o OUT.safetensors",
    .description =
        "Reads sound (WAV, FLAC, Ogg) or pictures (PNG, JPEG), one item a file, and writes their "
        "vectors: log-mel frames or cepstra of sound, patches of pictures. heed train takes the "
        "file as --src with the targets' lines as --tgt. The settings are kept in the file and in "
        "the model, so that heed translate reads sound and pictures themselves.",
    .examples = {{"heed features *.wav --mel 40 -o speech.safetensors", "log-mel frames of sound"},
                 {"heed features *.png --patches 8x8 --project 16 -o train.safetensors",
                  "principal components of patches"},
                 {"heed features dev/*.png --like train.safetensors -o dev.safetensors",
                  "the same for other files"}},
    .most_arguments = -1,
    .options = options,
    .values_size = sizeof(struct features),
    .library_option = heed_features_option_at,
    .run = run,
};
