/* translate.c -- translate lines of standard input and print which words belong together.
 *
 *     cc translate.c -o translate $(pkg-config --cflags --libs heed) && echo Hello! | ./translate model.safetensors */
#include <heed.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    heed_error err = {0};
    heed_translator *t =
        heed_translator_open(argc > 1 ? argv[1] : "tests/translate/toy.safetensors", &err);
    char line[4096] = "eins zwei drei"; /* without a model's name, one sentence to see it work */
    while (t && (argc < 2 || fgets(line, sizeof line, stdin))) {
        line[strcspn(line, "\n")] = '\0';
        heed_results *results = heed_translator_translate(t, (const char *[]){line}, 1, &err);
        if (!results)
            break;
        const heed_result *r = results->at[0];
        const heed_translation *best = r->translations[0];
        printf("%s\n", best->text);
        for (size_t i = 0; i < best->n_links; i++)
            printf("    %s - %s\n", r->words[best->links[i].source].text,
                   best->words[best->links[i].target].text);
        heed_results_free(results);
        if (argc < 2)
            break;
    }
    if (err.code)
        fprintf(stderr, "%s\n", err.message);
    heed_translator_free(t);
    return err.code != HEED_OK;
}
