/* answer.h -- questions about documents: the columns of a line, where its answer stands, and the answer as a part of the document.
 *
 * A line is document, TAB, question, TAB, answer, and perhaps TAB and the number of the answer's first token, from 0, tokens being what stands
 * between spaces. Further columns are not looked at. */
#ifndef HD_TEXT_ANSWER_H
#define HD_TEXT_ANSWER_H

#include "text/lines.h"
#include "text/vocab.h"

struct hd_question {
    struct hd_text document, question;
    struct hd_text answer, number; /* {0} where the line does not have them */
};

/* Cut a line into its columns; how many there are, 4 at most. */
int hd_question_cut(struct hd_text line, struct hd_question *question);

enum hd_answer_state {
    HD_ANSWER_FOUND,
    HD_ANSWER_MISSING, /* it is nowhere in the document, or not at the token of that number */
    HD_ANSWER_OUTSIDE, /* the document has no token of that number, or it is none */
};

/* Where the answer is in the document, in bytes: at its token, or, without a number, where it first stands as whole tokens, or else first
 * at all. */
enum hd_answer_state hd_answer_find(const struct hd_question *question, struct hd_span *place);

/* The first and the last of n places that a part of the document touches; false when it touches none. */
bool hd_answer_tokens(const struct hd_span *places, size_t n, struct hd_span part, int tokens[2]);

/* The other way round: the part from token `first` to token `last`, without white space around it. Where a token is only a part of a word, the
 * word is whole. */
struct hd_span hd_answer_part(struct hd_text document, const struct hd_span *places, int first,
                              int last);

#endif
