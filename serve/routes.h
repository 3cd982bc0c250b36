/* routes.h -- what the server does at each address. */
#ifndef HD_SERVE_ROUTES_H
#define HD_SERVE_ROUTES_H

#include "serve/http.h"

/* LibreTranslate's (libre.c). */
void hd_libre_translate(struct hd_http *http);
void hd_libre_detect(struct hd_http *http);
void hd_libre_languages(struct hd_http *http);
void hd_libre_settings(struct hd_http *http);
void hd_libre_health(struct hd_http *http);
void hd_libre_metrics(struct hd_http *http);

/* The translation memory: LibreTranslate's way to add to it, and heed's own to see it (suggestions.c). */
void hd_libre_suggest(struct hd_http *http);
void hd_own_memory(struct hd_http *http);

/* Files (files.c). */
void hd_files_translate(struct hd_http *http);
void hd_files_download(struct hd_http *http);

/* How names of files that can be translated end, one by one: ".txt". NULL when there are no more. */
const char *hd_files_ending(size_t i);

/* DeepL's (deepl.c). */
void hd_deepl_translate(struct hd_http *http);
void hd_deepl_languages(struct hd_http *http);
void hd_deepl_usage(struct hd_http *http);

/* heed's own (own.c). */
void hd_own_translate(struct hd_http *http);
void hd_own_align(struct hd_http *http);
void hd_own_score(struct hd_http *http);
void hd_own_model(struct hd_http *http);
void hd_own_plot(struct hd_http *http);

#endif
