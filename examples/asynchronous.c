/* asynchronous.c -- asynchronous translation: texts are submitted as they come, results are printed as they finish.
 *
 *     ./asynchronous model.safetensors <text.en
 *
 * Each request has options of its own; here the odd lines are searched greedily. */
#include <heed.h>
#include <stdio.h>
#include <string.h>

static const char *const numbers[] = {"eins", "zwei drei", "vier fünf sechs", "sieben acht"};

int main(int argc, char **argv)
{
    heed_error err = {0};
    heed_translator *t =
        heed_translator_open(argc > 1 ? argv[1] : "tests/translate/toy.safetensors", &err);
    heed_options *greedy = t ? heed_options_new(t, &err) : NULL;
    if (!greedy || !heed_options_set(greedy, "beam", "1", &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    char line[4096];
    for (int i = 0;
         err.code == HEED_OK && (argc > 1 ? fgets(line, sizeof line, stdin) != NULL : i < 4); i++) {
        if (argc < 2)
            strcpy(line, numbers[i]);
        line[strcspn(line, "\n")] = '\0';
        heed_translator_submit(t, line, i % 2 ? greedy : NULL, &err);
    }
    uint64_t id;
    for (heed_result *r; (r = heed_translator_take(t, -1, &id, &err)) || id > 0;) {
        if (r)
            printf("%llu: %s -> %s\n", (unsigned long long)id, r->source, r->translations[0]->text);
        heed_result_free(r);
    }
    if (err.code)
        fprintf(stderr, "%s\n", err.message);
    heed_options_free(greedy);
    heed_translator_free(t);
    return err.code != HEED_OK;
}
