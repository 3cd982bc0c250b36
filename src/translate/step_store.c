/* step_store.c -- a head, and records behind it: number, how many steps, their words, their states, a checksum. */
#include "translate/step_store.h"

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/file.h"
#include "base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENOUGH_TO_WRITE = 1 << 20, MOST_STEPS = 1 << 16 };
static const size_t MOST_BYTES = (size_t)1 << 30; /* of a file */

struct head {
    char magic[16];
    uint64_t model;
    uint32_t width, zero;
};

struct record {
    uint64_t number;
    uint32_t n, zero;
};

struct place {
    uint64_t number;
    size_t at; /* of its record in the file */
};

struct hd_step_store {
    char *path;
    mode_t
        mode; /* who may read and write it: as of the memory, whose sentences can be told from it */
    struct head head;
    struct hd_map map;
    struct place *places; /* by number, then place */
    size_t n_places, capacity;
    struct hd_bytes waiting; /* to be written */
    size_t size;             /* of the file, and of what waits */
};

static size_t record_size(uint32_t n, uint32_t width)
{
    const size_t step = sizeof(double) + sizeof(int) + (size_t)width * sizeof(float);
    return sizeof(struct record) + (size_t)n * step + sizeof(uint64_t);
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Where records are, as far as the file goes. */
static bool find_places(struct hd_step_store *s)
{
    const char *bytes = s->map.data;
    struct record r;
    size_t at = sizeof s->head;
    while (at + sizeof r <= s->map.size) {
        memcpy(&r, bytes + at, sizeof r);
        const size_t size = record_size(r.n, s->head.width);
        if (r.n == 0 || r.n > MOST_STEPS || r.zero != 0 || size > s->map.size - at)
            break;
        struct place *grown =
            hd_grow(s->places, &s->capacity, s->n_places + 1, sizeof *grown, NULL);
        if (!grown)
            return false;
        s->places = grown;
        grown[s->n_places++] = (struct place){r.number, at};
        at += size;
    }
    if (at != s->map.size) /* its end is broken: those behind would never be found */
        unlink(s->path);
    if (s->n_places > 1)
        qsort(s->places, s->n_places, sizeof *s->places, by_number);
    return true;
}

static bool read_steps(const struct hd_step_store *s, size_t at, struct hd_steps *steps)
{
    const char *bytes = (const char *)s->map.data + at;
    struct record r;
    uint64_t sum;
    memcpy(&r, bytes, sizeof r);
    const size_t n = r.n, width = s->head.width, size = record_size(r.n, s->head.width);
    memcpy(&sum, bytes + size - sizeof sum, sizeof sum);
    if (sum != hd_checksum_of(bytes, size - sizeof sum))
        return false;
    *steps = (struct hd_steps){.n = (int)n,
                               .width = (int)width,
                               .next = hd_alloc(n, sizeof *steps->next, NULL),
                               .states = hd_alloc(n * width, sizeof *steps->states, NULL),
                               .square = hd_alloc(n, sizeof *steps->square, NULL)};
    if (!steps->next || !steps->states || !steps->square) {
        hd_steps_release(steps);
        return false;
    }
    bytes += sizeof r;
    memcpy(steps->square, bytes, n * sizeof *steps->square);
    bytes += n * sizeof *steps->square;
    memcpy(steps->next, bytes, n * sizeof *steps->next);
    bytes += n * sizeof *steps->next;
    memcpy(steps->states, bytes, n * width * sizeof *steps->states);
    return true;
}

bool hd_step_store_find(const struct hd_step_store *s, uint64_t number, struct hd_steps *steps)
{
    size_t low = 0, high = s ? s->n_places : 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->places[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return s && low < s->n_places && s->places[low].number == number &&
           read_steps(s, s->places[low].at, steps);
}

/* ---- writing ----------------------------------------------------------------------------------------- */

/* A file that is new gets its head; one of another kind is left alone. */
static void flush(struct hd_step_store *s)
{
    const int fd =
        s->waiting.n > 0 ? open(s->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, s->mode) : -1;
    if (fd < 0) {
        s->waiting.n = 0;
        return;
    }
    struct stat about;
    if (fstat(fd, &about) == 0 && about.st_size == 0 &&
        write(fd, &s->head, sizeof s->head) != (ssize_t)sizeof s->head)
        s->waiting.n = 0;
    if (s->waiting.n > 0 && write(fd, s->waiting.at, s->waiting.n) < (ssize_t)s->waiting.n)
        s->size = MOST_BYTES; /* no more of this: what was cut off ends the file for readers */
    s->waiting.n = 0;
    close(fd);
}

void hd_step_store_add(struct hd_step_store *s, uint64_t number, const struct hd_steps *steps)
{
    if (!s || steps->n > MOST_STEPS ||
        s->size + record_size((uint32_t)steps->n, s->head.width) > MOST_BYTES)
        return;
    const size_t begin = s->waiting.n;
    const struct record r = {.number = number, .n = (uint32_t)steps->n};
    hd_bytes_add(&s->waiting, (const char *)&r, sizeof r);
    hd_bytes_add(&s->waiting, (const char *)steps->square,
                 (size_t)steps->n * sizeof *steps->square);
    hd_bytes_add(&s->waiting, (const char *)steps->next, (size_t)steps->n * sizeof *steps->next);
    hd_bytes_add(&s->waiting, (const char *)steps->states,
                 (size_t)steps->n * (size_t)steps->width * sizeof *steps->states);
    if (s->waiting.has_failed) {
        s->waiting.n = begin;
        return;
    }
    const uint64_t sum = hd_checksum_of(s->waiting.at + begin, s->waiting.n - begin);
    hd_bytes_add(&s->waiting, (const char *)&sum, sizeof sum);
    s->size += s->waiting.n - begin;
    if (s->waiting.n > ENOUGH_TO_WRITE)
        flush(s);
}

/* ---- a store --------------------------------------------------------------------------------------------- */

static mode_t mode_of(const char *path, mode_t otherwise)
{
    struct stat about;
    return stat(path, &about) == 0 ? about.st_mode & 0777 : otherwise;
}

/* Steps that were written when more was allowed. */
static void narrow(const struct hd_step_store *s)
{
    const mode_t mode = mode_of(s->path, 0);
    if ((mode & ~s->mode) != 0 && chmod(s->path, mode & s->mode) != 0) {
        /* it is somebody else's, who has to know */
    }
}

static bool is_ours(const struct hd_step_store *s)
{
    return s->map.size >= sizeof s->head && memcmp(s->map.data, &s->head, sizeof s->head) == 0;
}

struct hd_step_store *hd_step_store_open(const char *memory, uint64_t model, int width)
{
    struct hd_step_store *s = hd_new(struct hd_step_store, NULL);
    const size_t n = strlen(memory) + 32;
    if (!s || !(s->path = hd_alloc(n, 1, NULL))) {
        hd_free(s);
        return NULL;
    }
    snprintf(s->path, n, "%s.%016llx.steps", memory, (unsigned long long)model);
    s->mode = mode_of(memory, 0600) & 0666;
    s->head = (struct head){.magic = "heed steps 1\n", .model = model, .width = (uint32_t)width};
    heed_error none = {0};
    if (hd_map_open(&s->map, s->path, &none) && (!is_ours(s) || !find_places(s))) {
        hd_map_close(&s->map);
        s->n_places = 0;
        s->size = MOST_BYTES; /* somebody else's: nothing is written to it */
    }
    s->size += s->map.size;
    if (s->map.size > 0)
        narrow(s);
    return s;
}

void hd_step_store_close(struct hd_step_store *s)
{
    if (!s)
        return;
    flush(s);
    hd_map_close(&s->map);
    hd_free(s->waiting.at);
    hd_free(s->places);
    hd_free(s->path);
    hd_free(s);
}
