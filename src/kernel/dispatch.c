/* dispatch.c -- which kernels this CPU can run, and which of them are used. */
#include "base/error.h"
#include "kernel/bf16_check.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

extern const struct hd_kernels hd_kernels_generic;
#if defined(__x86_64__)
extern const struct hd_kernels hd_kernels_avx2, hd_kernels_avx512, hd_kernels_avx512vnni,
    hd_kernels_avx512bf16, hd_kernels_amx;
#elif defined(__aarch64__)
extern const struct hd_kernels hd_kernels_neon;
#endif

static const struct hd_kernels *available[8];
static _Atomic(const struct hd_kernels *) chosen;
static heed_error refusal; /* why there is no choice */
static const char *note;   /* what is left out, and why; or NULL */
static pthread_once_t once = PTHREAD_ONCE_INIT;

#if defined(__x86_64__)
/* Does the CPU have AMX with 8-bit numbers and bf16, and may this process use it? Linux wants to be asked, since a thread's state grows by 8 KiB. */
static bool may_use_amx(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    unsigned a, b, c, d = 0;
    const unsigned wanted = 1U << 22 | 1U << 24 | 1U << 25; /* bf16, tiles, 8 bits */
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & wanted) == wanted &&
           syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return false;
#endif
}
#endif

/* By HEED_KERNEL, or the fastest. */
static void choose(void)
{
    const char *wanted = getenv("HEED_KERNEL");
    const bool is_named = wanted && *wanted;
    char names[128] = "";
    for (int i = 0; available[i]; i++) {
        if (!is_named || strcmp(wanted, available[i]->name) == 0)
            chosen = available[i];
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 available[i]->name);
    }
    if (!chosen)
        hd_fail(&refusal, HEED_BAD_OPTION,
                "HEED_KERNEL=%s: this CPU has %s; choose one of them, or unset HEED_KERNEL for the "
                "fastest",
                wanted, names);
}

static void find(void)
{
    int n = 0;
    available[n++] = &hd_kernels_ref;
    available[n++] = &hd_kernels_generic;
#if defined(__x86_64__)
    static const char deviates[] =
        "this CPU's unit for bf16 does not round as defined, so heed does without it";
    __builtin_cpu_init();
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool has_avx512 =
        has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (has_avx2)
        available[n++] = &hd_kernels_avx2;
    if (has_avx512)
        available[n++] = &hd_kernels_avx512;
    const bool has_vnni = has_avx512 && __builtin_cpu_supports("avx512vnni");
    const bool has_bf16 = has_vnni && __builtin_cpu_supports("avx512bf16");
    /* Intel's vdpbf16ps takes two cycles where two multiply-adds take one: 93 against 185 GFLOP/s on an Emerald Rapids. AMD's
     * is twice as fast as its multiply-adds. */
    const bool is_slow = __builtin_cpu_is("intel");
    const bool agrees = has_bf16 && hd_bf16_agrees(&hd_kernels_avx512bf16);
    if (has_bf16 && !agrees)
        note = deviates;
    if (agrees && is_slow)
        available[n++] = &hd_kernels_avx512bf16;
    if (has_vnni)
        available[n++] = &hd_kernels_avx512vnni;
    if (agrees && !is_slow)
        available[n++] = &hd_kernels_avx512bf16;
    if (has_vnni && may_use_amx()) {
        if (hd_bf16_agrees(&hd_kernels_amx))
            available[n++] = &hd_kernels_amx;
        else
            note = deviates;
    }
#elif defined(__aarch64__)
    available[n++] = &hd_kernels_neon;
#endif
    available[n] = NULL;
    choose();
}

const struct hd_kernels *const *hd_kernels_available(void)
{
    pthread_once(&once, find);
    return available;
}

const struct hd_kernels *hd_kernels_chosen(heed_error *err)
{
    pthread_once(&once, find);
    const struct hd_kernels *k = chosen;
    if (!k)
        hd_fail(err, refusal.code, "%s", refusal.message);
    return k;
}

const char *hd_kernels_note(void)
{
    pthread_once(&once, find);
    return note;
}

const char *hd_kernels_fast_precision(double *times)
{
#if defined(__x86_64__)
    const struct hd_kernels *k = hd_kernels_chosen(NULL);
    if (k == &hd_kernels_amx) {
        *times = 0;
        return "bf16-blocks";
    }
    if (k == &hd_kernels_avx512bf16 && !__builtin_cpu_is("intel")) {
        *times = 1.7;
        return "bf16";
    }
#endif
    *times = 0;
    return NULL;
}

void hd_kernels_choose(const struct hd_kernels *kernels)
{
    pthread_once(&once, find);
    chosen = kernels;
}
