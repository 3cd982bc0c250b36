/* downloads.c -- a small shelf. */
#define _GNU_SOURCE /* getentropy */
#include "serve/downloads.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { KEPT_SECONDS = 1800 };

void hd_downloads_init(struct hd_downloads *d)
{
    *d = (struct hd_downloads){0};
    pthread_mutex_init(&d->lock, NULL);
}

void hd_downloads_release(struct hd_downloads *d)
{
    for (int i = 0; i < HD_DOWNLOADS; i++)
        hd_free(d->at[i].bytes.at);
    pthread_mutex_destroy(&d->lock);
}

static void clear(struct hd_download *one)
{
    hd_free(one->bytes.at);
    *one = (struct hd_download){0};
}

/* 32 hexadecimal digits and the file's own name, of which strange characters are left out. */
static bool make_name(char *name, const char *file_name)
{
    unsigned char random[16];
    if (getentropy(random, sizeof random) != 0)
        return false;
    for (int i = 0; i < 16; i++)
        snprintf(name + 2 * i, 3, "%02x", random[i]);
    size_t n = 32;
    name[n++] = '.';
    for (const char *c = file_name; *c && n < HD_DOWNLOAD_NAME - 1; c++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", *c))
            name[n++] = *c;
    name[n] = '\0';
    return true;
}

bool hd_downloads_put(struct hd_downloads *d, const char *file_name, struct hd_bytes *bytes,
                      char name[HD_DOWNLOAD_NAME])
{
    if (!make_name(name, file_name))
        return false;
    pthread_mutex_lock(&d->lock);
    struct hd_download *oldest = &d->at[0];
    for (int i = 1; i < HD_DOWNLOADS; i++)
        if (d->at[i].since < oldest->since)
            oldest = &d->at[i];
    clear(oldest);
    oldest->bytes = *bytes;
    oldest->since = hd_seconds();
    memcpy(oldest->name, name, HD_DOWNLOAD_NAME);
    *bytes = (struct hd_bytes){0};
    pthread_mutex_unlock(&d->lock);
    return true;
}

bool hd_downloads_get(struct hd_downloads *d, const char *name, struct hd_bytes *out)
{
    bool is_there = false;
    pthread_mutex_lock(&d->lock);
    for (int i = 0; i < HD_DOWNLOADS; i++) {
        struct hd_download *one = &d->at[i];
        if (one->since > 0 && hd_seconds() - one->since > KEPT_SECONDS)
            clear(one);
        if (!is_there && one->name[0] && strcmp(one->name, name) == 0) {
            hd_bytes_add(out, one->bytes.at, one->bytes.n);
            is_there = true;
        }
    }
    pthread_mutex_unlock(&d->lock);
    return is_there;
}
