/* features.h -- the door between libheed and the module that reads sound and pictures, heed_features.so.
 *
 * The module takes files apart, by libraries of those who know the formats, and gives plain numbers; what is made of them is
 * libheed's (src/vector). It has its own copies of the functions of src/base that it uses, since libheed shows none. */
#ifndef HD_FEATURES_FEATURES_H
#define HD_FEATURES_FEATURES_H

#include <heed.h>

/* One channel, the mean of all there are; numbers as 16 bits have them, -32768 to 32767. */
struct hd_sound {
    int rate; /* samples a second */
    size_t n;
    double *samples;
};

/* Red, green, blue from 0 to 255, row by row; what can be seen through stands before white. */
struct hd_image {
    int width, height;
    unsigned char *rgb;
};

enum { HD_LARGEST_SIDE = 16384, HD_MOST_PIXELS = 1 << 26 }; /* of a picture */

struct hd_features_module {
    const char *version; /* HEED_VERSION of the build; the structs of another may be others */

    /* Is it this kind of file, by its first bytes? */
    bool (*is_sound)(const void *data, size_t size);
    bool (*is_image)(const void *data, size_t size);

    /* Read a file's bytes; `name` is for sentences. What was filled is to be given to free(). False with HEED_BAD_FILE or
     * HEED_NO_MEMORY in `err`. */
    bool (*read_sound)(struct hd_sound *sound, const char *name, const void *data, size_t size,
                       heed_error *err);
    bool (*read_image)(struct hd_image *image, const char *name, const void *data, size_t size,
                       heed_error *err);
    void (*free)(void *memory);
};

/* What the library looks for in the module. */
extern HEED_API const struct hd_features_module hd_features_module;

/* sound_file.c, image_file.c */
bool hd_is_sound_file(const void *data, size_t size);
bool hd_is_image_file(const void *data, size_t size);
bool hd_sound_read(struct hd_sound *sound, const char *name, const void *data, size_t size,
                   heed_error *err);
bool hd_image_read(struct hd_image *image, const char *name, const void *data, size_t size,
                   heed_error *err);

#endif
