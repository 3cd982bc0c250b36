/* feature.c -- the settings of features, and their way into files and back. */
#include "vector/feature.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/module.h"
#include "base/quote.h"
#include "option/option_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const KEY = "heed.features";

/* ---- settings ------------------------------------------------------------------------------------- */

/* "8x8" fills this int and the next. */
static bool set_size(const heed_option *option, void *values, const char *text, heed_error *err)
{
    int *size = (int *)(void *)((char *)values + option->offset);
    char *end = NULL;
    if (strcmp(text, "none") == 0 && option->least == 0) {
        size[0] = size[1] = 0;
        return true;
    }
    const long width = strtol(text, &end, 10);
    const long height = end > text && *end == 'x' ? strtol(end + 1, &end, 10) : 0;
    if (width < 1 || height < 1 || width > HD_LARGEST_SIDE || height > HD_LARGEST_SIDE || *end ||
        strspn(text, "0123456789x") != strlen(text))
        return heed_option_refuse(option, text, err);
    size[0] = (int)width;
    size[1] = (int)height;
    return true;
}

static void print_size(const heed_option *option, const void *values, char *text, size_t n)
{
    const int *size = (const int *)(const void *)((const char *)values + option->offset);
    if (size[0] == 0)
        snprintf(text, n, "none");
    else
        snprintf(text, n, "%dx%d", size[0], size[1]);
}

#define FIELD(member) HEED_OPTION_FIELD(struct hd_feature_settings, member)
#define COUNT         .kind = HEED_OPTION_INT, .value = "N"
#define NUMBER        .kind = HEED_OPTION_FLOAT, .value = "X"

const heed_option hd_feature_options[] = {
    {"kind", .kind = HEED_OPTION_CHOICE, FIELD(kind), .choices = HD_FEATURE_KINDS,
     .flags = HEED_OPTION_AUTO, .group = "Features", .default_help = "told by the first file",
     .help = "what the files are"},
    {"store", .kind = HEED_OPTION_CHOICE, FIELD(store), .choices = "f16|f32", .initial = "f16",
     .help = "number format of the vectors"},
    {"mel", COUNT, FIELD(mel), .least = 1, .most = 1024, .initial = "40", .group = "Sound",
     .help = "mel bands of a frame"},
    {"cepstra", COUNT, FIELD(cepstra), .least = 0, .most = 1024, .initial = "0",
     .help = "cepstra to make of the bands; 0: none, the bands themselves"},
    {"sample-rate", .kind = HEED_OPTION_INT, FIELD(sample_rate), .value = "HZ", .least = 1000,
     .most = 192000, .initial = "16000", .help = "rate to which all sound is brought"},
    {"window-ms", NUMBER, FIELD(window_ms), .least = 1, .most = 1000, .initial = "25",
     .help = "length of a window"},
    {"hop-ms", NUMBER, FIELD(hop_ms), .least = 1, .most = 1000, .initial = "10",
     .help = "from one window to the next"},
    {"low", .kind = HEED_OPTION_FLOAT, FIELD(low), .value = "HZ", .least = 0, .most = 96000,
     .initial = "100", .help = "lower end of the bands"},
    {"high", .kind = HEED_OPTION_FLOAT, FIELD(high), .value = "HZ", .least = 0, .most = 96000,
     .initial = "7000", .help = "upper end of the bands, at most half the sample rate"},
    {"pre-emphasis", NUMBER, FIELD(pre_emphasis), .least = 0, .most = 1, .initial = "0.97",
     .help = "share of the sample before that is taken away from each"},
    {"average", COUNT, FIELD(average), .least = 1, .most = 100, .initial = "1",
     .help = "frames of which one is made"},
    {"trim-ms", COUNT, FIELD(trim_ms), .least = 0, .most = 10000, .initial = "0",
     .help = "cut silence at both ends, but for so much of it; 0 cuts nothing"},
    {"center", .kind = HEED_OPTION_YES_NO, FIELD(center), .initial = "yes",
     .help = "remove the mean of each recording, and with it what belongs to its microphone"},
    {"patches", .kind = HEED_OPTION_TEXT,
     HEED_OPTION_FIELD(struct hd_feature_settings, patch_width), .initial = "8x8", .value = "WxH",
     .takes = "a width and a height in pixels, such as 8x8", .set = set_size, .print = print_size,
     .least = 1, .most = HD_LARGEST_SIDE, .group = "Pictures", .help = "size of a patch in pixels"},
    {"resize", .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct hd_feature_settings, width),
     .initial = "none", .value = "WxH",
     .takes = "none, or a width and a height in pixels, such as 64x64", .set = set_size,
     .print = print_size, .help = "bring all pictures to this size first"},
    {"colours", .kind = HEED_OPTION_CHOICE, FIELD(colours), .choices = "rgb|grey", .initial = "rgb",
     .help = "numbers of a pixel"},
    {"project", COUNT, FIELD(project), .least = 0, .most = 1024, .initial = "0",
     .help = "principal components to make of a patch's pixels; 0: none, the pixels themselves"},
    {0},
};

int hd_feature_pixels(const struct hd_feature_settings *s)
{
    return s->patch_width * s->patch_height * (s->colours == HD_COLOURS_RGB ? 3 : 1);
}

int hd_feature_width(const struct hd_feature_settings *s)
{
    if (s->kind == HD_FEATURES_SOUND)
        return s->cepstra > 0 ? s->cepstra : s->mel;
    return s->project > 0 ? s->project : hd_feature_pixels(s);
}

double hd_feature_step(const struct hd_feature_settings *s)
{
    return s->kind == HD_FEATURES_SOUND ? (double)s->hop_ms * s->average / 1000 : 0;
}

bool hd_feature_check(const struct hd_feature_settings *s, heed_error *err)
{
    enum { LARGEST_PATCH = 64 };
    if (s->kind == HD_FEATURES_PICTURES) {
        if (s->patch_width > LARGEST_PATCH || s->patch_height > LARGEST_PATCH)
            return hd_fail(err, HEED_BAD_OPTION,
                           "a patch has at most %d by %d pixels, not %d by %d", LARGEST_PATCH,
                           LARGEST_PATCH, s->patch_width, s->patch_height);
        if (s->project > hd_feature_pixels(s))
            return hd_fail(err, HEED_BAD_OPTION,
                           "--project %d: a patch has only %d numbers to begin with", s->project,
                           hd_feature_pixels(s));
        return true;
    }
    if (s->low >= s->high || s->high > (float)s->sample_rate / 2)
        return hd_fail(err, HEED_BAD_OPTION,
                       "bands from %g to %g Hz do not lie within 0 and %g Hz, half the sample "
                       "rate; see --low and --high",
                       (double)s->low, (double)s->high, s->sample_rate / 2.);
    if (s->cepstra > s->mel)
        return hd_fail(err, HEED_BAD_OPTION, "%d bands (--mel) cannot have %d cepstra", s->mel,
                       s->cepstra);
    return true;
}

void hd_feature_release(struct hd_feature *f)
{
    hd_free(f->deviations);
    hd_free(f->basis);
    hd_free(f->mean);
    *f = (struct hd_feature){0};
}

static bool copy_numbers(float **to, size_t *n_to, const float *from, size_t n, heed_error *err)
{
    *to = from ? hd_alloc(n, sizeof **to, err) : NULL;
    *n_to = *to ? n : 0;
    if (*to)
        memcpy(*to, from, n * sizeof **to);
    return !from || *to;
}

bool hd_feature_copy(struct hd_feature *to, const struct hd_feature *from, heed_error *err)
{
    to->settings = from->settings;
    return copy_numbers(&to->deviations, &to->n_deviations, from->deviations, from->n_deviations,
                        err) &&
           copy_numbers(&to->basis, &to->n_basis, from->basis, from->n_basis, err) &&
           copy_numbers(&to->mean, &to->n_mean, from->mean, from->n_mean, err);
}

/* ---- files ---------------------------------------------------------------------------------------- */

enum { LONGEST_NAME = 64 };

static const char *prefixed(char out[LONGEST_NAME], const char *prefix, const char *name)
{
    snprintf(out, LONGEST_NAME, "%s%s", prefix, name);
    return out;
}

bool hd_is_feature_name(const char *name, const char *prefix)
{
    static const char *const names[] = {"deviations", "basis", "mean"};
    char full[LONGEST_NAME];
    for (int i = 0; i < 3; i++)
        if (strcmp(name, prefixed(full, prefix, names[i])) == 0)
            return true;
    return false;
}

static void add_numbers(struct hd_saver *saver, const char *prefix, const char *name,
                        const float *x, size_t rows, size_t columns)
{
    char full[LONGEST_NAME];
    const size_t dims[] = {rows, columns};
    if (x)
        hd_saver_add(saver,
                     hd_tensor_of(prefixed(full, prefix, name), HD_F32, x,
                                  rows == 0 ? dims + 1 : dims, rows == 0 ? 1 : 2),
                     HD_F32);
}

/* To be given to json_decref(); NULL without memory. */
static json_t *settings_json(const struct hd_feature_settings *s)
{
    json_t *json = json_object();
    for (const heed_option *o = hd_feature_options; json && o->name; o++)
        if (!hd_option_is_open(o, s) &&
            json_object_set_new(json, o->name, hd_option_to_json(o, s)) != 0) {
            json_decref(json);
            json = NULL;
        }
    return json;
}

bool hd_feature_save(const struct hd_feature *f, struct hd_saver *saver, const char *prefix,
                     heed_error *err)
{
    const struct hd_feature_settings *s = &f->settings;
    json_t *json = settings_json(s);
    char *text =
        json ? json_dumps(json, JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(json);
    if (!text)
        return hd_fail(err, HEED_NO_MEMORY, "there is no memory for the settings of features");
    hd_saver_note(saver, KEY, text);
    free(text);
    add_numbers(saver, prefix, "deviations", f->deviations, 0, f->n_deviations);
    add_numbers(saver, prefix, "basis", f->basis, f->n_mean ? f->n_basis / f->n_mean : 0,
                f->n_mean);
    add_numbers(saver, prefix, "mean", f->mean, 0, f->n_mean);
    return true;
}

static bool read_settings(struct hd_feature_settings *s, const struct hd_safetensors *file,
                          const char *text, heed_error *err)
{
    json_error_t why = {0};
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    bool ok =
        json_is_object(json) ||
        hd_fail(err, HEED_BAD_MODEL, "%s: %s in its metadata is not a JSON object: %s", file->path,
                KEY, json ? "it is another kind of value" : hd_quote(why.text).text);
    heed_error reason = {0};
    ok = ok && hd_options_from_json(hd_feature_options, s, json, NULL, &reason) &&
         (s->kind == HD_OPTION_OPEN || hd_feature_check(s, &reason));
    if (reason.code != HEED_OK)
        hd_fail(err, HEED_BAD_MODEL, "%s: %s in its metadata: %s", file->path, KEY, reason.message);
    json_decref(json);
    return ok;
}

/* True, and *x NULL, where it is not there. */
static bool read_numbers(float **x, size_t *n_read, const struct hd_safetensors *file,
                         const char *prefix, const char *name, size_t n, heed_error *err)
{
    char full[LONGEST_NAME];
    const struct hd_tensor *t = hd_safetensors_find(file, prefixed(full, prefix, name));
    if (!t)
        return true;
    if (n != 0 && t->n != n)
        return hd_fail(err, HEED_BAD_MODEL, "%s: the tensor %s has %zu numbers instead of %zu",
                       file->path, t->name, t->n, n);
    *x = hd_alloc(t->n, sizeof **x, err);
    *n_read = t->n;
    return *x && hd_read_f32(*x, t, t->n, err) && hd_check_finite(t, err);
}

bool hd_feature_load(struct hd_feature *f, const struct hd_safetensors *file, const char *prefix,
                     heed_error *err)
{
    *f = (struct hd_feature){0};
    struct hd_feature_settings *s = &f->settings;
    const char *text = hd_safetensors_metadata(file, KEY);
    bool ok = heed_option_defaults(hd_feature_options, s, err) &&
              (!text || read_settings(s, file, text, err));
    const bool is_known = text && s->kind != HD_OPTION_OPEN;
    const size_t width = is_known ? (size_t)hd_feature_width(s) : 0,
                 pixels = is_known ? (size_t)hd_feature_pixels(s) : 0;
    ok = ok &&
         read_numbers(&f->deviations, &f->n_deviations, file, prefix, "deviations", width, err) &&
         read_numbers(&f->basis, &f->n_basis, file, prefix, "basis", width * pixels, err) &&
         read_numbers(&f->mean, &f->n_mean, file, prefix, "mean", pixels, err);
    if (ok && f->basis && (f->n_mean == 0 || f->n_basis % f->n_mean != 0))
        ok = hd_fail(err, HEED_BAD_MODEL, "%s: a basis needs a mean, as wide as it is", file->path);
    for (size_t i = 0; ok && i < f->n_deviations; i++)
        ok = f->deviations[i] > 0 ||
             hd_fail(err, HEED_BAD_MODEL, "%s: its deviations must be above 0", file->path);
    if (ok)
        return true;
    hd_feature_release(f);
    return false;
}
