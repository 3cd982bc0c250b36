/* corpus.h -- sentence pairs on disk, found by number.
 *
 * The text stays in its files, which are mapped into memory; what is kept is where each pair
 * begins: 4 bytes a side, 80 MB for ten million pairs. Files must not change or be shortened while
 * the corpus is in use. Read-only once open: threads may share it. */
#ifndef HD_TEXT_CORPUS_H
#define HD_TEXT_CORPUS_H

#include "text/columns.h"
#include "text/line_set.h"
#include "text/word_links.h"

#include <heed.h>
#include <stdint.h>

/* What the user named: line i of source[k] belongs to line i of target[k]. "-" is standard input;
 * files are plain or compressed by gzip, recognised by their first bytes, not by their names. */
struct hd_corpus_files {
    const char *const *source, *const *target;
    int n_source, n_target;
    bool
        is_tsv; /* lines of `source` are "source TAB target", two columns; there is no `target`. A first
                    line that names the columns source, target, from and to makes them four */
    bool
        has_questions; /* TSV: lines are those of text/answer.h; a pair's source is document, TAB, question, its target the rest */
    const char *const
        *directions; /* TSV, may be NULL: the languages of each file, "en-fr". The first column is
                                      then of the first language, unless a first line "fr TAB en" says
                                      otherwise; a file that is named again turned round, "fr-en", keeps its columns */
};

/* Files that are neither lines nor TSV. */
struct hd_corpus_converter {
    bool (*is_other)(void *context, const char *path);
    /* Write a file as TSV of two columns into `fd`; `direction` may be NULL. *n_unpaired is how many entries of it are no pairs. */
    bool (*convert)(void *context, const char *path, const struct hd_direction *direction, int fd,
                    size_t *n_unpaired, heed_error *err);
    void *context;
};

struct hd_corpus_options {
    const char *spool; /* where to unpack gzip, pipes and standard input: "<spool>.spool-1",
                            which has no name any more once it is open, so that nothing stays
                            behind; NULL refuses what must be unpacked */
    const struct hd_corpus_converter *converter; /* of TSV files; NULL: there are no others */
    bool skip_bad; /* leave bad pairs out and count them, rather than to refuse the first */
    const struct hd_line_set
        *exclude;        /* pairs with a side that is in it are left out and counted; may be NULL */
    size_t longest_line; /* bytes of a line; 0 is HD_CORPUS_LONGEST_LINE */
    bool (*progress)(void *context, double share); /* may be NULL; false cancels. The share is 0
                                                      while something is unpacked */
    void *context;
};

enum { HD_CORPUS_LONGEST_LINE = 1 << 20 };

struct hd_corpus;

/* Open and check every line; to be given to hd_corpus_free(). NULL with the reason in `err`:
 * HEED_BAD_FILE (missing, not readable, damaged, disk full), HEED_BAD_TEXT (a bad line, with file
 * and number; different numbers of lines; nothing left), HEED_BAD_OPTION (lists of different
 * length, standard input twice), HEED_CANCELLED, HEED_NO_MEMORY. Nothing of `files` and `options`
 * is kept. */
struct hd_corpus *hd_corpus_open(const struct hd_corpus_files *files,
                                 const struct hd_corpus_options *options, heed_error *err);

/* NULL is fine. */
void hd_corpus_free(struct hd_corpus *corpus);

/* How many good pairs there are: 0 to size - 1, in the order of the files. */
size_t hd_corpus_size(const struct hd_corpus *corpus);

/* UTF-8 without NUL, line end or byte order mark, with something to see in it; a lone \r inside a
 * line stays. Not ending in NUL. */
struct hd_text_pair {
    const char *source;
    size_t n_source;
    const char *target;
    size_t n_target;
    int direction;              /* which of hd_corpus_direction(); 0 where none is named */
    struct hd_pair_links links; /* none in a corpus; who knows them adds them */
};

/* Pair i, where it is on the disk; lives as long as the corpus. */
struct hd_text_pair hd_corpus_pair(const struct hd_corpus *corpus, size_t i);

/* Leave out all pairs that `keeps` does not want; it is asked once for each, in their order. False with HEED_NO_MEMORY in `err`, and the corpus is as it was. */
bool hd_corpus_filter(struct hd_corpus *corpus,
                      bool (*keeps)(void *context, const struct hd_text_pair *pair), void *context,
                      heed_error *err);

/* The line of pair i in the file that its source is from, from 0 and without a header; *file is the number of that file. */
size_t hd_corpus_line(const struct hd_corpus *corpus, size_t i, int *file);

/* How many lines a file has, good and bad. */
size_t hd_corpus_file_lines(const struct hd_corpus *corpus, int file);

/* The languages of pairs whose `direction` is i; NULL from i = number of directions on, which is 0 where no
 * languages are named. In the order in which they first occur. */
const struct hd_direction *hd_corpus_direction(const struct hd_corpus *corpus, int i);
int hd_corpus_n_directions(const struct hd_corpus *corpus);

/* Why a pair is bad: the first that holds, the source before the target. */
enum hd_bad_pair {
    HD_BAD_LONG,     /* a line longer than longest_line */
    HD_BAD_NUL,      /* a byte 0 */
    HD_BAD_UTF8,     /* */
    HD_BAD_COLUMNS,  /* TSV: other than two columns, or than the header has */
    HD_BAD_EMPTY,    /* nothing to see: no character, or spaces and invisible ones only */
    HD_BAD_LANGUAGE, /* TSV of four columns: no name of a language */
    HD_BAD_ANSWER,   /* questions: the answer is not in the document, or not at its token */
    HD_BAD_OUTSIDE,  /* questions: the document has no token of that number */
    HD_N_BAD_PAIRS
};

struct hd_corpus_counts {
    size_t n_unpaired; /* entries of files that were converted, without a translation */
    size_t n_lines;    /* good and bad */
    size_t n_excluded; /* good, but a side is in options.exclude */
    size_t n_bad;      /* the sum of: */
    struct {
        size_t n;
        const char *file; /* where the first one is, NULL for none; lives as long as the corpus */
        size_t line;      /* from 1 */
    } bad[HD_N_BAD_PAIRS];
};

const struct hd_corpus_counts *hd_corpus_counts(const struct hd_corpus *corpus);

/* "12 of 1000 pairs are left out: 11 have an empty side (the first is de.txt:17), 1 is not UTF-8
 * (en.txt:5)"; an empty text when none is. To be given to hd_free(), NULL without memory. */
char *hd_corpus_left_out(const struct hd_corpus *corpus, heed_error *err);

/* A number made of the text of all good pairs in their order, to know the same corpus again; where
 * it is stored, how it is compressed, and which bad pairs were left out do not matter. */
uint64_t hd_corpus_fingerprint(const struct hd_corpus *corpus);

#endif
