/* corpus_file.h -- a file of a corpus, mapped into memory: unpacked first where it is compressed or a pipe. */
#ifndef HD_TEXT_CORPUS_FILE_H
#define HD_TEXT_CORPUS_FILE_H

#include "base/file.h"
#include "text/corpus.h"

struct hd_corpus_file {
    char *name;
    struct hd_map map;
    const char *text; /* after the byte order mark */
    size_t size;
    uint64_t base; /* the place of its first byte */
    struct hd_columns columns;
    bool has_header;
    bool is_converted; /* from a file of another kind: its first column is the source, */
    size_t n_unpaired; /* and so many of its entries are no pairs */
    int direction;     /* of all its pairs; -1 where none is named, or lines name theirs */
};

/* `direction` is "en-fr", for files of other kinds than TSV; may be NULL. `file` is {0} before; to be given to hd_corpus_file_close(), even when this fails. */
bool hd_corpus_file_open(struct hd_corpus_file *file, const char *path, bool is_tsv,
                         const char *direction, const struct hd_corpus_options *options,
                         heed_error *err);
void hd_corpus_file_close(struct hd_corpus_file *file);

/* Tell how far we are; false with HEED_CANCELLED in `err`. */
bool hd_corpus_ask(const struct hd_corpus_options *options, double share, heed_error *err);

#endif
