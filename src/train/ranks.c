/* ranks.c -- joining the other ranks, if there are any, and small messages between them. */
#include "train/ranks.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/module.h"

#include <stdlib.h>
#include <string.h>

static const struct hd_module_name mpi_module = {
    .file = "heed_mpi.so",
    .environment = "HEED_MPI_MODULE",
    .symbol = "hd_exchange_module",
    .purpose = "training on several machines",
    .needs = "install MPI and build heed again (Debian, Ubuntu: apt-get install libopenmpi-dev)",
};

/* How many ranks the launcher says there are; 1 without one. */
static int launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text && atoi(text) > 0)
            return atoi(text);
    }
    return 1;
}

bool hd_ranks_join(struct hd_ranks *r, heed_error *err)
{
    *r = (struct hd_ranks){.n = 1, .n_here = 1};
    if (launched() == 1)
        return true;
    const struct hd_exchange_module *module = hd_module_open(&mpi_module, err);
    if (!module)
        return false;
    if (strcmp(module->version, HEED_VERSION) != 0)
        return hd_fail(
            err, HEED_BAD_FILE,
            "the module heed_mpi.so is of heed %s, but this is heed %s; install both together",
            module->version, HEED_VERSION);
    r->module = module;
    return module->open(&r->rank, &r->n, &r->n_here, err);
}

void hd_ranks_leave(struct hd_ranks *r, bool has_failed)
{
    if (r->module)
        r->module->close(has_failed);
    r->module = NULL;
}

bool hd_ranks_tell(struct hd_ranks *r, void *bytes, size_t n, heed_error *err)
{
    return !r->module || r->module->tell(0, bytes, n, err);
}

bool hd_ranks_wait(struct hd_ranks *r, int slot, heed_error *err)
{
    const double before = hd_seconds();
    const bool ok = r->module->wait(slot, err);
    r->seconds += hd_seconds() - before;
    return ok;
}

bool hd_ranks_gather(struct hd_ranks *r, void *all, const size_t *at, const size_t *n,
                     heed_error *err)
{
    return !r->module || (r->module->gather(0, all, at, n, err) && hd_ranks_wait(r, 0, err));
}

bool hd_ranks_vote(struct hd_ranks *r, unsigned *bits, heed_error *err)
{
    if (!r->module)
        return true;
    unsigned *all = hd_alloc((size_t)r->n, sizeof *all, err);
    size_t *places = hd_alloc(2 * (size_t)r->n, sizeof *places, err);
    bool ok = all && places;
    for (int i = 0; ok && i < r->n; i++) {
        places[i] = (size_t)i * sizeof *all;
        places[r->n + i] = sizeof *all;
    }
    if (ok)
        all[r->rank] = *bits;
    ok = ok && hd_ranks_gather(r, all, places, places + r->n, err);
    for (int i = 0; ok && i < r->n; i++)
        *bits |= all[i];
    hd_free(all);
    hd_free(places);
    return ok;
}
