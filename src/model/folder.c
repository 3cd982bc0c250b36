/* folder.c -- the files of a model that is a folder. */
#include "model/folder.h"

#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"

#include <stdio.h>
#include <unistd.h>

struct hd_folder_path hd_folder_path(const char *folder, const char *name)
{
    struct hd_folder_path p;
    snprintf(p.s, sizeof p.s, "%s/%s", folder, name);
    return p;
}

bool hd_folder_has(const char *folder, const char *name)
{
    return access(hd_folder_path(folder, name).s, F_OK) == 0;
}

json_t *hd_folder_json(const char *folder, const char *name, json_type type, heed_error *err)
{
    const struct hd_folder_path path = hd_folder_path(folder, name);
    struct hd_map map;
    json_error_t why = {0};
    if (!hd_map_open(&map, path.s, err))
        return NULL;
    json_t *json = json_loadb(map.data, map.size, JSON_REJECT_DUPLICATES, &why);
    hd_map_close(&map);
    if (json && json_typeof(json) == type)
        return json;
    hd_fail(err, HEED_BAD_MODEL, "%s:%d: this is no JSON %s: %s", path.s,
            why.line < 0 || json ? 1 : why.line, type == JSON_OBJECT ? "object" : "array",
            json ? "it is another kind of value" : hd_quote(why.text).text);
    json_decref(json);
    return NULL;
}
