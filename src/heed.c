/* heed.c -- the public API: thin, the only file that sees every room. */
#include <heed.h>

#include "base/nearest.h"
#include "base/threads.h"
#include "kernel/kernel.h"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

const char *heed_version(void)
{
    return HEED_VERSION;
}

const char *heed_compiler(void)
{
#if defined(__clang__)
    return "clang " TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__);
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "an unknown compiler";
#endif
}

const char *heed_kernel(heed_error *err)
{
    const struct hd_kernels *chosen = hd_kernels_chosen(err);
    return chosen ? chosen->name : NULL;
}

const char *heed_kernel_available(int i)
{
    const struct hd_kernels *const *all = hd_kernels_available();
    for (int k = 0; all[k]; k++)
        if (k == i)
            return all[k]->name;
    return NULL;
}

int heed_cores(void)
{
    return hd_cores();
}

const char *heed_nearest(const char *word, const char *const *names, int n)
{
    return hd_nearest(word, names, n);
}
