/* result.c -- results and their memory.
 *
 * A result is made of many small arrays. They stand one after the other in a few blocks, the first of which also holds the
 * result itself, so a short sentence costs one or two calls of malloc. */
#include "translate/result.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_BLOCK = 2 << 10, LEAST_BLOCK = 4 << 10, ALIGN = alignof(max_align_t) };

struct block {
    struct block *next;
    size_t n, capacity; /* bytes behind the block's own head */
};

enum { HEAD = (sizeof(struct block) + ALIGN - 1) / ALIGN * ALIGN };

/* What heed_result really is. */
struct owned {
    heed_result result; /* first: a pointer to it is a pointer to this */
    struct block *blocks;
};

static struct block *block_new(size_t capacity, heed_error *err)
{
    size_t bytes;
    if (!hd_add_size(&bytes, capacity, HEAD)) {
        hd_fail(err, HEED_NO_MEMORY, "a text is too long for the memory of this machine");
        return NULL;
    }
    struct block *block = hd_alloc(bytes, 1, err);
    if (block)
        block->capacity = capacity;
    return block;
}

static void *take(struct block *block, size_t bytes)
{
    if (block->capacity - block->n < bytes)
        return NULL;
    void *memory = (char *)block + HEAD + block->n;
    block->n += bytes;
    return memory;
}

heed_result *hd_result_new(heed_error *err)
{
    struct block *first = block_new(FIRST_BLOCK, err);
    if (!first)
        return NULL;
    struct owned *owned = take(first, (sizeof *owned + ALIGN - 1) / ALIGN * ALIGN);
    owned->blocks = first;
    return &owned->result;
}

void *hd_result_keep(heed_result *result, size_t count, size_t size, heed_error *err)
{
    struct owned *owned = (struct owned *)result;
    size_t bytes;
    if (!hd_mul_size(&bytes, count, size) || !hd_add_size(&bytes, bytes, ALIGN - 1)) {
        hd_fail(err, HEED_NO_MEMORY, "a text is too long for the memory of this machine");
        return NULL;
    }
    bytes = bytes / ALIGN * ALIGN;
    void *memory = take(owned->blocks, bytes);
    if (memory)
        return memory;
    struct block *block = block_new(bytes > LEAST_BLOCK / 2 ? bytes : LEAST_BLOCK, err);
    if (!block)
        return NULL;
    if (block->capacity == bytes) { /* full at once: the one before may have room for more */
        block->next = owned->blocks->next;
        owned->blocks->next = block;
    } else {
        block->next = owned->blocks;
        owned->blocks = block;
    }
    return take(block, bytes);
}

void heed_result_free(heed_result *result)
{
    if (!result)
        return;
    for (struct block *block = ((struct owned *)result)->blocks, *next; block; block = next) {
        next = block->next;
        hd_free(block);
    }
}

void hd_result_warn(heed_result *result, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char **list = hd_result_keep(result, result->n_warnings + 1, sizeof *list, NULL);
    char *copy = hd_result_keep(result, strlen(text) + 1, 1, NULL);
    if (!list || !copy)
        return;
    if (result->n_warnings > 0)
        memcpy(list, result->warnings, result->n_warnings * sizeof *list);
    list[result->n_warnings] = strcpy(copy, text);
    result->warnings = list;
    result->n_warnings++;
}

heed_results *hd_results_new(size_t n, heed_error *err)
{
    heed_results *results = hd_new(heed_results, err);
    if (!results)
        return NULL;
    results->at = hd_alloc(n, sizeof *results->at, err);
    if (!results->at) {
        hd_free(results);
        return NULL;
    }
    results->n = n;
    return results;
}

void heed_results_free(heed_results *results)
{
    if (!results)
        return;
    for (size_t i = 0; i < results->n; i++)
        heed_result_free(results->at[i]);
    hd_free(results->at);
    hd_free(results);
}
