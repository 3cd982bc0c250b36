/* feature_file.c -- sound and picture files through the module that reads them. */
#include "base/error.h"
#include "base/memory.h"
#include "base/module.h"
#include "vector/feature.h"

#include <string.h>

static const struct hd_features_module *open_module(heed_error *err)
{
    static const struct hd_module_name name = {
        .file = "heed_features.so",
        .environment = "HEED_FEATURES_MODULE",
        .symbol = "hd_features_module",
        .purpose = "sound and picture files",
        .needs = "install libsndfile, libpng and libjpeg (Debian, Ubuntu: apt-get install "
                 "libsndfile1 libpng16-16 libjpeg62-turbo)",
    };
    const struct hd_features_module *module = hd_module_open(&name, err);
    if (module && strcmp(module->version, HEED_VERSION) != 0) {
        hd_fail(err, HEED_BAD_FILE,
                "heed_features.so belongs to heed %s, but this is %s; install them together",
                module->version, HEED_VERSION);
        return NULL;
    }
    return module;
}

/* Rounded as a file would, so that vectors are the same with and without one between. */
static void round_as_stored(struct hd_featured *f, const struct hd_feature_settings *s)
{
    const size_t n = (size_t)f->n * (size_t)f->width;
    for (size_t i = 0; s->store == 0 && i < n; i++)
        f->x[i] = hd_f32_of_f16(hd_f16_of_f32(f->x[i]));
}

static bool read_by(const struct hd_features_module *module, const struct hd_feature *f,
                    struct hd_featured *out, const char *path, const struct hd_map *map,
                    heed_error *err)
{
    bool ok;
    if (f->settings.kind == HD_FEATURES_SOUND) {
        struct hd_sound sound = {0};
        ok = module->read_sound(&sound, path, map->data, map->size, err) &&
             hd_feature_sound(f, out, &sound, path, err);
        module->free(sound.samples);
    } else {
        struct hd_image image = {0};
        ok = module->read_image(&image, path, map->data, map->size, err) &&
             hd_feature_image(f, out, &image, path, err);
        module->free(image.rgb);
    }
    return ok;
}

static bool kind_of_bytes(enum hd_feature_kind *kind, const struct hd_features_module *module,
                          const char *path, const struct hd_map *map, heed_error *err)
{
    const bool is_sound = module->is_sound(map->data, map->size);
    if (!is_sound && !module->is_image(map->data, map->size))
        return hd_fail(err, HEED_BAD_FILE,
                       "%s is neither sound (WAV, FLAC, Ogg) nor a picture (PNG, JPEG)", path);
    *kind = is_sound ? HD_FEATURES_SOUND : HD_FEATURES_PICTURES;
    return true;
}

bool hd_feature_kind_of(enum hd_feature_kind *kind, const char *path, heed_error *err)
{
    const struct hd_features_module *module = open_module(err);
    struct hd_map map = {0};
    const bool ok =
        module && hd_map_open(&map, path, err) && kind_of_bytes(kind, module, path, &map, err);
    hd_map_close(&map);
    return ok;
}

bool hd_feature_file(const struct hd_feature *f, struct hd_featured *out, const char *path,
                     heed_error *err)
{
    const struct hd_features_module *module = open_module(err);
    struct hd_map map = {0};
    enum hd_feature_kind kind;
    *out = (struct hd_featured){0};
    bool ok =
        module && hd_map_open(&map, path, err) && kind_of_bytes(&kind, module, path, &map, err);
    if (ok && (int)kind != f->settings.kind)
        ok = hd_fail(err, HEED_BAD_FILE, "%s is %s, but %s wanted", path,
                     kind == HD_FEATURES_SOUND ? "sound" : "a picture",
                     kind == HD_FEATURES_SOUND ? "a picture is" : "sound is");
    ok = ok && read_by(module, f, out, path, &map, err);
    if (ok)
        round_as_stored(out, &f->settings);
    hd_map_close(&map);
    return ok;
}
