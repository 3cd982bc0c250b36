/* shelf.c -- open files, by path. */
#include "translate/shelf.h"

#include "base/memory.h"

#include <pthread.h>
#include <string.h>

struct book {
    char *path;
    struct hd_vectors vectors;
    struct book *next;
};

struct hd_shelf {
    pthread_mutex_t lock;
    struct book *first; /* the one opened last */
};

struct hd_shelf *hd_shelf_new(heed_error *err)
{
    struct hd_shelf *s = hd_new(struct hd_shelf, err);
    if (s)
        pthread_mutex_init(&s->lock, NULL);
    return s;
}

static void free_book(struct book *b)
{
    hd_vectors_close(&b->vectors);
    hd_free(b->path);
    hd_free(b);
}

void hd_shelf_free(struct hd_shelf *s)
{
    if (!s)
        return;
    for (struct book *b = s->first, *next; b; b = next) {
        next = b->next;
        free_book(b);
    }
    pthread_mutex_destroy(&s->lock);
    hd_free(s);
}

static struct book *open_book(const char *path, heed_error *err)
{
    struct book *b = hd_new(struct book, err);
    if (!b)
        return NULL;
    b->path = hd_copy_string(path, err);
    if (b->path && hd_vectors_open(&b->vectors, path, err))
        return b;
    free_book(b);
    return NULL;
}

const struct hd_vectors *hd_shelf_find(struct hd_shelf *s, const char *path, heed_error *err)
{
    pthread_mutex_lock(&s->lock);
    struct book *b = s->first;
    while (b && strcmp(b->path, path) != 0)
        b = b->next;
    if (!b && (b = open_book(path, err))) {
        b->next = s->first;
        s->first = b;
    }
    pthread_mutex_unlock(&s->lock);
    return b ? &b->vectors : NULL;
}
