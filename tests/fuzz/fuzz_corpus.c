/* fuzz_corpus.c -- any bytes at all as text to learn from: pairs of good text, or a sentence. The
 * first byte is what to expect (1: TSV, 2: leave out what is bad); a byte 1 ends the source. */
#include "fuzz/fuzz.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "text/corpus.h"

#include <stdio.h>
#include <unistd.h>

static char source_path[64], target_path[64], spool_path[64];

static void put(const char *path, const uint8_t *data, size_t n)
{
    FILE *file = fopen(path, "wb");
    must(file && fwrite(data, 1, n, file) == n && fclose(file) == 0);
}

static void check_text(const char *text, size_t n)
{
    must(n > 0 && n <= 64 && hd_utf8_valid(text, n, NULL));
    must(!memchr(text, '\0', n) && !memchr(text, '\n', n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const bool is_tsv = data[0] & 1;
    const uint8_t *end = data + size, *source = data + 1;
    const uint8_t *cut = is_tsv ? NULL : memchr(source, 1, size - 1);
    cut = cut ? cut : end;
    snprintf(source_path, sizeof source_path, "/tmp/heed-fuzz-%ld-a", (long)getpid());
    snprintf(target_path, sizeof target_path, "/tmp/heed-fuzz-%ld-b", (long)getpid());
    snprintf(spool_path, sizeof spool_path, "/tmp/heed-fuzz-%ld", (long)getpid());
    put(source_path, source, (size_t)(cut - source));
    put(target_path, cut < end ? cut + 1 : end, cut < end ? (size_t)(end - cut - 1) : 0);

    const char *paths[] = {source_path, target_path};
    static const char *const directions[] = {"en-fr"};
    const bool is_named = is_tsv && data[0] & 4;
    const struct hd_corpus_files files = {.source = paths,
                                          .target = paths + 1,
                                          .n_source = 1,
                                          .n_target = is_tsv ? 0 : 1,
                                          .is_tsv = is_tsv,
                                          .has_questions = is_tsv && data[0] & 8,
                                          .directions = is_named ? directions : NULL};
    const struct hd_corpus_options options = {
        .spool = spool_path, .skip_bad = data[0] & 2, .longest_line = 64};
    heed_error err = {0};
    struct hd_corpus *corpus = hd_corpus_open(&files, &options, &err);
    must((corpus != NULL) == (err.code == HEED_OK) && (corpus != NULL) == (err.message[0] == '\0'));
    if (corpus) {
        const struct hd_corpus_counts *counts = hd_corpus_counts(corpus);
        must(hd_corpus_size(corpus) + counts->n_bad == counts->n_lines);
        must(options.skip_bad || counts->n_bad == 0);
        for (size_t i = 0; i < hd_corpus_size(corpus); i++) {
            const struct hd_text_pair pair = hd_corpus_pair(corpus, i);
            check_text(pair.source, pair.n_source);
            check_text(pair.target, pair.n_target);
            must(pair.direction == 0 || hd_corpus_direction(corpus, pair.direction));
            must(!is_named || hd_corpus_n_directions(corpus) > 0);
        }
        hd_free(hd_corpus_left_out(corpus, &err));
        hd_corpus_free(corpus);
    }
    unlink(source_path);
    unlink(target_path);
    return 0;
}
