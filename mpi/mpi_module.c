/* module.c -- the exchange by MPI. Made for one thread: the one that trains. */
#include "mpi/exchange.h"

#include "base/error.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

static MPI_Comm everybody;
static MPI_Request under_way[HD_EXCHANGE_SLOTS];
static int my_rank, n_ranks;
static int *numbers; /* counts and places of each slot: [SLOTS][4][n_ranks] */

static bool check(int code, const char *what, heed_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    if (code == MPI_SUCCESS)
        return true;
    MPI_Error_string(code, text, &n);
    return hd_fail(err, HEED_BAD_FILE, "rank %d lost the others while %s: %s", my_rank, what, text);
}

static bool open_mpi(int *rank, int *n, int *n_here, heed_error *err)
{
    int is_there = 0, provided = 0;
    MPI_Initialized(&is_there);
    if (!is_there && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return hd_fail(err, HEED_BAD_FILE,
                       "MPI cannot be started; was the program started by mpirun?");
    MPI_Comm here;
    MPI_Comm_dup(MPI_COMM_WORLD, &everybody);
    MPI_Comm_set_errhandler(everybody, MPI_ERRORS_RETURN);
    MPI_Comm_rank(everybody, &my_rank);
    MPI_Comm_size(everybody, &n_ranks);
    MPI_Comm_split_type(everybody, MPI_COMM_TYPE_SHARED, my_rank, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, n_here);
    MPI_Comm_free(&here);
    for (int i = 0; i < HD_EXCHANGE_SLOTS; i++)
        under_way[i] = MPI_REQUEST_NULL;
    numbers = calloc((size_t)n_ranks * 4 * HD_EXCHANGE_SLOTS, sizeof *numbers);
    *rank = my_rank;
    *n = n_ranks;
    return numbers || hd_fail(err, HEED_NO_MEMORY, "there is no memory left");
}

static void end_all(void)
{
    MPI_Abort(everybody, 1);
}

static void close_mpi(bool has_failed)
{
    if (has_failed && n_ranks > 1) {
        atexit(end_all); /* when this rank has said why */
        return;
    }
    free(numbers);
    numbers = NULL;
    MPI_Comm_free(&everybody);
    MPI_Finalize();
}

/* MPI counts in ints. */
static bool to_ints(int *out, const size_t *in, heed_error *err)
{
    for (int i = 0; i < n_ranks; i++) {
        if (in[i] > INT_MAX)
            return hd_fail(err, HEED_BAD_OPTION, "a message of %zu bytes is too large", in[i]);
        out[i] = (int)in[i];
    }
    return true;
}

static int *numbers_of(int slot, int which)
{
    return numbers + ((size_t)slot * 4 + (size_t)which) * (size_t)n_ranks;
}

static bool scatter(int slot, const void *from, const size_t *at, const size_t *n, void *to,
                    const size_t *to_at, const size_t *to_n, heed_error *err)
{
    int *counts = numbers_of(slot, 0), *places = numbers_of(slot, 1),
        *to_counts = numbers_of(slot, 2), *to_places = numbers_of(slot, 3);
    return to_ints(counts, n, err) && to_ints(places, at, err) && to_ints(to_counts, to_n, err) &&
           to_ints(to_places, to_at, err) &&
           check(MPI_Ialltoallv(from, counts, places, MPI_BYTE, to, to_counts, to_places, MPI_BYTE,
                                everybody, &under_way[slot]),
                 "adding gradients", err);
}

static bool gather(int slot, void *all, const size_t *at, const size_t *n, heed_error *err)
{
    int *counts = numbers_of(slot, 0), *places = numbers_of(slot, 1);
    return to_ints(counts, n, err) && to_ints(places, at, err) &&
           check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_BYTE,
                                 everybody, &under_way[slot]),
                 "sharing parameters", err);
}

static bool wait_for(int slot, heed_error *err)
{
    return check(MPI_Wait(&under_way[slot], MPI_STATUS_IGNORE), "waiting", err);
}

static bool tell(int from, void *bytes, size_t n, heed_error *err)
{
    enum { MOST = 1 << 30 };
    for (size_t at = 0; at < n; at += MOST) {
        const int here = n - at < MOST ? (int)(n - at) : MOST;
        if (!check(MPI_Bcast((char *)bytes + at, here, MPI_BYTE, from, everybody), "listening",
                   err))
            return false;
    }
    return true;
}

const struct hd_exchange_module hd_exchange_module = {
    .version = HEED_VERSION,
    .open = open_mpi,
    .close = close_mpi,
    .scatter = scatter,
    .gather = gather,
    .wait = wait_for,
    .tell = tell,
};
