/* languages.c -- directions in a model's record. */
#include "model/languages.h"

#include <string.h>

bool hd_model_direction(const heed_model *model, int i, struct hd_direction *direction)
{
    const json_t *several = json_object_get(model->record, "directions"),
                 *one = json_object_get(model->record, "languages");
    if (json_is_array(several)) {
        const char *name = json_string_value(json_array_get(several, (size_t)i));
        return name && hd_direction_read(direction, (struct hd_text){name, strlen(name)});
    }
    const char *from = json_string_value(json_array_get(one, 0)),
               *to = json_string_value(json_array_get(one, 1));
    return i == 0 && from && to &&
           hd_language_read(direction->from, (struct hd_text){from, strlen(from)}) &&
           hd_language_read(direction->to, (struct hd_text){to, strlen(to)});
}

int hd_model_language_symbol(const heed_model *model, const char *to)
{
    return hd_vocab_language(model->source, to);
}

void hd_languages_to_record(json_t *record, const char *languages)
{
    const char *dash = strchr(languages, '-');
    json_t *list = json_array();
    const bool is_one = !strchr(languages, ',');
    if (is_one && dash) {
        json_array_append_new(list, json_stringn(languages, (size_t)(dash - languages)));
        json_array_append_new(list, json_string(dash + 1));
    }
    while (!is_one && *languages) {
        const size_t n = strcspn(languages, ",");
        json_array_append_new(list, json_stringn(languages, n));
        languages += n + (languages[n] == ',');
    }
    if (json_array_size(list) > 0)
        json_object_set(record, is_one ? "languages" : "directions", list);
    json_decref(list);
}
