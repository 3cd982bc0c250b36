/* fuzz_links.c -- any bytes at all as a line of links, and as the two sides of a pair to be cut: a sentence, or numbers within bounds. */
#include "fuzz/fuzz.h"

#include "align/align_tokens.h"
#include "align/link_lists.h"

#include <string.h>

static void cut(const char *text, size_t size)
{
    struct hd_align_tokens tokens = {0};
    struct hd_token_ids ids = {0};
    heed_error err = {0};
    must(hd_align_tokens_cut(&tokens, (struct hd_text){text, size}, &ids, true, &err));
    for (size_t i = 0; i < tokens.n; i++) {
        must(tokens.at[i].word >= (i > 0 ? tokens.at[i - 1].word : 0) &&
             tokens.at[i].word < tokens.n_words);
        must(tokens.at[i].id < ids.n && hd_token_text(&ids, tokens.at[i].id)[0]);
    }
    hd_align_tokens_release(&tokens);
    hd_token_ids_release(&ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct hd_link_lists lists = {0};
    heed_error err = {0};
    const bool ok = hd_link_lists_read_line(&lists, text, size, "fuzz", 1, &err);
    must(ok == (err.message[0] == '\0'));
    must(lists.n == 1 && 2 * lists.n_links <= size);
    hd_link_lists_release(&lists);
    if (!memchr(text, 0, size)) /* which lines of text never have */
        cut(text, size);
    return 0;
}
