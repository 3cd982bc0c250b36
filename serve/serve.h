/* serve.h -- the door between libheed and the module that serves translations over HTTP, heed_serve.so.
 *
 * libheed has the names of the settings (src/server/) and opens the module; the module has libmicrohttpd and a libheed of its own,
 * so models are named to it by files or bytes and never handed over as objects. */
#ifndef HD_SERVE_SERVE_H
#define HD_SERVE_SERVE_H

#include <heed.h>

/* A model that is in memory already. */
struct hd_serve_model {
    const char *name;
    const void *data;
    size_t size;
};

/* What a server is told, by the rows of src/server/server.c. Times are in seconds. */
struct hd_serve_settings {
    heed_option_list models; /* [SOURCE-TARGET=]FILE[,FILE...] */
    char *host;
    int port;   /* 0: any that is free */
    char *page; /* folder of the page's files; NULL: those inside */
    bool has_page, has_files, has_metrics;
    char *memory; /* a file; NULL: none */
    char *api_keys;
    bool is_insecure, trusts_proxy;
    heed_option_list origins, host_names;
    int rate; /* texts a minute from one key or address; 0: any number */
    int max_body, max_characters, max_texts, max_alternatives, max_beam, max_queue, max_numbers;
    int max_connections, max_connections_each;
    int header_time, body_time, idle_time, answer_time, drain_time;
    bool logs_text, is_verbose, is_quiet;
    heed_option_list translator;  /* "name=value" */
    struct hd_serve_model inside; /* the model that is used when none is named; {0}: none */
    int control;                  /* to be read: 's' asks to stop, 'r' to read the models again */
    void (*say)(void *context, enum heed_server_news news, const char *text);
    void *context;
};

struct hd_serve_module {
    const char *version; /* HEED_VERSION of the build */

    /* Serve until told to stop. False with the reason in `err`. */
    bool (*run)(const struct hd_serve_settings *settings, heed_error *err);
};

/* What the library looks for in the module. */
extern HEED_API const struct hd_serve_module hd_serve_module;

#endif
