/* import.c -- what another's model is, by its folder or its first bytes. */
#include "model/import.h"

#include "base/error.h"
#include "base/file.h"
#include "format/marian_bin.h"
#include "model/folder.h"

#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* What a file is by its first bytes: a safetensors file has eight of length, then an object; Marian's model.bin its version, and its .npz
 * is a zip. */
enum file_kind { IS_OTHER, IS_OURS, IS_MARIAN_BIN, IS_ZIP };

static bool find_kind(const char *path, enum file_kind *kind, heed_error *err)
{
    struct hd_map map;
    if (!hd_map_open(&map, path, err))
        return false;
    *kind = hd_is_marian_bin(map.data, map.size)                 ? IS_MARIAN_BIN
            : map.size > 8 && ((const char *)map.data)[8] == '{' ? IS_OURS
            : map.size > 2 && memcmp(map.data, "PK", 2) == 0     ? IS_ZIP
                                                                 : IS_OTHER;
    hd_map_close(&map);
    return true;
}

static bool check_arguments(const char *path, const char *const *vocabs, int n_vocabs,
                            heed_error *err)
{
    if (n_vocabs < 0 || n_vocabs > 2)
        return hd_fail(err, HEED_BAD_OPTION,
                       "a model cannot have %d vocabularies; one, or two, source and target",
                       n_vocabs);
    if (!hd_is_given(path, "path", err) ||
        (n_vocabs > 0 && !hd_is_given(vocabs, "list of vocabularies", err)))
        return false;
    for (int i = 0; i < n_vocabs; i++)
        if (!hd_is_given(vocabs[i], "path of a vocabulary", err))
            return false;
    return true;
}

/* CTranslate2 has a model.bin. */
static heed_model *import_folder(const char *path, const char *const *vocabs, int n_vocabs,
                                 heed_error *err)
{
    if (hd_folder_has(path, "model.bin"))
        return hd_import_ct2(path, vocabs, n_vocabs, err);
    if (n_vocabs > 0) {
        hd_fail(err, HEED_BAD_OPTION, "%s: this folder has its vocabularies; leave out --vocab",
                path);
        return NULL;
    }
    if (hd_folder_has(path, "config.json"))
        return hd_import_hf(path, err);
    hd_fail(
        err, HEED_BAD_FILE,
        "%s: this folder has neither the config.json of a model of Hugging Face's transformers nor "
        "the model.bin of one of CTranslate2; give the folder that has one of them, or of a model "
        "of Marian or heed the file",
        path);
    return NULL;
}

static heed_model *import_file(const char *path, const char *const *vocabs, int n_vocabs,
                               heed_error *err)
{
    enum file_kind kind;
    if (!find_kind(path, &kind, err))
        return NULL;
    const size_t n = strlen(path);
    const bool is_ours = kind == IS_OURS;
    if (kind == IS_OTHER && n > 4 && strcmp(path + n - 4, ".bin") == 0) {
        hd_fail(err, HEED_BAD_MODEL,
                "%s: this is not a model.bin of Marian; of a model of transformers or CTranslate2 "
                "give the folder that it is in",
                path);
        return NULL;
    }
    if (kind == IS_OTHER && n > 11 && strcmp(path + n - 11, ".index.json") == 0) {
        hd_fail(err, HEED_BAD_MODEL,
                "%s: this is the list of the files that a model was cut into; give the folder that "
                "they are in",
                path);
        return NULL;
    }
    if (kind == IS_OTHER && n_vocabs < 1) {
        hd_fail(err, HEED_BAD_MODEL,
                "%s: this is no model that heed knows: neither one of its own nor Marian's .npz or "
                "model.bin, and no folder of another toolkit",
                path);
        return NULL;
    }
    if (is_ours && n_vocabs > 0)
        hd_fail(err, HEED_BAD_OPTION,
                "%s: a model of heed has its vocabulary inside; leave out --vocab", path);
    else if (is_ours)
        return heed_model_load(path, err);
    else if (n_vocabs < 1)
        hd_fail(err, HEED_BAD_OPTION,
                "%s: a Marian model needs its vocabulary: --vocab FILE.spm, or two with a comma "
                "between",
                path);
    else
        return hd_import_marian(path, vocabs, n_vocabs, err);
    return NULL;
}

heed_model *heed_model_import(const char *path, const char *const *vocabs, int n_vocabs,
                              heed_error *err)
{
    if (!check_arguments(path, vocabs, n_vocabs, err))
        return NULL;
    return is_folder(path) ? import_folder(path, vocabs, n_vocabs, err)
                           : import_file(path, vocabs, n_vocabs, err);
}
