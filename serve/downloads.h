/* downloads.h -- translated files that wait to be fetched. They are kept in memory under a name that cannot be guessed, for half an
 * hour, and the oldest go when there are too many. */
#ifndef HD_SERVE_DOWNLOADS_H
#define HD_SERVE_DOWNLOADS_H

#include "base/bytes.h"

#include <pthread.h>

enum { HD_DOWNLOADS = 64, HD_DOWNLOAD_NAME = 160 };

struct hd_download {
    char name[HD_DOWNLOAD_NAME];
    struct hd_bytes bytes;
    double since;
};

struct hd_downloads {
    pthread_mutex_t lock;
    struct hd_download at[HD_DOWNLOADS];
};

void hd_downloads_init(struct hd_downloads *downloads);
void hd_downloads_release(struct hd_downloads *downloads);

/* Keep a file; its bytes are taken over, and its new name written. False when the system has no random numbers. */
bool hd_downloads_put(struct hd_downloads *downloads, const char *file_name, struct hd_bytes *bytes,
                      char name[HD_DOWNLOAD_NAME]);

/* A copy of a file's bytes; false where there is none of this name. */
bool hd_downloads_get(struct hd_downloads *downloads, const char *name, struct hd_bytes *copy);

#endif
