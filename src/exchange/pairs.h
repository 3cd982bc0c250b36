/* pairs.h -- files of sentence pairs that are neither lines nor TSV: translation memories (TMX), tables (CSV), messages of programs (PO).
 *
 * They are written as TSV, source and target, which is what a corpus is made of. */
#ifndef HD_EXCHANGE_PAIRS_H
#define HD_EXCHANGE_PAIRS_H

#include "text/columns.h"

enum hd_pair_format { HD_PAIRS_AUTO, HD_PAIRS_TSV, HD_PAIRS_CSV, HD_PAIRS_TMX, HD_PAIRS_PO };
#define HD_PAIR_FORMATS "auto|tsv|csv|tmx|po"

/* What a file is: as was said, or by the ending of its name and its first bytes. */
enum hd_pair_format hd_pairs_format(enum hd_pair_format said, const char *path);

/* How many pairs were written, and how many entries were not: not translated, fuzzy, without one of the two languages. */
struct hd_pair_counts {
    size_t n, n_unpaired;
};

/* Write the pairs of a file into `fd`. `direction` may be NULL: then a file of two languages says itself which is the source. Plain or
 * compressed by gzip. False with the reason in `err`, file and line. */
bool hd_pairs_convert(enum hd_pair_format format, const char *path,
                      const struct hd_direction *direction, int fd, struct hd_pair_counts *counts,
                      heed_error *err);

/* A list of paths, each its own and the array as well; {0} is none. */
struct hd_paths {
    char **at;
    size_t n, capacity;
};

/* Append a path, or, of a folder, the paths of the files in it and below it that have text in pairs by their names (.tmx, .csv, .po, .tsv, also with .gz),
 * in the order of their names, each file once, however many links lead to it. False with the reason in `err`: a folder without any. */
bool hd_paths_add(struct hd_paths *paths, const char *path, heed_error *err);
void hd_paths_release(struct hd_paths *paths);
#endif
