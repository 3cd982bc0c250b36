/* fuzz_steps.c -- any bytes at all as a file of kept steps, and a good one of which some bytes are changed: the very steps that were kept, or
 * none. */
#include "fuzz/fuzz.h"

#include "translate/step_store.h"

#include <stdio.h>
#include <unistd.h>

enum { WIDTH = 3, STEPS = 4 };

static char folder[] = "/tmp/heed-fuzz-XXXXXX", memory[64], path[96];

static void put(const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    must(file && fwrite(data, 1, size, file) == size);
    fclose(file);
}

static struct hd_steps steps_of(int next[STEPS], float states[STEPS * WIDTH], double square[STEPS])
{
    for (int i = 0; i < STEPS * WIDTH; i++)
        states[i] = (float)i / 7;
    for (int i = 0; i < STEPS; i++) {
        next[i] = 3 * i;
        square[i] = i;
    }
    return (struct hd_steps){STEPS, WIDTH, next, states, square};
}

/* What is there is what was put there. */
static void look(const struct hd_steps *wanted)
{
    struct hd_step_store *store = hd_step_store_open(memory, 7, WIDTH);
    struct hd_steps found;
    for (uint64_t number = 0; number < 3; number++)
        if (hd_step_store_find(store, number, &found)) {
            must(found.n > 0 && found.width == WIDTH);
            must(!wanted ||
                 (found.n == STEPS && memcmp(found.next, wanted->next, STEPS * sizeof(int)) == 0 &&
                  memcmp(found.states, wanted->states, STEPS * WIDTH * sizeof(float)) == 0 &&
                  memcmp(found.square, wanted->square, STEPS * sizeof(double)) == 0));
            hd_steps_release(&found);
        }
    hd_step_store_close(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!memory[0]) {
        must(mkdtemp(folder) != NULL);
        snprintf(memory, sizeof memory, "%s/m", folder);
        snprintf(path, sizeof path, "%s.%016x.steps", memory, 7);
    }
    put(data, size);
    look(NULL);

    int next[STEPS];
    float states[STEPS * WIDTH];
    double square[STEPS];
    const struct hd_steps steps = steps_of(next, states, square);
    unlink(path);
    struct hd_step_store *store = hd_step_store_open(memory, 7, WIDTH);
    hd_step_store_add(store, 1, &steps);
    hd_step_store_add(store, 2, &steps);
    hd_step_store_close(store);
    store = hd_step_store_open(memory, 7, WIDTH);
    struct hd_steps found;
    must(hd_step_store_find(store, 2, &found));
    hd_steps_release(&found);
    hd_step_store_close(store);

    FILE *file = fopen(path, "r+b");
    for (size_t i = 0; file && i + 1 < size && i < 16; i += 2) {
        must(fseek(file, data[i], SEEK_SET) == 0);
        fputc(data[i + 1], file);
    }
    fclose(file);
    look(&steps);
    unlink(path);
    rmdir(folder);
    memory[0] = '\0';
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    return 0;
}
