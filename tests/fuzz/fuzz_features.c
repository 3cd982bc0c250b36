/* fuzz_features.c -- any bytes at all as a sound and as a picture: vectors that are finite, or a sentence. */
#include "fuzz/fuzz.h"

#include "base/memory.h"
#include "vector/feature.h"

static void use(const struct hd_featured *out)
{
    must(out->n > 0 && hd_all_finite(out->x, (size_t)out->n * (size_t)out->width, NULL));
    hd_free(out->x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_feature f = {0};
    must(heed_option_defaults(hd_feature_options, &f.settings, NULL));
    f.settings.kind = HD_FEATURES_SOUND;
    f.settings.trim_ms = 100;
    f.settings.cepstra = 5;
    struct hd_sound sound = {0};
    struct hd_image image = {0};
    struct hd_featured out = {0};
    heed_error err = {0};
    const bool is_sound = hd_features_module.is_sound(data, size);
    if (is_sound && hd_features_module.read_sound(&sound, "fuzz", data, size, &err)) {
        must(sound.n > 0 && sound.rate > 0);
        if (sound.n < 100000 && hd_feature_sound(&f, &out, &sound, "fuzz", &err))
            use(&out);
    }
    if (hd_features_module.is_image(data, size) &&
        hd_features_module.read_image(&image, "fuzz", data, size, &err)) {
        must(image.width > 0 && image.height > 0);
        f.settings.kind = HD_FEATURES_PICTURES;
        f.settings.width = f.settings.height = 16;
        if (hd_feature_image(&f, &out, &image, "fuzz", &err))
            use(&out);
    }
    hd_features_module.free(sound.samples);
    hd_features_module.free(image.rgb);
    return 0;
}
