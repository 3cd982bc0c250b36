/* recall.c -- remembered sentences are looked up, forced through the models once, and kept.
 *
 * Kept steps are known by the texts that they are of, not by a line of a file, so that a memory that has changed finds them again. They
 * are given up oldest first when there are too many; whoever uses them keeps them alive. */
#include "translate/recall.h"

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "search/neighbours.h"
#include "text/remembered.h"
#include "translate/step_store.h"

#include <pthread.h>
#include <string.h>

enum { N_SLOTS = 1 << 14, MOST_SENTENCES = 64, MOST_IDLE = 16 };
static const size_t MOST_BYTES = (size_t)256 << 20;

struct hd_shared_memory {
    atomic_int n;
    struct hd_remembered *memory;
};

/* The steps of one pair. */
struct kept {
    atomic_int n_users; /* the list is one */
    struct hd_steps steps;
    uint64_t hash;
    char *key; /* symbol, source, target */
    size_t n_key;
    struct kept *next, *newer; /* in its slot; in the order of coming */
};

struct hd_recall {
    pthread_mutex_t lock;
    struct kept *slots[N_SLOTS];
    struct kept *oldest, *newest;
    size_t n_bytes;
    struct hd_step_recorder *idle[MOST_IDLE];
    int n_idle;
    struct hd_step_store *store; /* of the last memory; NULL: none yet, or it is not wanted */
    char *store_of;              /* its file */
};

struct hd_segment_recalled {
    struct hd_neighbours neighbours;
    struct hd_likeness found[MOST_SENTENCES];
    int n_found;
    struct kept *kept[MOST_SENTENCES]; /* NULL where a sentence cannot be used */
    const struct hd_steps *steps[MOST_SENTENCES];
};

/* ---- sharing a memory --------------------------------------------------------------------------------- */

struct hd_shared_memory *hd_shared_memory_read(const char *path, heed_error *err)
{
    struct hd_shared_memory *shared = hd_new(struct hd_shared_memory, err);
    if (!shared)
        return NULL;
    atomic_init(&shared->n, 1);
    if ((shared->memory = hd_remembered_read(path, err)))
        return shared;
    hd_free(shared);
    return NULL;
}

struct hd_shared_memory *hd_shared_memory_join(struct hd_shared_memory *shared)
{
    if (shared)
        atomic_fetch_add(&shared->n, 1);
    return shared;
}

void hd_shared_memory_leave(struct hd_shared_memory *shared)
{
    if (!shared || atomic_fetch_sub(&shared->n, 1) > 1)
        return;
    hd_remembered_free(shared->memory);
    hd_free(shared);
}

/* ---- kept steps ---------------------------------------------------------------------------------------- */

static void leave_kept(struct kept *k)
{
    if (!k || atomic_fetch_sub(&k->n_users, 1) > 1)
        return;
    hd_steps_release(&k->steps);
    hd_free(k->key);
    hd_free(k);
}

struct hd_recall *hd_recall_new(heed_error *err)
{
    struct hd_recall *r = hd_new(struct hd_recall, err);
    if (r)
        pthread_mutex_init(&r->lock, NULL);
    return r;
}

void hd_recall_free(struct hd_recall *r)
{
    if (!r)
        return;
    for (struct kept *k = r->oldest, *newer; k; k = newer) {
        newer = k->newer;
        leave_kept(k);
    }
    while (r->n_idle > 0)
        hd_step_recorder_free(r->idle[--r->n_idle]);
    hd_step_store_close(r->store);
    hd_free(r->store_of);
    pthread_mutex_destroy(&r->lock);
    hd_free(r);
}

static size_t bytes_of(const struct kept *k)
{
    return sizeof *k + k->n_key +
           (size_t)k->steps.n *
               ((size_t)k->steps.width * sizeof(float) + sizeof(int) + sizeof(double));
}

/* The lock is held. */
static struct kept **slot_of(struct hd_recall *r, const struct kept *k)
{
    return &r->slots[k->hash % N_SLOTS];
}

static void give_up_oldest(struct hd_recall *r)
{
    struct kept *k = r->oldest, **at = slot_of(r, k);
    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
    r->oldest = k->newer;
    r->newest = r->oldest ? r->newest : NULL;
    r->n_bytes -= bytes_of(k);
    leave_kept(k);
}

/* What is there of the same key, joined; NULL: nothing. */
static struct kept *find_kept(struct hd_recall *r, const struct kept *like)
{
    struct kept *k = *slot_of(r, like);
    while (k && (k->hash != like->hash || k->n_key != like->n_key ||
                 memcmp(k->key, like->key, k->n_key) != 0))
        k = k->next;
    if (k)
        atomic_fetch_add(&k->n_users, 1);
    return k;
}

/* From now on others find it. One that another thread has brought meanwhile stays; both have the same bits. */
static void keep(struct hd_recall *r, struct kept *k, bool is_new)
{
    pthread_mutex_lock(&r->lock);
    struct kept *other = find_kept(r, k);
    if (!other) {
        struct kept **slot = slot_of(r, k);
        k->next = *slot;
        *slot = k;
        *(r->newest ? &r->newest->newer : &r->oldest) = k;
        r->newest = k;
        atomic_fetch_add(&k->n_users, 1);
        if (is_new)
            hd_step_store_add(r->store, k->hash, &k->steps);
        r->n_bytes += bytes_of(k);
        while (r->n_bytes > MOST_BYTES && r->oldest != k)
            give_up_oldest(r);
    }
    pthread_mutex_unlock(&r->lock);
    leave_kept(other);
}

/* ---- from pairs to steps ---------------------------------------------------------------------------------- */

/* One without steps, to look for and to be filled. */
static struct kept *new_kept(const struct hd_line *line, const struct hd_remembered_pair *pair,
                             heed_error *err)
{
    struct kept *k = hd_new(struct kept, err);
    const size_t n_source = strlen(pair->source) + 1, n_target = strlen(pair->target) + 1;
    if (!k || !(k->key = hd_alloc(sizeof line->symbol + n_source + n_target, 1, err))) {
        hd_free(k);
        return NULL;
    }
    atomic_init(&k->n_users, 1);
    memcpy(k->key, &line->symbol, sizeof line->symbol);
    memcpy(k->key + sizeof line->symbol, pair->source, n_source);
    memcpy(k->key + sizeof line->symbol + n_source, pair->target, n_target);
    k->n_key = sizeof line->symbol + n_source + n_target;
    k->hash = hd_checksum_of(k->key, k->n_key);
    return k;
}

struct pair_ids {
    struct hd_ids source, target;
};

/* False without memory; nothing where the vocabularies do not take the texts, or they are too long to be of use. */
static bool encode_pair(const struct hd_line *line, const struct hd_remembered_pair *pair,
                        struct pair_ids *ids, heed_error *err)
{
    const struct hd_ensemble *e = line->job->ensemble;
    heed_error why = {0};
    const bool ok =
        (line->symbol < 0 || hd_ids_add(&ids->source, line->symbol, &why)) &&
        hd_vocab_encode(e->source, pair->source, strlen(pair->source), hd_vocab_end(e->source) >= 0,
                        &ids->source, &why) &&
        hd_vocab_encode(e->target, pair->target, strlen(pair->target), false, &ids->target, &why);
    if (ok && ids->source.n <= 2 * line->job->most && ids->target.n <= 2 * line->job->most)
        return true;
    hd_ids_release(&ids->source);
    hd_ids_release(&ids->target);
    return why.code != HEED_NO_MEMORY || hd_fail(err, why.code, "%s", why.message);
}

/* One that is warm, if there is one; a thread has it alone. */
static struct hd_step_recorder *take_recorder(struct hd_recall *r, heed_error *err)
{
    pthread_mutex_lock(&r->lock);
    struct hd_step_recorder *recorder = r->n_idle > 0 ? r->idle[--r->n_idle] : NULL;
    pthread_mutex_unlock(&r->lock);
    return recorder ? recorder : hd_step_recorder_new(err);
}

static void give_recorder(struct hd_recall *r, struct hd_step_recorder *recorder)
{
    pthread_mutex_lock(&r->lock);
    if (recorder && r->n_idle < MOST_IDLE) {
        r->idle[r->n_idle++] = recorder;
        recorder = NULL;
    }
    pthread_mutex_unlock(&r->lock);
    hd_step_recorder_free(recorder);
}

/* Force new ones through the models. kept[i] without ids stay without steps. */
static bool record(const struct hd_line *line, struct kept *const *kept, struct pair_ids *ids,
                   int n, heed_error *err)
{
    const struct hd_ensemble *e = line->job->ensemble;
    struct hd_search_input input[MOST_SENTENCES];
    struct hd_steps steps[MOST_SENTENCES];
    size_t n_input = 0;
    for (int i = 0; i < n; i++)
        if (ids[i].target.n > 0)
            input[n_input++] = (struct hd_search_input){
                .source = {.ids = ids[i].source.at, .n = (int)ids[i].source.n},
                .prefix = {.ids = ids[i].target.at, .n = (int)ids[i].target.n}};
    struct hd_step_recorder *recorder = n_input > 0 ? take_recorder(e->recall, err) : NULL;
    const bool ok = n_input == 0 ||
                    (recorder && hd_steps_record(recorder, e->nets, e->n, hd_vocab_end(e->target),
                                                 input, n_input, steps, err));
    give_recorder(e->recall, ok ? recorder : NULL);
    if (!ok) {
        hd_step_recorder_free(recorder);
        return false;
    }
    for (int i = 0, k = 0; i < n; i++)
        if (ids[i].target.n > 0)
            kept[i]->steps = steps[k++];
    return true;
}

/* ---- the file beside the memory ----------------------------------------------------------------------------- */

/* A number for all that makes steps what they are: the library, the vocabularies, the parameters that are plain, and what comes of a few
 * words, in which all others have a part. */
static bool number_of_models(const struct hd_ensemble *e, uint64_t *number, int *width,
                             heed_error *err)
{
    enum { N = 24 };
    struct hd_checksum sum = hd_checksum_begin();
    const struct hd_vocab *vocabs[] = {e->source, e->target};
    int source[N], target[N];
    hd_checksum_add(&sum, HEED_VERSION, sizeof HEED_VERSION);
    for (int i = 0; i < 2; i++) {
        size_t n;
        const void *bytes = hd_vocab_bytes(vocabs[i], &n);
        hd_checksum_add(&sum, bytes, n);
    }
    for (int m = 0; m < e->n; m++)
        for (int i = 0; i < hd_params_number(e->nets[m]->params); i++) {
            const hd_node *p = hd_params_at(e->nets[m]->params, i);
            if (p->x)
                hd_checksum_add(&sum, p->x, hd_count(p) * sizeof *p->x);
        }
    const int end = hd_vocab_end(e->target), n_target = hd_vocab_size(e->target);
    for (int i = 0; i < N; i++) {
        source[i] = (int)((long)i * hd_vocab_size(e->source) / N);
        target[i] = (int)((long)i * n_target / N);
        target[i] = target[i] == end ? (end + 1) % n_target : target[i];
    }
    struct hd_steps steps = {0};
    const struct hd_search_input input = {.source = {.ids = source, .n = N},
                                          .prefix = {.ids = target, .n = N}};
    struct hd_step_recorder *recorder = take_recorder(e->recall, err);
    const bool ok =
        recorder && hd_steps_record(recorder, e->nets, e->n, end, &input, 1, &steps, err);
    if (ok)
        hd_checksum_add(&sum, steps.states,
                        (size_t)steps.n * (size_t)steps.width * sizeof *steps.states);
    *number = hd_checksum_end(&sum);
    *width = steps.width;
    hd_steps_release(&steps);
    give_recorder(e->recall, recorder);
    return ok;
}

/* The store of the job's memory. */
static bool open_store(const struct hd_line *line, heed_error *err)
{
    const struct hd_ensemble *e = line->job->ensemble;
    const heed_options *o = &line->job->options;
    struct hd_recall *r = e->recall;
    pthread_mutex_lock(&r->lock);
    const bool is_open =
        !o->memory_is_kept || (r->store_of && strcmp(r->store_of, o->memory_file) == 0);
    pthread_mutex_unlock(&r->lock);
    uint64_t number;
    int width;
    if (is_open)
        return true;
    if (!number_of_models(e, &number, &width, err))
        return false;
    struct hd_step_store *store = hd_step_store_open(o->memory_file, number, width);
    char *path = hd_copy_string(o->memory_file, err);
    pthread_mutex_lock(&r->lock);
    if (path && (!r->store_of || strcmp(r->store_of, path) != 0)) { /* nobody was faster */
        struct hd_step_store *before = r->store;
        char *path_before = r->store_of;
        r->store = store;
        r->store_of = path;
        store = before;
        path = path_before;
    }
    pthread_mutex_unlock(&r->lock);
    hd_step_store_close(store);
    hd_free(path);
    return true;
}

static bool find_stored(struct hd_recall *r, struct kept *k)
{
    pthread_mutex_lock(&r->lock);
    const bool is_there = hd_step_store_find(r->store, k->hash, &k->steps);
    pthread_mutex_unlock(&r->lock);
    return is_there;
}

/* Those of the pairs found that are not kept yet are made. False without memory. */
static bool fill(const struct hd_line *line, struct kept **kept, const struct hd_likeness *found,
                 int n, heed_error *err)
{
    struct hd_recall *r = line->job->ensemble->recall;
    struct pair_ids ids[MOST_SENTENCES] = {0};
    struct kept *missing[MOST_SENTENCES];
    int n_missing = 0;
    bool ok = n == 0 || open_store(line, err);
    for (int i = 0; ok && i < n; i++) {
        const struct hd_remembered_pair *pair =
            hd_remembered_at(line->job->options.memory->memory, found[i].pair);
        ok = (kept[i] = new_kept(line, pair, err)) != NULL;
        pthread_mutex_lock(&r->lock);
        struct kept *there = ok ? find_kept(r, kept[i]) : NULL;
        pthread_mutex_unlock(&r->lock);
        if (there) {
            leave_kept(kept[i]);
            kept[i] = there;
        } else if (ok && find_stored(r, kept[i]))
            keep(r, kept[i], false);
        else if (ok) {
            ok = encode_pair(line, pair, &ids[n_missing], err);
            missing[n_missing++] = kept[i];
        }
    }
    ok = ok && record(line, missing, ids, n_missing, err);
    for (int i = 0; i < n_missing; i++) {
        if (ok && missing[i]->steps.n > 0)
            keep(r, missing[i], true);
        hd_ids_release(&ids[i].source);
        hd_ids_release(&ids[i].target);
    }
    return ok;
}

/* ---- lines -------------------------------------------------------------------------------------------------- */

/* A memory is of texts and their translations; what else models do has none. */
static bool has_memory(const struct hd_job *job)
{
    return job->options.memory && job->ensemble->task == HD_TASK_TRANSLATE &&
           !job->ensemble->reads_vectors;
}

static struct hd_remembered_query query_of(const struct hd_line *line, size_t begin, size_t end)
{
    const heed_options *o = &line->job->options; /* which may know other names of them */
    return (struct hd_remembered_query){.text = line->result->source + begin,
                                        .n = end - begin,
                                        .from = o->memory_from ? o->memory_from : line->from,
                                        .to = o->memory_to ? o->memory_to : line->to};
}

static bool recall_segment(struct hd_segment *segment)
{
    struct hd_line *line = segment->line;
    const heed_options *o = &line->job->options;
    struct hd_segment_recalled *s = hd_new(struct hd_segment_recalled, &line->err);
    if (!s)
        return false;
    segment->recalled = s;
    const struct hd_remembered_query query = query_of(line, segment->span.begin, segment->span.end);
    const int n =
        hd_remembered_find(o->memory->memory, &query, s->found, o->memory_sentences, &line->err);
    if (n < 0 || !fill(line, s->kept, s->found, s->n_found = n, &line->err))
        return false;
    s->neighbours = (struct hd_neighbours){.sentences = s->steps,
                                           .k = o->memory_neighbours,
                                           .unknown = hd_vocab_unknown(line->job->ensemble->target),
                                           .share = (double)o->memory_share,
                                           .temperature = (double)o->memory_temperature,
                                           .reach = (double)o->memory_reach};
    for (int i = 0; i < n; i++)
        if (s->kept[i]->steps.n > 0)
            s->steps[s->neighbours.n_sentences++] = &s->kept[i]->steps;
    return s->neighbours.n_sentences == 0 || hd_neighbours_prepare(&s->neighbours, &line->err);
}

bool hd_line_recall(struct hd_line *line)
{
    for (size_t i = 0; has_memory(line->job) && i < line->n_segments; i++)
        if (!line->segments[i].passes && !recall_segment(&line->segments[i]))
            return false;
    return true;
}

const struct hd_neighbours *hd_segment_neighbours(const struct hd_segment *segment)
{
    const struct hd_segment_recalled *s = segment->recalled;
    return s && s->neighbours.n_sentences > 0 ? &s->neighbours : NULL;
}

void hd_segment_recalled_free(struct hd_segment_recalled *recalled)
{
    for (int i = 0; recalled && i < recalled->n_found; i++)
        leave_kept(recalled->kept[i]);
    hd_free(recalled);
}

/* ---- exact answers ------------------------------------------------------------------------------------------- */

const char *hd_line_remembered(struct hd_line *line)
{
    const heed_options *o = &line->job->options;
    if (!has_memory(line->job) || line->document || o->is_sampled || o->force ||
        line->job->is_forced)
        return NULL;
    const struct hd_remembered_query query =
        query_of(line, line->begin, line->begin + line->n_text);
    const struct hd_remembered_pair *pair = hd_remembered_same(o->memory->memory, &query);
    if (!pair || line->n_text == 0)
        return NULL;
    const size_t n = strlen(pair->target), end = line->begin + line->n_text,
                 n_behind = line->n_source - end;
    char *text = hd_result_keep(line->result, line->begin + n + n_behind + 1, 1, &line->err);
    if (!text)
        return NULL;
    memcpy(text, line->result->source, line->begin);
    memcpy(text + line->begin, pair->target, n);
    memcpy(text + line->begin + n, line->result->source + end, n_behind);
    line->answer = pair;
    return text;
}

/* ---- what the result says --------------------------------------------------------------------------------------- */

static char *kept_text(struct hd_line *line, const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = hd_result_keep(line->result, n, 1, &line->err);
    return copy ? memcpy(copy, text, n) : NULL;
}

/* One more, unless it is there already. */
static bool add_remembered(struct hd_line *line, const struct hd_remembered_pair *pair,
                           double similarity)
{
    heed_result *r = line->result;
    for (size_t i = 0; i < r->n_memory; i++)
        if (r->memory[i].line == pair->line) {
            if (similarity > r->memory[i].similarity)
                r->memory[i].similarity = similarity;
            return true;
        }
    heed_remembered *one = &r->memory[r->n_memory];
    one->line = pair->line;
    one->similarity = similarity;
    one->source = kept_text(line, pair->source);
    one->target = kept_text(line, pair->target);
    r->n_memory += one->source && one->target;
    return one->source && one->target;
}

bool hd_describe_memory(struct hd_line *line)
{
    const heed_options *o = &line->job->options;
    if (!has_memory(line->job) || line->job->is_forced)
        return true;
    size_t most = line->answer != NULL;
    for (size_t i = 0; i < line->n_segments; i++)
        most += line->segments[i].recalled ? (size_t)line->segments[i].recalled->n_found : 0;
    line->result->memory =
        hd_result_keep(line->result, most + 1, sizeof *line->result->memory, &line->err);
    if (!line->result->memory)
        return false;
    if (line->answer && !add_remembered(line, line->answer, 1))
        return false;
    for (size_t i = 0; i < line->n_segments; i++) {
        const struct hd_segment_recalled *s = line->segments[i].recalled;
        for (int k = 0; s && k < s->n_found; k++)
            if (!add_remembered(line, hd_remembered_at(o->memory->memory, s->found[k].pair),
                                s->found[k].similarity))
                return false;
    }
    return true;
}
