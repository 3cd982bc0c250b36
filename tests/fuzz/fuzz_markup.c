/* fuzz_markup.c -- any text at all as HTML and as XML: its marks lie inside it, and written again with its own words as the translation it is
 * well-formed and has the same marks. */
#include "fuzz/fuzz.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "translate/document.h"
#include "translate/result.h"

static size_t count_tags(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '<';
    return n;
}

/* Every block is a sentence of its own, and becomes itself. */
static char *write_again(struct hd_document *d)
{
    const size_t n = d->n_blocks;
    struct hd_span *segments = calloc(n + 1, sizeof *segments);
    bool *passes = calloc(n + 1, sizeof *passes);
    struct hd_token_side side = {0};
    must(segments && passes && hd_token_side_init(&side, 0, n, NULL));
    for (size_t b = 0; b < n; b++) {
        d->blocks[b].first_segment = b;
        d->blocks[b].n_segments = 1;
        segments[b] = d->blocks[b].plain;
    }
    const struct hd_token_weights weights = {&side, &side, NULL};
    must(hd_document_write(d,
                           &(struct hd_plain_translation){.text = d->plain,
                                                          .n = d->n_plain,
                                                          .segments = segments,
                                                          .source_segments = segments,
                                                          .passes = passes,
                                                          .weights = &weights},
                           NULL));
    for (size_t i = 0; i < d->n_plain; i++)
        must(d->written[0].begin[i] <= d->written[0].end[i] &&
             d->written[0].end[i] <= strlen(d->written[0].text));
    hd_token_side_release(&side);
    free(segments);
    free(passes);
    return d->written[0].text;
}

static void check(enum hd_markup_kind kind, const char *text, size_t n)
{
    heed_result *result = hd_result_new(NULL);
    struct hd_document *d =
        hd_document_new(&hd_markup_module, kind, text, n, n % 2 == 0, result, NULL);
    must(d);
    size_t at = 0;
    for (size_t i = 0; i < d->marks.n; i++) {
        const struct hd_markup_mark *m = &d->marks.at[i];
        must(m->begin >= at && m->end >= m->begin && m->end <= n);
        at = m->end;
    }
    const char *written = write_again(d);
    struct hd_marks again = {0};
    const bool is_read = hd_markup_module.read(&again, kind, written, strlen(written), NULL);
    must(is_read || d->is_verbatim);
    must(kind != HD_MARKUP_XML || count_tags(written) == count_tags(text));
    /* What is not to be translated is copied byte for byte, be it broken. */
    must(kind == HD_MARKUP_XML || again.n_dropped <= d->marks.n_dropped);
    hd_free(again.at);
    hd_document_free(d);
    heed_result_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (memchr(data, 0, size) || !hd_utf8_valid((const char *)data, size, NULL))
        return 0;
    char *text = calloc(size + 1, 1);
    must(text);
    memcpy(text, data, size);
    check(HD_MARKUP_HTML, text, size);
    check(HD_MARKUP_XML, text, size);
    free(text);
    return 0;
}
