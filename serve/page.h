/* page.h -- the files of the page, inside the module or in a folder. */
#ifndef HD_SERVE_PAGE_H
#define HD_SERVE_PAGE_H

#include "base/bytes.h"

#include <heed.h>

enum { HD_PAGE_FILES = 22 };

struct hd_page {
    struct hd_bytes packed[HD_PAGE_FILES]; /* by gzip; none where that failed */
    char etags[HD_PAGE_FILES][32];
};

struct hd_http;

void hd_page_init(struct hd_page *page);
void hd_page_release(struct hd_page *page);

/* The routes of its files, and of what describes the interface. */
void hd_page_serve(struct hd_http *http);
void hd_page_spec(struct hd_http *http);

#endif
