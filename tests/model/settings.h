/* settings.h -- configurations as text: "luong cell=gru score=dot attend=after" is a preset and some of its fields. */
#ifndef HD_TEST_SETTINGS_H
#define HD_TEST_SETTINGS_H

#include "test.h"

#include "model/presets.h"

/* The preset that the first word names, at size tiny. */
static inline struct hd_config preset_of(const char *settings)
{
    char arch[32];
    struct hd_preset_choice preset;
    heed_error err = {0};
    snprintf(arch, sizeof arch, "%.*s", (int)strcspn(settings, " "), settings);
    assert_that(heed_option_set_named(hd_preset_options, &preset, "arch", arch, &err), "%s: %s",
                settings, err.message);
    return hd_config_preset((enum hd_arch)preset.arch, HD_SIZE_TINY);
}

/* The fields that the other words set. */
static inline void set_fields(struct hd_config *c, const char *settings)
{
    char copy[240], *rest;
    heed_error err = {0};
    snprintf(copy, sizeof copy, "%s", settings);
    strtok_r(copy, " ", &rest);
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value++ = '\0';
        assert_that(hd_config_set(c, word, value, &err), "%s: %s", settings, err.message);
    }
}

#endif
