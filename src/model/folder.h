/* folder.h -- the files of a model that is a folder. */
#ifndef HD_MODEL_FOLDER_H
#define HD_MODEL_FOLDER_H

#include <heed.h>
#include <jansson.h>

struct hd_folder_path {
    char s[1024];
};

struct hd_folder_path hd_folder_path(const char *folder, const char *name);
bool hd_folder_has(const char *folder, const char *name);

/* A JSON value of this type (JSON_OBJECT, JSON_ARRAY), to be given to json_decref(); NULL with the reason in `err`. */
json_t *hd_folder_json(const char *folder, const char *name, json_type type, heed_error *err);

#endif
