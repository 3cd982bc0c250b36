/* fuzz_form.c -- any bytes at all as the body of a request, in the three ways in which it can be sent, and cut into pieces: an
 * object of strings, or a refusal; a text of which nothing is translated is as it was. */
#include "fuzz/fuzz.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "serve/form.h"
#include "serve/pieces.h"

/* A JSON body may hold anything; what the others give are texts. */
static void use(const json_t *form, bool is_json)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)form, name, value)
    {
        must(hd_utf8_valid(name, strlen(name), NULL));
        must(is_json || json_is_string(value) || json_is_array(value));
        if (json_is_string(value))
            must(hd_utf8_valid(json_string_value(value), json_string_length(value), NULL));
    }
}

static void cut(const char *text, bool is_markup)
{
    struct hd_pieces p;
    struct hd_bytes out = {0};
    must(hd_pieces_init(&p, text, is_markup));
    const char **same = hd_alloc(p.n_translated + 1, sizeof *same, NULL);
    size_t end = 0, n = 0;
    for (size_t i = 0; i < p.n; i++) {
        must(p.at[i].begin == end && p.at[i].end > end);
        end = p.at[i].end;
        if (p.at[i].text)
            same[n++] = p.at[i].text;
    }
    must(end == strlen(text) && n == p.n_translated);
    hd_pieces_join(&out, &p, same);
    must(strcmp(out.at, text) == 0);
    hd_free(out.at);
    hd_free(same);
    hd_pieces_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"application/json", "application/x-www-form-urlencoded",
                                        "multipart/form-data; boundary=xx"};
    for (int i = 0; i < 3; i++) {
        json_t *form = json_object();
        if (hd_form_read(form, types[i], (const char *)data, size))
            use(form, i == 0);
        json_decref(form);
    }
    char *text = hd_alloc(size + 1, 1, NULL);
    memcpy(text, data, size);
    cut(text, false);
    cut(text, true);
    hd_free(text);
    return 0;
}
