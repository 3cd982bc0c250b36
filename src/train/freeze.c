/* freeze.c -- which parameters do not learn, by their names. */
#include "train/freeze.h"

#include "base/error.h"
#include "model/source.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* Does a parameter's name fit a pattern, or begin with it up to a dot? */
static bool is_frozen(const struct hd_recipe *recipe, const char *name)
{
    for (size_t i = 0; i < recipe->freeze.n; i++) {
        const char *pattern = recipe->freeze.at[i];
        const size_t n = strlen(pattern);
        if (fnmatch(pattern, name, 0) == 0 || (strncmp(pattern, name, n) == 0 && name[n] == '.'))
            return true;
    }
    return false;
}

/* What the names of parameters begin with, up to the first dot: "source, target, encoder". */
static void list_parts(const hd_params *params, char *text, size_t size)
{
    const char *last = "";
    text[0] = '\0';
    for (int i = 0; i < hd_params_number(params); i++) {
        const char *name = hd_param_name(hd_params_at(params, i));
        const size_t n = strcspn(name, "."), used = strlen(text);
        if (strncmp(name, last, n + 1) != 0)
            snprintf(text + used, size - used, "%s%.*s", used ? ", " : "", (int)n, name);
        last = name;
    }
}

bool hd_freeze(const struct hd_recipe *recipe, hd_params *params, heed_error *err)
{
    int n_learning = 0;
    for (int i = 0; i < hd_params_number(params); i++) {
        hd_node *p = hd_params_at(params, i);
        p->wants_gradient =
            !is_frozen(recipe, hd_param_name(p)) && !hd_source_is_fixed(hd_param_name(p));
        n_learning += p->wants_gradient;
    }
    for (size_t j = 0; j < recipe->freeze.n; j++) {
        const struct hd_recipe one = {.freeze = {&recipe->freeze.at[j], 1, 1}};
        bool is_there = false;
        for (int i = 0; i < hd_params_number(params) && !is_there; i++)
            is_there = is_frozen(&one, hd_param_name(hd_params_at(params, i)));
        if (is_there)
            continue;
        char parts[200];
        list_parts(params, parts, sizeof parts);
        return hd_fail(
            err, HEED_BAD_OPTION,
            "freeze: no parameter is called '%s'; the names of this model's begin with %s",
            recipe->freeze.at[j], parts);
    }
    return n_learning > 0 ||
           hd_fail(err, HEED_BAD_OPTION, "freeze leaves nothing that could learn");
}
