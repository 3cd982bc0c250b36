/* vectors.h -- sequences of vectors on disk: frames of sound, patches of pictures, or whatever else has numbers.
 *
 *     safetensors   vectors [Σ lengths, width] F32 or F16, starts I64 [n + 1]: item i is rows starts[i] … starts[i+1] - 1;
 *                   of pictures also rows, columns I32 [n], the grid of each
 *     npz           one array [length, width] per item, in the order of the archive
 *     npy           one item [length, width], or several of one length [n, length, width]
 *
 * A file of safetensors stays where it is and is read item by item, so that it may be larger than memory. Files are not believed:
 * what does not fit together, an item without vectors and a number that is none are refused, each with its sentence. */
#ifndef HD_VECTOR_VECTORS_H
#define HD_VECTOR_VECTORS_H

#include "vector/feature.h"

enum { HD_WIDEST_VECTOR = 1 << 16, HD_LONGEST_ITEM = 1 << 24 };

/* Open files, one after the other, whose items count as those of one. {0} is none; its fields are for reading. */
struct hd_vectors {
    int n;     /* items */
    int width; /* numbers of a vector */
    bool has_grids;
    struct hd_feature
        feature; /* how the first file was made; kind is HD_OPTION_OPEN where it does not say */
    struct hd_vectors_file *files;
    size_t n_files, capacity;
    /* hd_vectors_read() and hd_vectors_grid() below, for those who compute and know no files. */
    bool (*read)(const struct hd_vectors *vectors, int item, float *x, heed_error *err);
    void (*grid)(const struct hd_vectors *vectors, int item, int *rows, int *columns);
};

/* Is it a file of vectors, by its name? */
bool hd_is_vector_path(const char *path);

/* Open one more file; its width must be that of those before. False with the reason in `err`. */
bool hd_vectors_open(struct hd_vectors *vectors, const char *path, heed_error *err);
bool hd_vectors_open_memory(struct hd_vectors *vectors, const char *name, const void *data,
                            size_t size, heed_error *err);

/* Add an item that is in memory, made of a sound or a picture; `x` is owned from now on. */
bool hd_vectors_add(struct hd_vectors *vectors, const char *name, struct hd_featured *item,
                    heed_error *err);

/* Leaves {0}. */
void hd_vectors_close(struct hd_vectors *vectors);

/* Vectors of an item; its grid, 0 by 0 where it has none; where it is from, for sentences. */
int hd_vectors_length(const struct hd_vectors *vectors, int item);
void hd_vectors_grid(const struct hd_vectors *vectors, int item, int *rows, int *columns);
struct hd_vectors_name {
    char text[256];
} hd_vectors_name(const struct hd_vectors *vectors, int item);

/* The numbers of an item, [length,width]. False with HEED_BAD_FILE in `err` when one is not finite. */
bool hd_vectors_read(const struct hd_vectors *vectors, int item, float *x, heed_error *err);

/* A number made of all items' lengths, their first and their last vectors, to know the same vectors again. */
uint64_t hd_vectors_fingerprint(const struct hd_vectors *vectors);

/* The mean of every number of a vector, and 1 / its standard deviation, over all items; 1 where it does not vary. */
bool hd_vectors_statistics(const struct hd_vectors *vectors, float *mean, float *scale,
                           heed_error *err);

#endif
