/* faults.c -- a library to be loaded before a program (LD_PRELOAD) that lets its system calls fail on demand.
 *
 * HEED_FAULTS is a list of rules "CALL:FAULT" or "CALL:FAULT:N", separated by commas; N is the one call that fails, counted from 1
 * over the whole process, and without N all of them do. Calls are open, read, write, fsync, rename, mmap, close and memory (posix_memalign,
 * libheed's one door to the heap, called by the program itself). Faults are errnos (ENOSPC, EIO, ENOMEM, EMFILE, EINTR: then every second call, so that
 * who tries again gets on), `short` (half of what was asked for), `slow` (some milliseconds), `kill` (the process ends before the
 * call, as by kill -9) and `torn` (it ends in the middle: half is written).
 *
 *     HEED_FAULTS=write:short,fsync:slow,rename:kill:3 LD_PRELOAD=build/torture/faults.so build/heed train ...
 *
 * Only ordinary files fail: what the program says always comes through. A file is told from others by its descriptor, so stdio, which
 * makes its calls inside the C library, is not reached; a limit on the size of files (ulimit -f) reaches it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum call { OPEN, READ, WRITE, FSYNC, RENAME, MMAP, CLOSE, MEMORY, N_CALLS };
static const char *const call_names[] = {"open",   "read", "write", "fsync",
                                         "rename", "mmap", "close", "memory"};

enum { NONE = 0, SHORT = -1, SLOW = -2, KILL = -3, TORN = -4 }; /* else an errno */
static const struct {
    const char *name;
    int fault;
} fault_names[] = {{"short", SHORT},   {"slow", SLOW},     {"kill", KILL},
                   {"torn", TORN},     {"ENOSPC", ENOSPC}, {"EIO", EIO},
                   {"ENOMEM", ENOMEM}, {"EMFILE", EMFILE}, {"EINTR", EINTR}};

static struct rule {
    enum call call;
    int fault;
    long n; /* 0: all */
} rules[16];
static int n_rules;
static atomic_long n_calls[N_CALLS];

static bool read_rule(const char *text, struct rule *rule)
{
    char call[16], fault[16];
    *rule = (struct rule){.call = N_CALLS};
    if (sscanf(text, "%15[a-z]:%15[A-Za-z]:%ld", call, fault, &rule->n) < 2)
        return false;
    for (int i = 0; i < N_CALLS; i++)
        if (strcmp(call, call_names[i]) == 0)
            rule->call = (enum call)i;
    for (size_t i = 0; i < sizeof fault_names / sizeof *fault_names; i++)
        if (strcmp(fault, fault_names[i].name) == 0)
            rule->fault = fault_names[i].fault;
    return rule->call != N_CALLS && rule->fault != NONE;
}

__attribute__((constructor)) static void read_rules(void)
{
    char text[512];
    snprintf(text, sizeof text, "%s", getenv("HEED_FAULTS") ? getenv("HEED_FAULTS") : "");
    for (char *rest = text, *one; (one = strsep(&rest, ","));) {
        if (*one == '\0')
            continue;
        if (n_rules == sizeof rules / sizeof *rules || !read_rule(one, &rules[n_rules])) {
            fprintf(stderr, "faults.so: HEED_FAULTS has a rule '%s' that is none\n", one);
            _exit(99);
        }
        n_rules++;
    }
}

/* What happens to this call; what only takes time has happened already. */
static int fault_of(enum call call)
{
    const long n = atomic_fetch_add(&n_calls[call], 1) + 1;
    int fault = NONE;
    for (int i = 0; i < n_rules; i++) {
        const struct rule *r = &rules[i];
        const bool is_hit = r->n ? r->n == n : r->fault != EINTR || n % 2;
        if (r->call != call || !is_hit)
            continue;
        if (r->fault == SLOW)
            nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
        else if (r->fault == KILL)
            raise(SIGKILL);
        else
            fault = r->fault;
    }
    return fault;
}

static bool is_ordinary(int fd)
{
    struct stat st;
    return fd > STDERR_FILENO && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define EXPORTED   __attribute__((visibility("default")))

EXPORTED int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    const bool is_system = strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
    const int fault = is_system ? NONE : fault_of(OPEN);
    if (fault > 0)
        return errno = fault, -1;
    return REAL(open)(path, flags, mode);
}

EXPORTED ssize_t read(int fd, void *to, size_t n)
{
    const int fault = is_ordinary(fd) ? fault_of(READ) : NONE;
    if (fault > 0)
        return errno = fault, -1;
    return REAL(read)(fd, to, fault == SHORT && n > 1 ? n / 2 : n);
}

EXPORTED ssize_t write(int fd, const void *from, size_t n)
{
    const int fault = is_ordinary(fd) ? fault_of(WRITE) : NONE;
    if (fault > 0)
        return errno = fault, -1;
    const ssize_t taken =
        REAL(write)(fd, from, (fault == SHORT || fault == TORN) && n > 1 ? n / 2 : n);
    if (fault == TORN)
        raise(SIGKILL);
    return taken;
}

EXPORTED int fsync(int fd)
{
    const int fault = fault_of(FSYNC);
    return fault > 0 ? errno = fault, -1 : REAL(fsync)(fd);
}

EXPORTED int rename(const char *from, const char *to)
{
    const int fault = fault_of(RENAME);
    return fault > 0 ? errno = fault, -1 : REAL(rename)(from, to);
}

EXPORTED void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    const int fault = fd >= 0 && is_ordinary(fd) ? fault_of(MMAP) : NONE;
    return fault > 0 ? errno = fault, MAP_FAILED : REAL(mmap)(at, n, protection, flags, fd, offset);
}

EXPORTED int close(int fd)
{
    const int fault = is_ordinary(fd) ? fault_of(CLOSE) : NONE;
    const int status = REAL(close)(fd); /* a descriptor is closed whatever is returned */
    return fault > 0 ? errno = fault, -1 : status;
}

/* Of the program itself; libraries that end it when there is no memory (glib) are not what is tested. */
static bool is_of_program(const void *caller)
{
    Dl_info here;
    const uintptr_t headers = getauxval(AT_PHDR); /* on the program's first page */
    return dladdr(caller, &here) && (uintptr_t)here.dli_fbase / 4096 == headers / 4096;
}

EXPORTED int posix_memalign(void **to, size_t alignment, size_t n)
{
    return is_of_program(__builtin_return_address(0)) && fault_of(MEMORY) > 0
               ? ENOMEM
               : REAL(posix_memalign)(to, alignment, n);
}
