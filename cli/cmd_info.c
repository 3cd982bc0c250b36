/* cmd_info.c -- `heed info`: what a model is, or what this heed is and what it runs on. */
#include "command.h"
#include "models.h"
#include "terminal.h"

#include <heed.h>

struct info {
    bool is_json, is_recipe;
};

static const heed_option options[] = {
    {"json", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct info, is_json),
     .help = "print one JSON object"},
    {"recipe", .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct info, is_recipe),
     .help = "print how the model was trained, as a file for heed train --config"},
    {0},
};

static void print_lines(const char *kernel, const char *model)
{
    printf("version   %s\n", heed_version());
    printf("compiler  %s\n", heed_compiler());
    printf("kernel    %s\n", kernel);
    printf("kernels  ");
    for (int i = 0; heed_kernel_available(i); i++)
        printf(" %s", heed_kernel_available(i));
    printf("\ncores     %d\n", heed_cores());
    if (model)
        printf("\nThe model inside, which is used where none is named:\n%s", model);
    else
        printf("model     none is embedded; name one with -m MODEL\n");
}

static void print_json(const char *kernel, const char *model)
{
    printf("{\"version\": ");
    print_json_string(stdout, heed_version());
    printf(", \"compiler\": ");
    print_json_string(stdout, heed_compiler());
    printf(", \"kernel\": ");
    print_json_string(stdout, kernel);
    printf(", \"kernels\": [");
    for (int i = 0; heed_kernel_available(i); i++) {
        printf("%s", i > 0 ? ", " : "");
        print_json_string(stdout, heed_kernel_available(i));
    }
    printf("], \"cores\": %d, \"model\": %s}\n", heed_cores(), model ? model : "null");
}

/* A model's description or recipe, to be given to heed_free(); NULL, with the complaint printed. */
static char *description_of(const char *name, const struct info *info)
{
    heed_error err = {0};
    heed_model *model = model_load(name, &err);
    char *text = !model            ? NULL
                 : info->is_recipe ? heed_model_recipe(model, &err)
                                   : heed_model_info(model, info->is_json, &err);
    heed_model_free(model);
    if (!text)
        complain("%s", err.message);
    return text;
}

static enum status describe_model(const char *name, const struct info *info)
{
    char *text = description_of(name, info);
    if (text)
        printf("%s%s", text, info->is_json && !info->is_recipe ? "\n" : "");
    heed_free(text);
    return text ? STATUS_FINE : STATUS_FAILED;
}

static enum status describe_heed(const struct info *info)
{
    heed_error err = {0};
    const char *kernel = heed_kernel(&err);
    if (!kernel) {
        complain("%s", err.message);
        return STATUS_FAILED;
    }
    const char *name = default_model();
    char *model = name ? description_of(name, info) : NULL;
    if (name && !model)
        return STATUS_FAILED;
    (info->is_json ? print_json : print_lines)(kernel, model);
    heed_free(model);
    return STATUS_FINE;
}

static enum status run(const struct invocation *invocation)
{
    const struct info *info = invocation->values;
    if (invocation->arguments.n > 0)
        return describe_model(invocation->arguments.items[0], info);
    if (!info->is_recipe)
        return describe_heed(info);
    if (default_model())
        return describe_model(default_model(), info);
    complain("recipe is of a model; name one");
    return STATUS_USAGE;
}

const struct command command_info = {
    .name = "info",
    .summary = "show a model, or this version of heed and the machine",
    .usage = "[MODEL] [--json] [--recipe]",
    .description =
        "Shows the architecture of a model, the formula of its attention, its sizes, parameters "
        "per "
        "part, vocabularies and training record. Without a model: the version, the compiler it was "
        "built with, the kernel in use, the kernels that this CPU can run, slowest first, the "
        "number "
        "of cores, and the model inside heed.",
    .examples = {{"heed info en-fr.safetensors", "show a model"},
                 {"heed info --recipe en-fr.safetensors >again.conf",
                  "get the settings of a training run"}},
    .most_arguments = 1,
    .options = options,
    .values_size = sizeof(struct info),
    .run = run,
};
