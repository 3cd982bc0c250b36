/* fuzz_vocab.c -- any bytes at all as a list of tokens or a vocab.yml, and then as text: ids in
 * range, or a sentence. The first byte chooses what the rest is. */
#include "fuzz/fuzz.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "text/vocab_file.h"

static void use_vocab(struct hd_vocab *vocab, const char *text, size_t n)
{
    struct hd_ids ids = {0};
    heed_error err = {0};
    size_t n_bytes;
    if (!vocab)
        return;
    must(hd_vocab_bytes(vocab, &n_bytes) && hd_vocab_size(vocab) > 0);
    for (int id = 0; id < hd_vocab_size(vocab); id++)
        must(hd_vocab_find(vocab, hd_vocab_piece(vocab, id)) == id);
    if (hd_vocab_encode(vocab, text, n, hd_vocab_end(vocab) >= 0, &ids, &err)) {
        char *decoded = hd_vocab_decode(vocab, ids.at, ids.n, &err);
        must(decoded && hd_utf8_valid(decoded, strlen(decoded), NULL));
        hd_free(decoded);
    } else
        must(err.message[0] != '\0');
    hd_ids_release(&ids);
    hd_vocab_free(vocab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    const size_t n = size - 1;
    struct hd_tokens tokens = {0};
    heed_error err = {0};
    switch (data[0] % 4) {
    case 0:
        use_vocab(hd_vocab_from_memory(HD_VOCAB_WORDS, text, n, &err), text, n);
        break;
    case 1:
        use_vocab(hd_vocab_from_memory(HD_VOCAB_CHARS, text, n, &err), text, n);
        break;
    case 2:
        hd_tokens_from_list(&tokens, "fuzz", text, n, &err);
        break;
    default:
        hd_tokens_from_yaml(&tokens, "fuzz", text, n, &err);
    }
    for (size_t i = 0; i < tokens.n; i++) {
        const size_t length = strlen(tokens.text[i]);
        must(length > 0 && hd_utf8_valid(tokens.text[i], length, NULL) &&
             !strchr(tokens.text[i], '\n'));
        must(i == 0 || tokens.ids[i] > tokens.ids[i - 1]);
    }
    if (tokens.n > 0)
        use_vocab(
            hd_vocab_from_tokens(HD_VOCAB_WORDS, (const char *const *)tokens.text, tokens.n, &err),
            text, n);
    hd_tokens_release(&tokens);
    return 0;
}
