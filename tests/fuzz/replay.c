/* replay.c -- gives a fuzz target the files of its corpus, one by one: for machines without
 * libFuzzer.
 *
 *     fuzz_npz FOLDER|FILE... */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>

static int n_files;

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return perror(path), 1;
    size_t n = 0, capacity = 4096;
    uint8_t *data = malloc(capacity);
    for (size_t got; data && (got = fread(data + n, 1, capacity - n, file)) > 0;)
        if ((n += got) == capacity)
            data = realloc(data, capacity *= 2);
    fclose(file);
    uint8_t *exact = malloc(n > 0 ? n : 1); /* so that one byte too many is seen */
    if (!data || !exact)
        return 1;
    memcpy(exact, data, n);
    printf("%s: %zu bytes\n", path, n);
    fflush(stdout); /* who comes last did it */
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    free(data);
    n_files++;
    return 0;
}

static int replay_folder(const char *path, DIR *folder)
{
    int status = 0;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        status |= replay(name);
    }
    closedir(folder);
    return status;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        status |= folder ? replay_folder(argv[i], folder) : replay(argv[i]);
    }
    printf("%d files\n", n_files);
    return status != 0 || n_files == 0;
}
