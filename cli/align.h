/* align.h -- what the two ways of `heed align` share: by a model's attention, and by the text alone. */
#ifndef HEED_CLI_ALIGN_H
#define HEED_CLI_ALIGN_H

#include "command.h"

enum align_method { METHOD_ATTENTION, METHOD_HMM };

enum symmetrize {
    SYMMETRIZE_NONE,
    SYMMETRIZE_INTERSECT,
    SYMMETRIZE_UNION,
    SYMMETRIZE_GROW_DIAG_FINAL
};

struct align {
    const char *model, *reverse, *gold, *plot, *lexicon;
    heed_option_list tsv;
    int method, symmetrize;
    bool is_soft, has_subwords, is_json, is_quiet;
};

enum heed_symmetry symmetry_of(const struct align *align);

/* The two files, and the links that people made, if there are any. */
struct align_texts {
    heed_lines source, target, gold;
};

/* Read them, as many lines of each. False, with the complaint printed; align_release() is fine then too. */
bool align_read(struct align_texts *texts, const struct invocation *invocation);
void align_release(struct align_texts *texts);

/* --method hmm. */
enum status align_by_text(const struct invocation *invocation);

#endif
