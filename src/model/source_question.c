/* source_question.c -- two texts as a source: a document, and a question about it.
 *
 *     x_j = E[w_j] + M[m_j]      m_j: a word of the question, of the document, of the document and also in the question, or between them
 *     x_j = E[w_j] + M[m_j] + T[t_j]      with traits: t_j says what the word looks like, and how much of it the other text has
 *
 * Devlin et al. (2019), "BERT", section 3, for marks that are added; Chen et al. (2017), "Reading Wikipedia to answer open-domain questions",
 * section 3.2, for the one that says that a word is in the question. A recurrent encoder reads both texts each by itself, first all documents, then all questions; a
 * Transformer reads one sequence: the question, a position without a word, the document. */
#include "graph/tape.h"
#include "model/model.h"
#include "model/param.h"

static void declare_question(struct hd_net *net)
{
    const struct hd_config *c = &net->config;
    net->source.table = hd_table_param(net->params, "source.embed", c->source_vocab, c->embed);
    net->source.marks = hd_table_param(net->params, "source.marks", HD_N_MARKS, c->embed);
    if (c->has_traits)
        net->source.traits = hd_table_param(net->params, "source.traits", HD_N_TRAITS, c->embed);
}

static void init_question(const struct hd_net *net, uint64_t seed)
{
    const float deviation = 1 / __builtin_sqrtf((float)net->config.embed);
    hd_init_normal(net->source.table, deviation, seed);
    hd_init_normal(net->source.marks, deviation, seed);
    if (net->source.traits)
        hd_init_normal(net->source.traits, deviation, seed);
}

/* The rows of a batch while they are laid out. */
struct layout {
    int *word, *mark, *trait; /* of each row */
    int *start;               /* [2n]: first rows of the documents, and of the questions */
    int *length;              /* of each sentence that the encoder reads */
    int n_rows;
};

static void put_document(struct layout *l, const struct hd_batch *b, int i, int at)
{
    l->start[i] = l->n_rows;
    for (int j = 0; j < b->source_length[i]; j++, l->n_rows++) {
        l->word[l->n_rows] = b->source[at + j];
        l->mark[l->n_rows] = b->mark[at + j];
        l->trait[l->n_rows] = b->trait[at + j];
    }
}

static void put_question(struct layout *l, const struct hd_batch *b, int i, int at)
{
    l->start[b->n + i] = l->n_rows;
    for (int j = 0; j < b->question_length[i]; j++, l->n_rows++) {
        l->word[l->n_rows] = b->question[at + j];
        l->mark[l->n_rows] = HD_MARK_QUESTION;
        l->trait[l->n_rows] = b->question_trait[at + j];
    }
}

/* First all documents, then all questions. */
static void lay_out_apart(struct layout *l, const struct hd_batch *b)
{
    for (int i = 0, at = 0; i < b->n; at += b->source_length[i++]) {
        put_document(l, b, i, at);
        l->length[i] = b->source_length[i];
    }
    for (int i = 0, at = 0; i < b->n; at += b->question_length[i++]) {
        put_question(l, b, i, at);
        l->length[b->n + i] = b->question_length[i];
    }
}

/* Each question before its document. */
static void lay_out_together(struct layout *l, const struct hd_batch *b)
{
    for (int i = 0, at = 0, asked = 0; i < b->n; i++) {
        put_question(l, b, i, asked);
        l->word[l->n_rows] = l->trait[l->n_rows] = HD_HIDDEN;
        l->mark[l->n_rows++] = HD_MARK_BETWEEN;
        put_document(l, b, i, at);
        l->length[i] = b->question_length[i] + 1 + b->source_length[i];
        at += b->source_length[i];
        asked += b->question_length[i];
    }
}

static hd_node *read_question(const struct hd_net *net, hd_tape *tape, const struct hd_batch *b,
                              struct hd_memory *memory)
{
    const bool is_apart = net->config.arch != HD_TRANSFORMER;
    size_t n = (size_t)b->n; /* a row between the two each */
    for (int i = 0; i < b->n; i++)
        n += (size_t)b->source_length[i] + (size_t)b->question_length[i];
    struct layout l = {.word = hd_tape_take(tape, "hd_encode", n, sizeof(int)),
                       .mark = hd_tape_take(tape, "hd_encode", n, sizeof(int)),
                       .trait = hd_tape_take(tape, "hd_encode", n, sizeof(int)),
                       .start = hd_tape_take(tape, "hd_encode", 2 * (size_t)b->n, sizeof(int)),
                       .length = hd_tape_take(tape, "hd_encode", 2 * (size_t)b->n, sizeof(int))};
    const bool has_room = l.word && l.mark && l.trait && l.start && l.length;
    if (has_room)
        (is_apart ? lay_out_apart : lay_out_together)(&l, b);
    memory->spans = hd_spans_of(tape, l.length, !has_room ? 0 : is_apart ? 2 * b->n : b->n);
    memory->documents = hd_spans_at(tape, l.start, b->source_length, has_room ? b->n : 0);
    memory->questions =
        hd_spans_at(tape, l.start + (has_room ? b->n : 0), b->question_length, has_room ? b->n : 0);
    if (hd_has_failed(tape))
        return &tape->nil;
    hd_node *words = hd_rows(hd_on(tape, net->source.table), l.word, l.n_rows);
    hd_node *marks = hd_rows(hd_on(tape, net->source.marks), l.mark, l.n_rows);
    hd_node *x = hd_add(words, marks);
    if (!net->source.traits)
        return x;
    hd_node *traits = hd_rows(hd_on(tape, net->source.traits), l.trait, l.n_rows);
    return hd_add(x, traits);
}

const struct hd_source_kind hd_source_question = {declare_question, init_question, read_question};
