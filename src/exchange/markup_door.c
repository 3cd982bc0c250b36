/* markup_door.c -- the module that reads HTML and XML is opened when it is first asked for. */
#include "exchange/markup_door.h"

#include "base/error.h"
#include "base/module.h"

#include <pthread.h>
#include <string.h>

static const struct hd_module_name markup_module = {
    .file = "heed_markup.so",
    .environment = "HEED_MARKUP_MODULE",
    .symbol = "hd_markup_module",
    .purpose = "HTML and XML",
    .needs = "install gumbo and libxml2 (Debian, Ubuntu: apt-get install libgumbo-dev libxml2-dev)",
};

/* Opened once, and open from then on; a failure is not remembered. */
const struct hd_markup_module *hd_markup_open(heed_error *err)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static const struct hd_markup_module *opened;
    pthread_mutex_lock(&mutex);
    if (!opened) {
        const struct hd_markup_module *module = hd_module_open(&markup_module, err);
        if (module && strcmp(module->version, HEED_VERSION) != 0)
            hd_fail(err, HEED_BAD_FILE,
                    "the module heed_markup.so is of heed %s, but this is heed %s; install both "
                    "together",
                    module->version, HEED_VERSION);
        else
            opened = module;
    }
    const struct hd_markup_module *module = opened;
    pthread_mutex_unlock(&mutex);
    return module;
}
