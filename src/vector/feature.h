/* feature.h -- how a sound or a picture becomes vectors: settings, and numbers learned from many files.
 *
 * Sound: the logarithms of the power in mel bands of overlapping windows, or their cepstra. Pictures: the pixels of patches, or
 * their principal components. A file of vectors carries how they were made, and a model that was trained on it carries it on, so
 * that it reads sound and pictures themselves. All of it is additions, multiplications, divisions and roots in one order: the same
 * file is the same vectors on every machine. */
#ifndef HD_VECTOR_FEATURE_H
#define HD_VECTOR_FEATURE_H

#include "features/features.h"
#include "format/safetensors.h"
#include "format/tensor.h"
#include "option/option.h"

#define HD_FEATURE_KINDS "sound|pictures" /* in the order of the enum */
enum hd_feature_kind { HD_FEATURES_SOUND, HD_FEATURES_PICTURES };
enum hd_colours { HD_COLOURS_RGB, HD_COLOURS_GREY };

struct hd_feature_settings {
    int kind; /* enum hd_feature_kind, or HD_OPTION_OPEN */
    /* sound */
    int sample_rate;
    float window_ms, hop_ms, pre_emphasis;
    int mel;
    float low, high; /* Hz */
    int cepstra;     /* 0: the bands themselves */
    int trim_ms;     /* of silence kept at both ends; 0: nothing is cut */
    int average;     /* frames */
    bool center;     /* the mean of each recording is removed */
    /* pictures */
    int patch_width, patch_height;
    int width, height; /* pictures are brought to this size; 0: left as they are */
    int colours;
    int project; /* 0: pixels */
    /* both */
    int store; /* 0: F16, 1: F32 */
};

/* Rows of the settings, and of `heed features`. */
extern const heed_option hd_feature_options[];

/* All that makes vectors. {0} is nothing; to be given to hd_feature_release(). */
struct hd_feature {
    struct hd_feature_settings settings;
    float *deviations; /* [width], by which vectors are divided; NULL: they are not */
    float *basis;      /* [width, pixels]: principal components; NULL: they are not known */
    float *mean;       /* [pixels], with the basis */
    size_t n_deviations, n_basis, n_mean;
};

void hd_feature_release(struct hd_feature *feature);

/* A copy, with numbers of its own. `to` is {0}. */
bool hd_feature_copy(struct hd_feature *to, const struct hd_feature *from, heed_error *err);

/* Do the settings go together? */
bool hd_feature_check(const struct hd_feature_settings *settings, heed_error *err);

/* Numbers of a vector; pixels of a patch, all colours counted. */
int hd_feature_width(const struct hd_feature_settings *settings);
int hd_feature_pixels(const struct hd_feature_settings *settings);

/* Seconds from one vector to the next. */
double hd_feature_step(const struct hd_feature_settings *settings);

/* Vectors of one file. rows and columns are 0 for sound. {0} is none; `x` is to be given to hd_free(). */
struct hd_featured {
    int n, width, rows, columns;
    float *x; /* [n,width] */
};

/* From a file (WAV, FLAC, Ogg, PNG, JPEG) to vectors, rounded as they would be stored. False with HEED_BAD_FILE in `err`. */
bool hd_feature_file(const struct hd_feature *feature, struct hd_featured *out, const char *path,
                     heed_error *err);

/* Which kind of file is it? False with a sentence when it is neither. */
bool hd_feature_kind_of(enum hd_feature_kind *kind, const char *path, heed_error *err);

/* The same from what has been read: sound.c, patch.c. */
bool hd_feature_sound(const struct hd_feature *feature, struct hd_featured *out,
                      const struct hd_sound *sound, const char *name, heed_error *err);
bool hd_feature_image(const struct hd_feature *feature, struct hd_featured *out,
                      const struct hd_image *image, const char *name, heed_error *err);

/* Learn the basis from patches [n,pixels]: their mean and the `settings.project` directions of largest variance. */
bool hd_feature_learn_basis(struct hd_feature *feature, const float *patches, size_t n,
                            heed_error *err);

/* v = B (p - μ) of one patch, where the basis is known. */
void hd_feature_project(const struct hd_feature *feature, float *v, const float *patch);

/* Written with a file of vectors (prefix "") or a model ("features."), and read again; what is not there is left out. A feature
 * without settings in `file` has kind HD_OPTION_OPEN. */
bool hd_feature_save(const struct hd_feature *feature, struct hd_saver *saver, const char *prefix,
                     heed_error *err);
bool hd_feature_load(struct hd_feature *feature, const struct hd_safetensors *file,
                     const char *prefix, heed_error *err);

/* Is it the name of a tensor that hd_feature_save() writes with this prefix? */
bool hd_is_feature_name(const char *name, const char *prefix);

#endif
