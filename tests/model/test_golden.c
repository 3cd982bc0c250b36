/* test_golden.c -- every kind of model against golden values, and against itself.
 *
 * tools/golden.py computed them with PyTorch in double precision, from the formulas: loss, logits, attention and
 * all gradients must be the same within rounding. A model must also be the same as itself, bit for bit: forced
 * whole targets, run step by step as search does, and given one sentence at a time. Every file of
 * tests/model/golden is a model; a difference is told with its file, tensor, index and both numbers. */
#include "walk.h"

#include "base/memory.h"
#include "format/safetensors.h"
#include "model/model.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>

#define FOLDER "tests/model/golden"

static const float smoothing = 0.1F;

/* What may differ: a hundred-thousandth of the tensor's largest number. Where that is zero but for rounding (the
 * gradient of a key's bias, which the softmax takes out again) there is nothing to be measured against. */
static const double tolerance = 1e-5, zero = 1e-10, tolerance_at_zero = 1e-6;

/* One file, and the model in it. */
struct golden {
    const char *name;
    struct hd_safetensors *file;
    struct hd_net *net;
    struct hd_batch batch;
    int n_rows, S;  /* words of all targets; the longest source */
    int *first_row; /* [n]: row of a sentence's first word; rows stand sentence by sentence */
    int n_layers, n_heads; /* of attention; 0 without */
    hd_tape *tape;
    float *gradients;
    float *out, *alpha; /* forced: [n_rows, R], [n_rows, n_layers, n_heads, S] */
    int R;
};

static int n_complaints; /* of one file */
static int n_bad_files;

#define complain(g, ...)                \
    do {                                \
        if (++n_complaints > 5)         \
            break;                      \
        print_error("%s: ", (g)->name); \
        print_error(__VA_ARGS__);       \
        print_error("\n");              \
    } while (0)

/* ---- reading --------------------------------------------------------------------------------- */

static void *take(size_t n, size_t size)
{
    void *p = test_calloc(n ? n : 1, size);
    assert_non_null(p);
    return p;
}

static const struct hd_tensor *find(const struct golden *g, const char *kind, const char *name)
{
    char whole[128];
    snprintf(whole, sizeof whole, "%s%s", kind, name);
    const struct hd_tensor *t = hd_safetensors_find(g->file, whole);
    assert_that(t, "%s: there is no tensor %s", g->name, whole);
    return t;
}

static int *read_ints(const struct golden *g, const char *name, size_t n)
{
    const struct hd_tensor *t = find(g, "", name);
    assert_that(t->dtype == HD_I32 && t->n == n, "%s: %s is not I32 [%zu]", g->name, name, n);
    int *x = take(n, sizeof *x);
    memcpy(x, t->data, n * sizeof *x);
    return x;
}

static float *read_floats(const struct golden *g, const struct hd_tensor *t, size_t n)
{
    heed_error err = {0};
    float *x = take(n, sizeof *x);
    assert_that(hd_read_f32(x, t, n, &err), "%s: %s", g->name, err.message);
    return x;
}

static int sum(const int *x, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += x[i];
    return s;
}

/* Of each word one that its id says, as in tools/golden.py. */
static const int *made_up_traits(const int *ids, int n)
{
    int *trait = take((size_t)n, sizeof *trait);
    for (int i = 0; i < n; i++)
        trait[i] = (5 * ids[i] + 3) % HD_N_TRAITS;
    return trait;
}

/* With the marks of words that the question has. */
static void read_questions(struct golden *g)
{
    struct hd_batch *b = &g->batch;
    b->question_length = read_ints(g, "question.lengths", (size_t)b->n);
    b->question = read_ints(g, "question.ids", (size_t)sum(b->question_length, b->n));
    int *mark = take((size_t)sum(b->source_length, b->n), sizeof *mark),
        *type = take((size_t)sum(b->source_length, b->n), sizeof *type);
    b->mark = mark;
    b->type = type;
    b->trait = made_up_traits(b->source, sum(b->source_length, b->n));
    b->question_trait = made_up_traits(b->question, sum(b->question_length, b->n));
    const int *word = b->source, *asked = b->question;
    for (int i = 0; i < b->n; asked += b->question_length[i++])
        for (int j = 0, n = 0; j < b->source_length[i]; j++, word++, mark++, type++) {
            int before = 1;
            while (before <= j && word[-before] != *word)
                before++;
            *type = before <= j ? type[-before] : n++;
            *mark = HD_MARK_DOCUMENT;
            for (int k = 0; k < b->question_length[i]; k++)
                *mark = asked[k] == *word ? HD_MARK_ASKED : *mark;
        }
}

/* Vectors as the source. */
static void read_frames(struct golden *g)
{
    struct hd_batch *b = &g->batch;
    b->frame_length = read_ints(g, "frames.lengths", (size_t)b->n);
    b->grid = read_ints(g, "grids", 2 * (size_t)b->n);
    const int width = g->net->config.source_width, n = sum(b->frame_length, b->n);
    b->frames = read_floats(g, find(g, "", "frames"), (size_t)n * (size_t)width);
}

/* Its vectors from sentence i on, where it has any. */
static void take_frames(struct hd_batch *some, const struct golden *g, int i)
{
    const struct hd_batch *all = &g->batch;
    if (!all->frames)
        return;
    const int width = g->net->config.source_width, before = sum(all->frame_length, i);
    some->frames = all->frames + (size_t)before * (size_t)width;
    some->frame_length = all->frame_length + i;
    some->grid = all->grid + (size_t)2 * (size_t)i;
}

static void read_batch(struct golden *g)
{
    struct hd_batch *b = &g->batch;
    b->n = (int)find(g, "", "source.lengths")->n;
    b->source_length = read_ints(g, "source.lengths", (size_t)b->n);
    b->target_length = read_ints(g, "target.lengths", (size_t)b->n);
    if (g->net->config.source == HD_SOURCE_VECTORS)
        read_frames(g);
    else
        b->source = read_ints(g, "source.ids", (size_t)sum(b->source_length, b->n));
    b->target = read_ints(g, "target.ids", (size_t)sum(b->target_length, b->n));
    if (g->net->config.task == HD_TASK_SPAN)
        read_questions(g);
    g->n_rows = sum(b->target_length, b->n);
    g->first_row = take((size_t)b->n, sizeof *g->first_row);
    for (int i = 0; i < b->n; i++) {
        g->first_row[i] = sum(b->target_length, i);
        g->S = b->source_length[i] > g->S ? b->source_length[i] : g->S;
    }
}

static void read_config(const struct golden *g, struct hd_config *config)
{
    heed_error err = {0};
    const char *text = hd_safetensors_metadata(g->file, "config");
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;
    assert_that(json, "%s: its config is not JSON", g->name);
    assert_that(hd_config_from_json(config, json, &err) && hd_config_check(config, &err), "%s: %s",
                g->name, err.message);
    json_decref(json);
}

/* Each parameter is in the file, and each param.X and grad.X of the file is of a parameter. */
static void read_params(const struct golden *g)
{
    hd_params *params = g->net->params;
    for (int i = 0; i < hd_params_number(params); i++) {
        hd_node *p = hd_params_at(params, i);
        const struct hd_tensor *t = find(g, "param.", hd_param_name(p));
        size_t dims[HD_MAX_DIMS];
        for (int d = 0; d < p->n_dims; d++)
            dims[d] = (size_t)p->dim[d];
        char shape[HD_SHAPE_TEXT];
        assert_that(hd_tensor_has_shape(t, dims, p->n_dims),
                    "%s: %s is %s, but the model's is [%d,%d]", g->name, t->name,
                    hd_shape_text(shape, t), p->dim[0], p->n_dims > 1 ? p->dim[1] : 1);
        float *x = read_floats(g, t, hd_count(p));
        memcpy(p->x, x, hd_count(p) * sizeof *x);
        test_free(x);
    }
    for (size_t i = 0; i < g->file->tensors.n; i++) {
        const char *name = g->file->tensors.at[i].name, *dot = strchr(name, '.');
        const bool is_of_param = strncmp(name, "param.", 6) == 0 || strncmp(name, "grad.", 5) == 0;
        assert_that(!is_of_param || hd_params_find(params, dot + 1), "%s: the model has no %s",
                    g->name, dot + 1);
    }
}

static hd_tape *new_tape(void)
{
    heed_error err = {0};
    hd_tape *tape = hd_tape_new(&err);
    assert_that(tape, "%s", err.message);
    return tape;
}

static void open_golden(struct golden *g, const char *name)
{
    heed_error err = {0};
    char path[512];
    *g = (struct golden){.name = name};
    snprintf(path, sizeof path, "%s/%s", FOLDER, name);
    g->file = hd_safetensors_open(path, &err);
    assert_that(g->file, "%s", err.message);
    struct hd_config config;
    read_config(g, &config);
    g->net = hd_net_new(&config, &err);
    assert_that(g->net, "%s: %s", name, err.message);
    read_params(g);
    read_batch(g);
    const struct hd_tensor *attention = hd_safetensors_find(g->file, "attention");
    if (attention) {
        g->n_layers = attention->n_dims == 4 ? (int)attention->dims[0] : 1;
        g->n_heads = attention->n_dims == 4 ? (int)attention->dims[1] : 1;
    }
    g->tape = new_tape();
    g->gradients = take(hd_params_size(g->net->params), sizeof *g->gradients);
}

static void close_golden(struct golden *g)
{
    const void *const owned[] = {g->batch.source,
                                 g->batch.source_length,
                                 g->batch.target,
                                 g->batch.target_length,
                                 g->first_row,
                                 g->gradients,
                                 g->out,
                                 g->alpha,
                                 g->batch.question,
                                 g->batch.question_length,
                                 g->batch.mark,
                                 g->batch.frames,
                                 g->batch.frame_length,
                                 g->batch.grid,
                                 g->batch.type,
                                 g->batch.trait,
                                 g->batch.question_trait};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        if (owned[i])
            test_free((void *)owned[i]);
    hd_tape_free(g->tape);
    hd_net_free(g->net);
    hd_safetensors_close(g->file);
}

static void check_tape(const struct golden *g, const hd_tape *tape)
{
    const heed_error *err = hd_tape_error(tape);
    assert_that(err->code == HEED_OK, "%s: %s", g->name, err->message);
}

/* ---- against the golden values --------------------------------------------------------------- */

/* The greatest difference so far, by kind of tensor. */
static struct worst {
    const char *kind;
    double difference;
    char where[128];
} worst[] = {{.kind = "loss"}, {.kind = "logits"}, {.kind = "attention"}, {.kind = "grad."}};

static void note_worst(const struct golden *g, const char *tensor, double difference)
{
    for (size_t i = 0; i < sizeof worst / sizeof *worst; i++)
        if (strncmp(tensor, worst[i].kind, strlen(worst[i].kind)) == 0 &&
            difference > worst[i].difference) {
            worst[i].difference = difference;
            snprintf(worst[i].where, sizeof worst[i].where, "%s, %s", g->name, tensor);
        }
}

static void compare(const struct golden *g, const struct hd_tensor *tensor, const float *ours,
                    size_t n)
{
    float *golden = read_floats(g, tensor, n);
    double largest = 0, furthest = 0;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = fabs((double)ours[i] - (double)golden[i]);
        largest = fmax(largest, fabs((double)golden[i]));
        if (!(d <= furthest)) { /* a NaN, too */
            furthest = d;
            at = i;
        }
    }
    const bool is_zero = largest < zero;
    if (!(furthest <= (is_zero ? tolerance_at_zero : tolerance * largest)))
        complain(g, "%s[%zu] is %.9g, but should be %.9g; the largest is %.3g", tensor->name, at,
                 (double)ours[at], (double)golden[at], largest);
    if (!is_zero)
        note_worst(g, tensor->name, furthest / largest);
    test_free(golden);
}

/* α of one row: [n_layers, n_heads, S], zeros beyond the sentence's end. */
static void read_alpha(const struct golden *g, const struct hd_weights *weights, int row,
                       float *alpha)
{
    memset(alpha, 0, (size_t)(g->n_layers * g->n_heads * g->S) * sizeof *alpha);
    for (int l = 0; l < g->n_layers; l++)
        for (int h = 0; h < g->n_heads; h++)
            assert_that(hd_weights_of(g->net, weights, row, l + 1, h,
                                      alpha + (size_t)((l * g->n_heads + h) * g->S)),
                        "%s: there is no attention in layer %d, head %d", g->name, l + 1, h);
}

/* Rows of whole targets, put sentence by sentence: out, α and, where wanted, logits. */
static void keep_taught(struct golden *g, const struct hd_forced *forced, const hd_node *logits,
                        float *kept_logits)
{
    const size_t heads = (size_t)(g->n_layers * g->n_heads), V = (size_t)hd_width(logits);
    g->R = hd_width(forced->out);
    g->out = take((size_t)(g->n_rows * g->R), sizeof *g->out);
    g->alpha = take((size_t)(g->n_rows * g->S) * heads, sizeof *g->alpha);
    assert_that(forced->n_rows == g->n_rows, "%s: %d rows, not %d", g->name, forced->n_rows,
                g->n_rows);
    for (int r = 0; r < g->n_rows; r++) {
        const size_t row = (size_t)(g->first_row[forced->sentence[r]] + forced->position[r]);
        assert_int_equal(forced->target[r], g->batch.target[row]);
        memcpy(g->out + row * (size_t)g->R, forced->out->x + (size_t)(r * g->R),
               (size_t)g->R * sizeof *g->out);
        memcpy(kept_logits + row * V, logits->x + (size_t)r * V, V * sizeof *kept_logits);
        read_alpha(g, &forced->cross, r, g->alpha + row * heads * (size_t)g->S);
    }
}

/* The file has [layers, heads, rows, S], or [rows, S]; kept are [rows, layers, heads, S]. */
static void compare_alpha(const struct golden *g)
{
    const size_t S = (size_t)g->S, rows = (size_t)g->n_rows,
                 heads = (size_t)(g->n_layers * g->n_heads);
    if (heads == 0)
        return;
    float *by_head = take(heads * rows * S, sizeof *by_head);
    for (size_t r = 0; r < rows; r++)
        for (size_t h = 0; h < heads; h++)
            memcpy(by_head + (h * rows + r) * S, g->alpha + (r * heads + h) * S,
                   S * sizeof *by_head);
    compare(g, find(g, "", "attention"), by_head, heads * rows * S);
    test_free(by_head);
}

/* What is shown of row `row` at position j: of the alignment layer, the mean of its alignment heads, or of all. */
static double shown(const struct golden *g, int row, int j)
{
    const struct hd_config *c = &g->net->config;
    const int layer = c->arch == HD_TRANSFORMER ? c->alignment_layer - 1 : 0;
    const int n = c->n_alignment_heads ? c->n_alignment_heads : g->n_heads;
    double sum_of_heads = 0;
    for (int i = 0; i < n; i++) {
        const int head = c->n_alignment_heads ? c->alignment_heads[i] : i;
        sum_of_heads +=
            (double)g->alpha[((row * g->n_layers + layer) * g->n_heads + head) * g->S + j];
    }
    return sum_of_heads / n;
}

static void compare_shown(const struct golden *g, const struct hd_forced *forced)
{
    float *mean = take((size_t)g->S, sizeof *mean);
    for (int r = 0; r < g->n_rows; r++) {
        const bool is_seen = hd_weights_of(g->net, &forced->cross, r, 0, -1, mean);
        assert_that(is_seen == (g->n_layers > 0), "%s: attention is there or not", g->name);
        const int row = g->first_row[forced->sentence[r]] + forced->position[r];
        for (int j = 0; is_seen && j < g->batch.source_length[forced->sentence[r]]; j++)
            if (!(fabs((double)mean[j] - shown(g, row, j)) <= 1e-6))
                complain(g, "the attention shown in row %d at %d is %g, but should be %g", row, j,
                         (double)mean[j], shown(g, row, j));
    }
    test_free(mean);
}

/* Teach the batch and keep what came of it; compare it all with the file where wanted. */
static void teach(struct golden *g, bool with_golden)
{
    hd_tape_record(g->tape, with_golden);
    const struct hd_memory *memory = hd_encode(g->net, g->tape, &g->batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(g->net, g->tape, memory, &g->batch, NULL);
    check_tape(g, g->tape);
    const bool is_span = g->net->config.task == HD_TASK_SPAN; /* scores are what comes out */
    const hd_node *logits = is_span ? forced->out : hd_logits(&g->net->head, forced->out);
    float *kept_logits = take(hd_count(logits), sizeof *kept_logits);
    keep_taught(g, forced, logits, kept_logits);
    if (with_golden) {
        hd_node *loss = hd_forced_loss(g->net, forced, smoothing);
        loss = hd_with_ctc(g->net, memory, &g->batch, NULL, loss, NULL);
        hd_backward(loss, g->gradients);
        check_tape(g, g->tape);
        compare(g, find(g, "", "loss"), loss->x, 1);
        compare(g, find(g, "", "logits"), kept_logits, hd_count(logits));
        compare_alpha(g);
        compare_shown(g, forced);
        for (int i = 0; i < hd_params_number(g->net->params); i++) {
            const hd_node *p = hd_params_at(g->net->params, i);
            if (p->wants_gradient)
                compare(g, find(g, "grad.", hd_param_name(p)), g->gradients + hd_param_offset(p),
                        hd_count(p));
        }
    }
    test_free(kept_logits);
}

/* ---- against itself -------------------------------------------------------------------------- */

static void same_bits(const struct golden *g, const char *how, const char *what, int row,
                      const float *ours, const float *forced, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&ours[i], &forced[i], sizeof *ours) != 0) {
            complain(g, "%s, %s[%d,%zu] is %.9g, but %.9g when forced in the batch", how, what, row,
                     i, (double)ours[i], (double)forced[i]);
            return;
        }
}

/* A row of another run is that of teaching. */
static void same_row(const struct golden *g, const char *how, int row, const hd_node *out,
                     const struct hd_weights *weights, int its_row)
{
    const size_t n = (size_t)(g->n_layers * g->n_heads * g->S);
    float *alpha = take(n, sizeof *alpha);
    read_alpha(g, weights, its_row, alpha);
    same_bits(g, how, "attention", row, alpha, g->alpha + (size_t)row * n, n);
    const int width = hd_width(out); /* of spans as many as a document is long */
    same_bits(g, how, "out", row, out->x + (size_t)(its_row * width), g->out + (size_t)(row * g->R),
              (size_t)width);
    test_free(alpha);
}

/* The hypotheses that search would have now: which sentence each is of. */
struct beams {
    int B;
    int *sentence, *previous, *index;
};

/* Sentences that have ended leave; the others turn around, as a beam puts them in another order. */
static void leave(const struct golden *g, struct beams *b, int n_words)
{
    int n = 0;
    for (int i = b->B - 1; i >= 0; i--)
        if (g->batch.target_length[b->sentence[i]] > n_words)
            b->index[n++] = i;
    for (int i = 0; i < n; i++)
        b->previous[i] = b->sentence[b->index[i]];
    memcpy(b->sentence, b->previous, (size_t)n * sizeof *b->sentence);
    b->B = n;
}

/* Each sentence twice, word by word. What is computed once and the steps are on tapes that are reset as early as they may be. */
static void run_in_steps(const struct golden *g)
{
    const struct hd_batch *batch = &g->batch;
    hd_tape *once = new_tape(), *now = new_tape();
    const int B = 2 * batch->n;
    int *ints = take(3 * (size_t)B, sizeof *ints);
    struct beams b = {B, ints, ints + B, ints + 2 * B};
    for (int i = 0; i < B; i++)
        b.sentence[i] = i % batch->n;
    struct walk *walk = walk_start(g->net, once, batch, b.sentence, B);
    check_tape(g, once);
    hd_tape_reset(once);
    for (int t = 0; b.B > 0; t++) {
        for (int i = 0; i < b.B; i++)
            b.previous[i] = t == 0 ? -1 : batch->target[g->first_row[b.sentence[i]] + t - 1];
        hd_tape_reset(now);
        const struct hd_stepped s = walk_step(walk, now, b.previous);
        check_tape(g, now);
        for (int i = 0; i < b.B; i++)
            same_row(g, "in steps", g->first_row[b.sentence[i]] + t, s.out, &s.cross, i);
        leave(g, &b, t + 1);
        walk_gather(walk, b.index, b.B);
    }
    walk_end(walk);
    test_free(ints);
    hd_tape_free(now);
    hd_tape_free(once);
}

static void run_alone(const struct golden *g)
{
    const struct hd_batch *all = &g->batch;
    const bool is_span = g->net->config.task == HD_TASK_SPAN;
    hd_tape *tape = new_tape();
    for (int i = 0; i < all->n; i++) {
        hd_tape_reset(tape);
        struct hd_batch one = {
            .n = 1,
            .source_length = all->source_length + i,
            .target = all->target + sum(all->target_length, i),
            .target_length = all->target_length + i,
            .question = all->question + (is_span ? sum(all->question_length, i) : 0),
            .question_length = all->question_length + (is_span ? i : 0),
            .mark = all->mark + (is_span ? sum(all->source_length, i) : 0),
            .type = all->type + (is_span ? sum(all->source_length, i) : 0),
            .trait = all->trait + (is_span ? sum(all->source_length, i) : 0),
            .question_trait = all->question_trait + (is_span ? sum(all->question_length, i) : 0)};
        if (all->source)
            one.source = all->source + sum(all->source_length, i);
        take_frames(&one, g, i);
        const struct hd_memory *memory = hd_encode(g->net, tape, &one, NULL);
        const struct hd_forced *forced = hd_teacher_force(g->net, tape, memory, &one, NULL);
        check_tape(g, tape);
        for (int r = 0; r < forced->n_rows; r++)
            same_row(g, "alone", g->first_row[i] + forced->position[r], forced->out, &forced->cross,
                     r);
    }
    hd_tape_free(tape);
}

/* Its vectors, between an item of none and one of a single vector; NULL where it has none. */
static float *surround_frames(const struct golden *g, struct hd_batch *batch)
{
    const struct hd_batch *all = &g->batch;
    if (!all->frames)
        return NULL;
    const size_t width = (size_t)g->net->config.source_width, n = (size_t)batch->n,
                 n_frames = (size_t)sum(all->frame_length, all->n);
    float *frames = take((n_frames + 1) * width, sizeof *frames);
    int *length = take(n, sizeof *length), *grid = take(2 * n, sizeof *grid);
    memcpy(frames, all->frames, n_frames * width * sizeof *frames);
    memcpy(length + 1, all->frame_length, (n - 2) * sizeof *length);
    memcpy(grid + 2, all->grid, 2 * (n - 2) * sizeof *grid);
    length[n - 1] = 1;
    grid[2 * n - 2] = grid[2 * n - 1] = 1;
    batch->frames = frames;
    batch->frame_length = length;
    batch->grid = grid;
    return frames;
}

/* The batch, between a sentence without source and one without target. */
static void run_beside_nothing(const struct golden *g)
{
    const struct hd_batch *all = &g->batch;
    const int n = all->n + 2, n_source = sum(all->source_length, all->n);
    int *lengths = take(2 * (size_t)n, sizeof *lengths);
    int *source = take((size_t)n_source + 1, sizeof *source),
        *target = take((size_t)g->n_rows + 1, sizeof *target);
    memcpy(lengths + 1, all->source_length, (size_t)all->n * sizeof *lengths);
    memcpy(lengths + n + 1, all->target_length, (size_t)all->n * sizeof *lengths);
    if (all->source)
        memcpy(source, all->source, (size_t)n_source * sizeof *source);
    memcpy(target + 1, all->target, (size_t)g->n_rows * sizeof *target);
    lengths[n] = 1;     /* the first has a target of one word, the last */
    lengths[n - 1] = 1; /* a source of one word */
    struct hd_batch batch = {.n = n,
                             .source = source,
                             .source_length = lengths,
                             .target = target,
                             .target_length = lengths + n};
    float *frames = surround_frames(g, &batch);
    hd_tape *tape = new_tape();
    hd_tape_record(tape, true);
    const struct hd_memory *memory = hd_encode(g->net, tape, &batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(g->net, tape, memory, &batch, NULL);
    check_tape(g, tape);
    assert_int_equal(forced->n_rows, g->n_rows + 1);
    for (int r = 0; r < forced->n_rows; r++)
        if (forced->sentence[r] > 0)
            same_row(g, "beside nothing",
                     g->first_row[forced->sentence[r] - 1] + forced->position[r], forced->out,
                     &forced->cross, r);
    hd_node *loss = hd_forced_loss(g->net, forced, smoothing);
    hd_backward(hd_with_ctc(g->net, memory, &batch, NULL, loss, NULL), g->gradients);
    check_tape(g, tape);
    size_t bad;
    if (!hd_all_finite(forced->out->x, hd_count(forced->out), &bad))
        complain(g, "without a source, out[%zu] is %g", bad, (double)forced->out->x[bad]);
    if (!hd_all_finite(g->gradients, hd_params_size(g->net->params), &bad))
        complain(g, "without a source, gradient %zu is %g", bad, (double)g->gradients[bad]);
    hd_tape_free(tape);
    test_free(lengths);
    test_free(source);
    test_free(target);
    if (frames) {
        test_free(frames);
        test_free((void *)batch.frame_length);
        test_free((void *)batch.grid);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int is_golden(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');
    return end && strcmp(end, ".safetensors") == 0;
}

/* In the order of their names. */
static void for_each_file(void (*check)(struct golden *))
{
    struct dirent **entries = NULL;
    const int n = scandir(FOLDER, &entries, is_golden, alphasort);
    assert_that(n > 0, "there are no golden files in " FOLDER);
    n_bad_files = 0;
    for (int i = 0; i < n; i++) {
        struct golden g;
        n_complaints = 0;
        open_golden(&g, entries[i]->d_name);
        check(&g);
        if (n_complaints > 5)
            print_error("%s: and %d more\n", g.name, n_complaints - 5);
        n_bad_files += n_complaints > 0;
        close_golden(&g);
        free(entries[i]);
    }
    free(entries);
    if (n_bad_files > 0)
        fail_msg("%d of %d files differ", n_bad_files, n);
}

static void check_golden(struct golden *g)
{
    teach(g, true);
}

static void loss_logits_attention_and_gradients_are_golden(void **state)
{
    (void)state;
    for_each_file(check_golden);
    for (size_t i = 0; i < sizeof worst / sizeof *worst; i++)
        print_message("furthest %-10s %.1e of the largest (%s)\n", worst[i].kind,
                      worst[i].difference, worst[i].where);
}

static void check_steps(struct golden *g)
{
    heed_error err = {0};
    if (!hd_config_has_decoder(&g->net->config))
        return;
    teach(g, false);
    run_in_steps(g);
    assert_that(hd_params_pack(g->net->params, &err), "%s", err.message); /* changes no bit */
    run_in_steps(g);
}

static void step_by_step_a_model_gives_the_bits_of_teaching(void **state)
{
    (void)state;
    for_each_file(check_steps);
}

static void check_alone(struct golden *g)
{
    teach(g, false);
    run_alone(g);
}

static void a_sentence_alone_gives_the_bits_it_has_in_a_batch(void **state)
{
    (void)state;
    for_each_file(check_alone);
}

static void check_beside_nothing(struct golden *g)
{
    if (!hd_config_has_decoder(&g->net->config))
        return;
    teach(g, false);
    run_beside_nothing(g);
}

static void sentences_without_words_harm_nobody(void **state)
{
    (void)state;
    for_each_file(check_beside_nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_logits_attention_and_gradients_are_golden),
        cmocka_unit_test(step_by_step_a_model_gives_the_bits_of_teaching),
        cmocka_unit_test(a_sentence_alone_gives_the_bits_it_has_in_a_batch),
        cmocka_unit_test(sentences_without_words_harm_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
