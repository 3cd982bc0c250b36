/* hmm.c -- forward and backward over one sentence pair.
 *
 * Each step is scaled to a sum of 1, so that nothing becomes too small for a float. The sentence begins in front of the first state and
 * ends behind the last one: both are places to jump from and to. */
#include "align/hmm.h"

#include "base/memory.h"

#include <string.h>

void hd_hmm_room_release(struct hd_hmm_room *room)
{
    hd_free(room->at);
    *room = (struct hd_hmm_room){0};
}

/* ---- jumps --------------------------------------------------------------------------------------- */

void hd_jumps_begin(struct hd_jumps *jumps)
{
    *jumps = (struct hd_jumps){0};
    for (int i = 0; i < HD_N_JUMPS; i++) {
        const int away = i - HD_LONGEST_JUMP - 1;
        jumps->weight[i] = 1 / (1 + 2 * (float)(away < 0 ? -away : away));
    }
}

void hd_jumps_estimate(struct hd_jumps *jumps)
{
    const double one = 0x1p32, little = 0.5;
    double sum = 0;
    for (int i = 0; i < HD_N_JUMPS; i++)
        sum += (double)jumps->count[i] / one + little;
    for (int i = 0; i < HD_N_JUMPS; i++) {
        jumps->weight[i] = (float)(((double)jumps->count[i] / one + little) / sum);
        jumps->count[i] = 0;
    }
}

static int jump_at(int from, int to)
{
    const int jump = to - from;
    return HD_LONGEST_JUMP + (jump < -HD_LONGEST_JUMP  ? -HD_LONGEST_JUMP
                              : jump > HD_LONGEST_JUMP ? HD_LONGEST_JUMP
                                                       : jump);
}

/* ---- a sentence pair ------------------------------------------------------------------------------- */

/* Row 0 of `go` is the way in, row i + 1 the way on from state i; column n_states is the way out. */
struct work {
    int n, n_made, width; /* width = n + 1 */
    float *go;            /* [n + 1][n + 1] */
    float *forward;       /* [n_made][n]: made in the state */
    float *idle;          /* [n_made][n + 1]: made in none, after the state, or before the first */
    float *back, *back_idle, *next; /* [n + 1], of the step in work */
    float *scale;                   /* [n_made] */
};

static bool make_work(struct work *w, const struct hd_hmm *h, struct hd_hmm_room *room,
                      heed_error *err)
{
    const size_t n = (size_t)h->n_states, m = (size_t)h->n_made, width = n + 1;
    const size_t need = width * width + m * n + m * width + 3 * width + m;
    float *at = hd_grow(room->at, &room->capacity, need, sizeof *at, err);
    if (!at)
        return false;
    room->at = at;
    *w = (struct work){.n = h->n_states, .n_made = h->n_made, .width = h->n_states + 1, .go = at};
    w->forward = w->go + width * width;
    w->idle = w->forward + m * n;
    w->back = w->idle + m * width;
    w->back_idle = w->back + width;
    w->next = w->back_idle + width;
    w->scale = w->next + width;
    return true;
}

static void fill_ways(struct work *w, const struct hd_jumps *jumps)
{
    for (int from = -1; from < w->n; from++) {
        float *row = w->go + (size_t)(from + 1) * (size_t)w->width, sum = 0;
        for (int to = 0; to < w->width; to++) {
            row[to] = jumps->weight[jump_at(from, to)];
            sum += row[to];
        }
        for (int to = 0; to < w->width; to++)
            row[to] /= sum;
    }
}

/* after[0] is in front of the first state, after[i + 1] in state i: where we are before word j is made. */
static void where(float *after, const struct work *w, int j)
{
    if (j == 0) {
        memset(after, 0, (size_t)w->width * sizeof *after);
        after[0] = 1;
        return;
    }
    const float *forward = w->forward + (size_t)(j - 1) * (size_t)w->n;
    const float *idle = w->idle + (size_t)(j - 1) * (size_t)w->width;
    after[0] = idle[0];
    for (int i = 0; i < w->n; i++)
        after[i + 1] = forward[i] + idle[i + 1];
}

static void run_forward(struct work *w, const struct hd_hmm *h)
{
    const int n = w->n, width = w->width;
    float *after = w->next;
    for (int j = 0; j < w->n_made; j++) {
        const float *make = h->make + (size_t)j * (size_t)n;
        float *forward = w->forward + (size_t)j * (size_t)n;
        float *idle = w->idle + (size_t)j * (size_t)width, sum = 0;
        where(after, w, j);
        memset(forward, 0, (size_t)n * sizeof *forward);
        for (int i = 0; i < width; i++)
            if (after[i] > 0)
                for (int k = 0; k < n; k++)
                    forward[k] += after[i] * w->go[(size_t)i * (size_t)width + (size_t)k];
        for (int k = 0; k < n; k++) {
            forward[k] *= (1 - h->p_none) * make[k];
            sum += forward[k];
        }
        for (int i = 0; i < width; i++) {
            idle[i] = after[i] * h->p_none * h->none[j];
            sum += idle[i];
        }
        w->scale[j] = sum > 0 ? 1 / sum : 0;
        for (int k = 0; k < n; k++)
            forward[k] *= w->scale[j];
        for (int i = 0; i < width; i++)
            idle[i] *= w->scale[j];
    }
}

static void count_jumps(const struct work *w, const struct hd_hmm *h, int j, const float *after,
                        const float *back, float norm, uint64_t *counts)
{
    const float *make = h->make + (size_t)j * (size_t)w->n;
    for (int i = 0; i < w->width; i++) {
        const float *go = w->go + (size_t)i * (size_t)w->width;
        if (after[i] <= 0)
            continue;
        for (int k = 0; k < w->n; k++) {
            const float share = after[i] * go[k] * (1 - h->p_none) * make[k] * back[k + 1] * norm;
            counts[jump_at(i - 1, k)] += (uint64_t)(share * 0x1p32F);
        }
    }
}

/* What is behind word j, seen from where word j - 1 leaves us: back[i] for each place. */
static void step_back(struct work *w, const struct hd_hmm *h, int j)
{
    const float *make = h->make + (size_t)j * (size_t)w->n;
    for (int k = 0; k < w->n; k++)
        w->next[k] = (1 - h->p_none) * make[k] * w->back[k + 1] * w->scale[j];
    for (int i = 0; i < w->width; i++) {
        const float *go = w->go + (size_t)i * (size_t)w->width;
        float sum = h->p_none * h->none[j] * w->back[i] * w->scale[j];
        for (int k = 0; k < w->n; k++)
            sum += go[k] * w->next[k];
        w->back_idle[i] = sum;
    }
    memcpy(w->back, w->back_idle, (size_t)w->width * sizeof *w->back);
}

bool hd_hmm_shares(const struct hd_hmm *h, float *share, uint64_t *counts, struct hd_hmm_room *room,
                   heed_error *err)
{
    struct work w;
    if (!make_work(&w, h, room, err))
        return false;
    fill_ways(&w, h->jumps);
    run_forward(&w, h);
    for (int i = 0; i < w.width; i++)
        w.back[i] = w.go[(size_t)i * (size_t)w.width + (size_t)w.n];
    for (int j = w.n_made - 1; j >= 0; j--) {
        const float *forward = w.forward + (size_t)j * (size_t)w.n;
        const float *idle = w.idle + (size_t)j * (size_t)w.width;
        float *to = share + (size_t)j * (size_t)w.n, sum = 0;
        for (int k = 0; k < w.n; k++) {
            to[k] = forward[k] * w.back[k + 1];
            sum += to[k];
        }
        for (int i = 0; i < w.width; i++)
            sum += idle[i] * w.back[i];
        const float norm = sum > 0 ? 1 / sum : 0;
        for (int k = 0; k < w.n; k++)
            to[k] *= norm;
        if (counts) {
            where(w.next, &w, j);
            count_jumps(&w, h, j, w.next, w.back, norm * w.scale[j], counts);
        }
        step_back(&w, h, j);
    }
    return true;
}
