/* oracle.h -- running models that others trained: their files, and the best word at every step.
 *
 * An oracle is a folder of ../shared/oracles, a model of heed made from what is there, and tapes to
 * run it on. What is not there is skipped, with a sentence (tests/shared.h). */
#ifndef HD_TEST_ORACLE_H
#define HD_TEST_ORACLE_H

#include "model/walk.h"
#include "shared.h"

#include "base/memory.h"
#include "graph/tape.h"
#include "model/model_file.h"

enum { LONGEST = 200 }; /* words of a sentence */

struct oracle {
    char folder[512];
    heed_model *model;
    hd_tape *once, *step[2]; /* the sentence's tape, and two that take turns */
};

/* Where its files are; skips the test when `file`, which is one of them, is not there. */
static inline struct oracle find_oracle(const char *name, const char *file)
{
    struct oracle o = {0};
    char path[256];
    snprintf(path, sizeof path, "oracles/%s/%s", name, file);
    const char *found = shared_file(path);
    snprintf(o.folder, sizeof o.folder, "%.*s", (int)(strlen(found) - strlen(file) - 1), found);
    return o;
}

static inline const char *in_folder(const struct oracle *o, const char *file, char path[1024])
{
    snprintf(path, 1024, "%s/%s", o->folder, file);
    return path;
}

/* What is tested has been through our file: `path` is read and then removed. */
static inline void load_oracle(struct oracle *o, const char *path)
{
    heed_error err = {0};
    o->model = heed_model_load(path, &err);
    unlink(path);
    assert_that(o->model != NULL, "%s", err.message);
    o->once = hd_tape_new(&err);
    o->step[0] = hd_tape_new(&err);
    o->step[1] = hd_tape_new(&err);
    assert_true(o->once && o->step[0] && o->step[1]);
}

static inline void close_oracle(struct oracle *o)
{
    heed_model_free(o->model);
    hd_tape_free(o->once);
    hd_tape_free(o->step[0]);
    hd_tape_free(o->step[1]);
}

/* Lines of a file, without their ends. */
static inline char **lines_of(const struct oracle *o, const char *file, int *n)
{
    char path[1024], *line = NULL, **all = calloc(100000, sizeof *all);
    size_t size = 0;
    FILE *in = fopen(in_folder(o, file, path), "r");
    assert_that(in != NULL, "%s", path);
    for (*n = 0; getline(&line, &size, in) > 0; line = NULL, size = 0) {
        line[strcspn(line, "\n")] = '\0';
        all[(*n)++] = line;
    }
    free(line);
    fclose(in);
    return all;
}

static inline void free_lines(char **lines, int n)
{
    for (int i = 0; i < n; i++)
        free(lines[i]);
    free(lines);
}

/* The ids of a text, with the end marker where the vocabulary has one. */
static inline struct hd_ids encode(const struct hd_vocab *vocab, const char *text)
{
    struct hd_ids ids = {0};
    heed_error err = {0};
    const bool has_end = hd_vocab_end(vocab) >= 0;
    const bool ok = hd_vocab_encode(vocab, text, strlen(text), has_end, &ids, &err);
    assert_that(ok, "%s: %s", text, err.message);
    return ids;
}

/* The best word at every step, until the end marker or `most` of them. Returns their number; the
 * end marker is one of them. weights[t] are the alignment's; NULL when they are not wanted. */
static inline int greedy(struct oracle *o, const struct hd_ids *x, int words[LONGEST],
                         float (*weights)[LONGEST], int most)
{
    const struct hd_net *net = o->model->net;
    const int S = (int)x->n, end = hd_vocab_end(o->model->target), sentence = 0;
    const struct hd_batch batch = {.n = 1, .source = x->at, .source_length = &S};
    hd_tape_reset(o->once);
    struct walk *walk = walk_start(net, o->once, &batch, &sentence, 1);
    assert_that(walk != NULL && S < LONGEST, "%s", hd_tape_error(o->once)->message);
    int previous = -1, t = 0;
    for (; t < LONGEST && t < most && previous != end; t++) {
        hd_tape *tape = o->step[t % 2];
        hd_tape_reset(tape);
        const struct hd_stepped now = walk_step(walk, tape, &previous);
        const hd_node *logits = hd_logits(&net->head, now.out);
        assert_that(hd_tape_error(tape)->code == HEED_OK, "%s", hd_tape_error(tape)->message);
        tape->k->top_k(&previous, &(float){0}, logits->x, hd_width(logits), 1);
        if (weights)
            /* Marian tells the first head of the last layer. */
            assert_true(hd_weights_of(net, &now.cross, 0, 0,
                                      net->config.arch == HD_TRANSFORMER ? 0 : -1, weights[t]));
        words[t] = previous;
    }
    walk_end(walk);
    return t;
}

/* Words as text, to be given to hd_free(); the end marker leaves no trace. */
static inline char *text_of(const struct oracle *o, const int *words, int n)
{
    heed_error err = {0};
    char *text = hd_vocab_decode(o->model->target, words, (size_t)n, &err);
    assert_that(text != NULL, "%s", err.message);
    return text;
}

#endif
