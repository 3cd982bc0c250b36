/* translate_options.h -- what can be asked of a translator, by name. */
#ifndef HD_TRANSLATE_TRANSLATE_OPTIONS_H
#define HD_TRANSLATE_TRANSLATE_OPTIONS_H

#include <heed.h>

/* Are texts cut into sentences: unless the model was trained on whole documents, or only where they are too long? */
enum hd_split_option { HD_SPLIT_AUTO, HD_SPLIT_NEVER };

/* What becomes of an output that goes round in circles: it is searched again, or stays. */
enum hd_loops_option { HD_LOOPS_RETRY, HD_LOOPS_KEEP };

/* The public heed_options. Its rows say what each field means. */
struct heed_options {
    int beam, n_best;
    int norm; /* enum hd_length_norm */
    float alpha;
    float coverage_penalty, ctc_weight;
    int no_repeat;
    int loops; /* enum hd_loops_option */
    bool is_sampled;
    int top_k;
    float top_p, temperature;
    int seed;
    uint64_t number; /* of the first text: with the seed it decides what is drawn */
    float max_length;
    int max_source; /* 0: what the model was trained for */
    int split;      /* enum hd_split_option */
    bool replaces_unknown;
    bool protects;
    bool restores_case;
    heed_option_list keep;            /* regular expressions */
    int markup;                       /* enum hd_markup_kind */
    char *glossary;                   /* a file, */
    struct hd_shared_glossary *terms; /* and what is in it */
    char *memory_file;                /* a translation memory, */
    struct hd_shared_memory *memory;  /* and what is in it */
    int memory_sentences, memory_neighbours;
    bool memory_is_kept; /* what it makes of the model, in a file beside it */
    float memory_share, memory_temperature, memory_reach;
    char *memory_from, *memory_to; /* its languages, for models that do not say theirs */
    char *prefix;                  /* how the output begins; NULL: as the model likes */
    char *from, *to;               /* languages; from may be "auto", to NULL: the first that fits */
    char *force;                   /* attention that is given (translate/looks.h); NULL: none */
    char *target;        /* the output itself, which is only looked at; NULL: it is searched */
    bool is_of_subwords; /* texts with given outputs are subwords between spaces, both sides */
    int n_steps;         /* likeliest words of each step that are told; 0: none */
    bool has_tree;       /* the whole beam is told */
    int attention;       /* enum heed_attention */
    bool has_scores;
    float min_confidence; /* of less the source stays; 0: never */
    int layer, head;      /* 0, -1: the model's own choice */
    int shift;            /* 0: as suits the model; else one more than the step */
    int batch, n_threads;
    int compute; /* enum hd_compute; of a translator as a whole */
    void (*tell)(void *context, const heed_progress *progress); /* of a text that is submitted */
    void *tell_context;
};

bool hd_translate_options_init(heed_options *options, heed_error *err);
bool hd_translate_options_copy(heed_options *copy, const heed_options *options, heed_error *err);
void hd_translate_options_release(heed_options *options);
bool hd_translate_options_set(heed_options *options, const char *name, const char *value,
                              heed_error *err);
#endif
