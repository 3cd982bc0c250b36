/* heed.c -- what this library is: its version, its compiler, its arithmetic. */
#include <heed.h>

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

const char *heed_kernel_note(void)
{
    return hd_kernels_note();
}
