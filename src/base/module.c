/* module.c -- finding a module, opening it, and saying what is missing.
 *
 * Nothing is compiled in that `make install PREFIX=...` could contradict: places are seen from
 * the file that this code was loaded from, the program (libheed.a) or libheed.so. */
#define _GNU_SOURCE /* dladdr */
#include "base/module.h"

#include "base/error.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Opens folder/sub/file if it is there; *is_there says so, whether it could be opened or not. */
static void *open_in(const char *folder, const char *sub, const char *file, bool *is_there)
{
    char path[PATH_MAX];
    const int n = snprintf(path, sizeof path, "%s%s/%s", folder, sub, file);
    if (n < 0 || (size_t)n >= sizeof path || access(path, F_OK) != 0)
        return NULL;
    *is_there = true;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Looks around the file this code came from: in the build tree, beside bin/heed, below
 * lib/libheed.so. */
static void *open_around(const char *origin, const char *file, bool *is_there)
{
    static const char *const subs[] = {"", "/heed", "/../lib/heed"};
    char folder[PATH_MAX];
    if (!strchr(origin, '/') || !realpath(origin, folder))
        return NULL;
    *strrchr(folder, '/') = '\0';
    void *module = NULL;
    for (size_t i = 0; !*is_there && i < sizeof subs / sizeof *subs; i++)
        module = open_in(folder, subs[i], file, is_there);
    return module;
}

static void *find(const char *file, bool *is_there)
{
    static const char *const usual[] = {"/usr/local/lib/heed", "/usr/lib/heed"};
    Dl_info here;
    void *module = NULL;
    if (dladdr((const void *)usual, &here) && here.dli_fname)
        module = open_around(here.dli_fname, file, is_there);
    if (!*is_there)
        module = open_around("/proc/self/exe", file, is_there);
    for (size_t i = 0; !*is_there && i < sizeof usual / sizeof *usual; i++)
        module = open_in(usual[i], "", file, is_there);
    return module;
}

const void *hd_module_open(const struct hd_module_name *name, heed_error *err)
{
    const char *given = getenv(name->environment);
    bool is_there = false;
    void *module;
    if (given && given[0]) {
        is_there = true;
        module = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    } else
        module = find(name->file, &is_there);
    if (!is_there) {
        hd_fail(err, HEED_BAD_FILE,
                "%s need the module %s, which is neither beside heed nor in its lib/heed; build "
                "it: %s, then make "
                "(or say where it is in %s)",
                name->purpose, name->file, name->needs, name->environment);
        return NULL;
    }
    const void *symbol = module ? dlsym(module, name->symbol) : NULL;
    if (!symbol) {
        const char *why = dlerror();
        hd_fail(err, HEED_BAD_FILE, "%s need the module %s, which cannot be loaded: %.200s; %s",
                name->purpose, name->file, why ? why : "it is not a module of heed", name->needs);
        if (module)
            dlclose(module);
    }
    return symbol;
}
