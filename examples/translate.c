/* translate.c -- the whole toolkit in thirty lines: translate lines of standard input and show which words belong together.
 *
 *     cc translate.c -o translate $(pkg-config --cflags --libs heed) && echo Hello! | ./translate model.safetensors */
#include <heed.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    heed_error err = {0};
    heed_model *model =
        heed_model_load(argc > 1 ? argv[1] : "tests/translate/toy.safetensors", &err);
    const heed_model *models[] = {model};
    char line[4096];
    strcpy(line, "eins zwei drei"); /* without a model's name, one sentence to see it work */
    while (model && (argc < 2 || fgets(line, sizeof line, stdin))) {
        line[strcspn(line, "\n")] = '\0';
        heed_results *results = heed_translate(models, 1, (const char *[]){line}, 1, NULL, &err);
        if (!results)
            break;
        const heed_translation *best = &results->at[0].translations[0];
        printf("%s\n", best->text);
        for (size_t i = 0; i < best->n_links; i++)
            printf("    %s - %s\n", results->at[0].words[best->links[i].source].text,
                   best->words[best->links[i].target].text);
        heed_results_free(results);
        if (argc < 2)
            break;
    }
    if (err.code)
        fprintf(stderr, "%s\n", err.message);
    heed_model_free(model);
    return err.code != HEED_OK;
}
