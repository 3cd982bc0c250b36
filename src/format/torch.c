/* torch.c -- files of torch.save().
 *
 * A tensor is a call in the pickle: _rebuild_tensor_v2(storage, offset, shape, strides, ...); a storage is something outside of it:
 * ('storage', its type, its key, a device, its number of elements). Storages may be shared.
 * What a zip has packed is unpacked only where tensors need it, all of it.
 * Invariant: a tensor lies inside its storage, which lies inside the file. */
#include "format/torch.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "format/pickle.h"
#include "format/zip.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct hd_pickled value;

static const struct {
    const char *name;
    enum hd_dtype dtype;
} storages[] = {
    {"torch FloatStorage", HD_F32},     {"torch HalfStorage", HD_F16},
    {"torch BFloat16Storage", HD_BF16}, {"torch DoubleStorage", HD_F64},
    {"torch CharStorage", HD_I8},       {"torch ByteStorage", HD_U8},
    {"torch ShortStorage", HD_I16},     {"torch IntStorage", HD_I32},
    {"torch LongStorage", HD_I64},      {"torch BoolStorage", HD_BOOL},
};
enum { N_STORAGES = sizeof storages / sizeof *storages };

static const char REBUILD[] = "torch._utils _rebuild_tensor_v2",
                  PARAMETER[] = "torch._utils _rebuild_parameter";
static const char *const KNOWN[] = {REBUILD,
                                    PARAMETER,
                                    "collections OrderedDict",
                                    "torch FloatStorage",
                                    "torch HalfStorage",
                                    "torch BFloat16Storage",
                                    "torch DoubleStorage",
                                    "torch CharStorage",
                                    "torch ByteStorage",
                                    "torch ShortStorage",
                                    "torch IntStorage",
                                    "torch LongStorage",
                                    "torch BoolStorage",
                                    NULL};

enum { LARGEST_PICKLE = 16 << 20 }; /* some hundred bytes for each tensor */

/* The bytes of a storage. */
struct storage {
    const char *key; /* n_key bytes */
    size_t n_key;
    const void *data; /* NULL: packed as `member` */
    size_t size;
    const struct hd_zip_member *member;
    size_t n_needed; /* by tensors */
    bool is_needed;
};

/* Where a tensor begins. */
struct place {
    struct storage *storage;
    size_t at; /* bytes */
};

struct opening {
    struct hd_torch *file;
    const struct hd_zip *zip; /* NULL: there is none */
    struct storage *storages; /* sorted by key */
    size_t n_storages;
    struct place *places; /* of each tensor */
    heed_error *err;
};

static bool read_all(struct hd_torch *file, const void *data, size_t size, heed_error *err);

/* ---- opening --------------------------------------------------------------------------------- */

static struct hd_torch *new_file(const char *path, heed_error *err)
{
    struct hd_torch *file = hd_new(struct hd_torch, err);
    if (file && !(file->path = hd_copy_string(path, err))) {
        hd_free(file);
        return NULL;
    }
    return file;
}

struct hd_torch *hd_torch_open(const char *path, heed_error *err)
{
    struct hd_torch *file = new_file(path, err);
    if (!file || !hd_map_open(&file->map, path, err) ||
        !read_all(file, file->map.data, file->map.size, err)) {
        hd_torch_close(file);
        return NULL;
    }
    return file;
}

struct hd_torch *hd_torch_open_memory(const char *name, const void *data, size_t size,
                                      heed_error *err)
{
    struct hd_torch *file = new_file(name, err);
    if (!file || !read_all(file, data, size, err)) {
        hd_torch_close(file);
        return NULL;
    }
    return file;
}

void hd_torch_close(struct hd_torch *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->n_memory; i++)
        hd_free(file->memory[i]);
    hd_free(file->memory);
    hd_tensors_release(&file->tensors);
    hd_arena_release(&file->arena);
    hd_map_close(&file->map);
    hd_free(file->path);
    hd_free(file);
}

static bool fail(const struct opening *o, const char *what)
{
    return hd_fail(o->err, HEED_BAD_MODEL, "%s: %s", o->file->path, what);
}

/* ---- storages -------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    const struct storage *x = a;
    const struct storage *y = b;
    const int order = memcmp(x->key, y->key, x->n_key < y->n_key ? x->n_key : y->n_key);
    return order != 0 ? order : (x->n_key > y->n_key) - (x->n_key < y->n_key);
}

static struct storage *find_storage(const struct opening *o, const value *key)
{
    const struct storage wanted = {.key = key->text, .n_key = key->n};
    return bsearch(&wanted, o->storages, o->n_storages, sizeof wanted, compare_keys);
}

/* ('storage', type, key, device, number of elements) of something outside. */
static const value *storage_of(const value *v, enum hd_dtype *dtype)
{
    const value *id = v->kind == HD_PICKLED_OUTSIDE ? v->items[0] : v;
    if (v->kind != HD_PICKLED_OUTSIDE || id->kind != HD_PICKLED_LIST || id->n < 5 ||
        !hd_pickled_is(id->items[0], HD_PICKLED_TEXT, "storage") ||
        id->items[2]->kind != HD_PICKLED_TEXT || id->items[4]->kind != HD_PICKLED_INT)
        return NULL;
    for (int i = 0; i < N_STORAGES; i++)
        if (hd_pickled_is(id->items[1], HD_PICKLED_NAME, storages[i].name)) {
            *dtype = storages[i].dtype;
            return id;
        }
    return NULL;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static bool fail_tensor(const struct opening *o, const struct hd_tensor *t, const char *what)
{
    return hd_fail(o->err, HEED_BAD_MODEL, "%s: the tensor %s %s", o->file->path,
                   hd_quote(t->name).text, what);
}

/* Shape and strides: rows first, without gaps. Dimensions of 1 may have any stride. */
static bool read_shape(const struct opening *o, struct hd_tensor *t, const value *shape,
                       const value *strides)
{
    if (shape->kind != HD_PICKLED_LIST || strides->kind != HD_PICKLED_LIST ||
        shape->n != strides->n || shape->n > HD_TENSOR_DIMS)
        return fail_tensor(o, t, "has a shape that heed does not understand");
    t->n_dims = (int)shape->n;
    for (size_t i = 0; i < shape->n; i++) {
        const value *d = shape->items[i];
        if (d->kind != HD_PICKLED_INT || d->number < 0 || strides->items[i]->kind != HD_PICKLED_INT)
            return fail_tensor(o, t, "has a shape that heed does not understand");
        t->dims[i] = (size_t)d->number;
    }
    if (!hd_count_elements(&t->n, t->dims, t->n_dims) ||
        !hd_mul_size(&t->bytes, t->n, hd_dtype_size(t->dtype)))
        return fail_tensor(o, t, "has more numbers than a machine can address");
    size_t wanted = 1;
    for (size_t i = shape->n; i-- > 0; wanted *= t->dims[i])
        if (t->n > 0 && t->dims[i] > 1 && strides->items[i]->number != (int64_t)wanted)
            return fail_tensor(o, t, "is not stored rows first; save it again after .contiguous()");
    return true;
}

static bool read_tensor(const struct opening *o, struct hd_tensor *t, struct place *place,
                        const value *v)
{
    for (int depth = 0; depth < 2 && v->kind == HD_PICKLED_CALL && v->items[1]->n > 0 &&
                        hd_pickled_is(v->items[0], HD_PICKLED_NAME, PARAMETER);
         depth++)
        v = v->items[1]->items[0];
    const value *arguments = v->kind == HD_PICKLED_CALL ? v->items[1] : NULL;
    if (!arguments || arguments->n < 4 || !hd_pickled_is(v->items[0], HD_PICKLED_NAME, REBUILD))
        return fail_tensor(o, t, "is no tensor; only a dict of tensors, as a state_dict, is read");
    const value *id = storage_of(arguments->items[0], &t->dtype), *offset = arguments->items[1];
    if (!id || offset->kind != HD_PICKLED_INT || offset->number < 0)
        return fail_tensor(o, t, "has a storage that heed does not understand");
    if (!read_shape(o, t, arguments->items[2], arguments->items[3]))
        return false;
    struct storage *s = find_storage(o, id->items[2]);
    const size_t size = hd_dtype_size(t->dtype), at = (size_t)offset->number;
    if (!s)
        return fail_tensor(o, t, "has a storage that is not in the file");
    if (at > s->size / size || t->n > s->size / size - at)
        return fail_tensor(o, t,
                           "is larger than its storage; the file was cut off or is damaged, copy "
                           "or download it again");
    const size_t n_needed = at * size + t->bytes;
    s->is_needed = true;
    s->n_needed = n_needed > s->n_needed ? n_needed : s->n_needed;
    *place = (struct place){s, at * size};
    return true;
}

/* The bytes of storages that tensors are in. */
static bool unpack_storages(struct opening *o)
{
    for (size_t i = 0; i < o->n_storages; i++) {
        struct storage *s = &o->storages[i];
        if (!s->is_needed || s->data)
            continue;
        if (s->member->is_deflated && s->size > s->n_needed)
            return hd_fail(o->err, HEED_BAD_MODEL,
                           "%s: the member %s unpacks to %zu bytes, of which its tensors need %zu; "
                           "save it again with torch.save()",
                           o->file->path, hd_quote(s->member->name).text, s->size, s->n_needed);
        s->data = hd_zip_read(o->zip, s->member, &o->file->memory[o->file->n_memory++], o->err);
        if (!s->data)
            return false;
    }
    return true;
}

/* A text of the pickle as a string. */
static const char *string_of(const struct opening *o, const value *v)
{
    if (v->kind != HD_PICKLED_TEXT || memchr(v->text, '\0', v->n) ||
        !hd_utf8_valid(v->text, v->n, NULL)) {
        fail(o, "a name in it is no text; only a dict of tensors, as a state_dict, is read");
        return NULL;
    }
    char *string = hd_take(&o->file->arena, v->n + 1);
    if (!string) {
        hd_fail(o->err, HEED_NO_MEMORY, "%s: there is no memory for its names", o->file->path);
        return NULL;
    }
    memcpy(string, v->text, v->n);
    string[v->n] = '\0';
    return string;
}

static bool read_dict(struct opening *o, const value *dict)
{
    struct hd_tensors *tensors = &o->file->tensors;
    if (dict->kind != HD_PICKLED_DICT)
        return fail(o, "it holds no dict of tensors; only that, a state_dict, is read");
    tensors->at = hd_alloc(dict->n / 2, sizeof *tensors->at, o->err);
    o->places = hd_alloc(dict->n / 2, sizeof *o->places, o->err);
    if (!tensors->at || !o->places)
        return false;
    for (size_t i = 0; i + 1 < dict->n; i += 2) {
        struct hd_tensor *t = &tensors->at[tensors->n];
        t->file = o->file->path;
        if (!(t->name = string_of(o, dict->items[i])) ||
            !read_tensor(o, t, &o->places[tensors->n], dict->items[i + 1]))
            return false;
        tensors->n++;
    }
    if (!unpack_storages(o))
        return false;
    for (size_t i = 0; i < tensors->n; i++)
        tensors->at[i].data = (const char *)o->places[i].storage->data + o->places[i].at;
    return hd_tensors_index(tensors, o->err);
}

/* ---- the zip of today ------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *ending)
{
    const size_t n = strlen(name), n_ending = strlen(ending);
    return n >= n_ending && strcmp(name + n - n_ending, ending) == 0;
}

/* The members "FOLDER/data/KEY" are storages. */
static bool find_storages(struct opening *o, const struct hd_zip *zip, size_t n_folder)
{
    struct hd_torch *file = o->file;
    file->memory = hd_alloc(zip->n_members + 1, sizeof *file->memory, o->err);
    o->storages = hd_alloc(zip->n_members, sizeof *o->storages, o->err);
    if (!file->memory || !o->storages)
        return false;
    for (size_t i = 0; i < zip->n_members; i++) {
        const struct hd_zip_member *member = &zip->members[i];
        const size_t n = n_folder + strlen("data/");
        if (strlen(member->name) > n && memcmp(member->name + n_folder, "data/", 5) == 0)
            o->storages[o->n_storages++] = (struct storage){.key = member->name + n,
                                                            .n_key = strlen(member->name) - n,
                                                            .size = member->size,
                                                            .member = member};
    }
    qsort(o->storages, o->n_storages, sizeof *o->storages, compare_keys);
    return true;
}

static bool read_zip(struct opening *o, const struct hd_zip *zip)
{
    const struct hd_zip_member *pickle = NULL, *order = NULL;
    for (size_t i = 0; i < zip->n_members; i++) {
        if (ends_in(zip->members[i].name, "/data.pkl"))
            pickle = &zip->members[i];
        if (ends_in(zip->members[i].name, "/byteorder"))
            order = &zip->members[i];
    }
    if (!pickle)
        return fail(o, "it is a zip without a data.pkl, so torch.save() did not write it");
    if (order && order->size == 3)
        return fail(o, "its numbers are big-endian, which heed does not read; save it on another "
                       "machine");
    if (pickle->size > LARGEST_PICKLE)
        return fail(o, "its data.pkl has more than 16 MiB, which no dict of tensors needs");
    if (!find_storages(o, zip, strlen(pickle->name) - strlen("data.pkl")))
        return false;
    o->zip = zip;
    void **memory = &o->file->memory[o->file->n_memory++];
    const void *bytes = hd_zip_read(zip, pickle, memory, o->err);
    size_t n_read;
    const value *dict = bytes ? hd_pickle_read(o->file->path, bytes, pickle->size, KNOWN,
                                               &o->file->arena, &n_read, o->err)
                              : NULL;
    return dict && read_dict(o, dict);
}

/* ---- what torch wrote before 1.6 ------------------------------------------------------------- */

/* A pickle of this number of ten bytes; then one of a protocol's number. */
static const unsigned char MAGIC[] = {0x80, 0x02, 0x8A, 0x0A, 0x6C, 0xFC, 0x9C, 0x46,
                                      0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19, '.'};

/* The storages that the pickle mentions, by key; the size is that of one element. */
static size_t collect(const value *dict, struct storage *mentioned)
{
    size_t n = 0;
    for (size_t i = 1; dict->kind == HD_PICKLED_DICT && i < dict->n; i += 2) {
        const value *v = dict->items[i];
        if (v->kind == HD_PICKLED_CALL && v->items[1]->n > 0 &&
            hd_pickled_is(v->items[0], HD_PICKLED_NAME, PARAMETER))
            v = v->items[1]->items[0];
        enum hd_dtype dtype;
        const value *id = v->kind == HD_PICKLED_CALL && v->items[1]->n > 0
                              ? storage_of(v->items[1]->items[0], &dtype)
                              : NULL;
        if (id)
            mentioned[n++] = (struct storage){
                .key = id->items[2]->text, .n_key = id->items[2]->n, .size = hd_dtype_size(dtype)};
    }
    qsort(mentioned, n, sizeof *mentioned, compare_keys);
    return n;
}

/* After the pickles: for each key of a list the number of elements, and their bytes. */
static bool place_storages(struct opening *o, const value *dict, const value *keys,
                           const unsigned char *at, size_t left)
{
    struct storage *mentioned = hd_alloc(dict->n / 2 + 1, sizeof *mentioned, o->err);
    o->storages = hd_alloc(keys->n, sizeof *o->storages, o->err);
    bool ok = mentioned && o->storages && keys->kind == HD_PICKLED_LIST;
    const size_t n = ok ? collect(dict, mentioned) : 0;
    for (size_t i = 0; ok && i < keys->n; i++) {
        const value *key = keys->items[i];
        const struct storage wanted = {.key = key->text, .n_key = key->n};
        const struct storage *m = key->kind == HD_PICKLED_TEXT
                                      ? bsearch(&wanted, mentioned, n, sizeof wanted, compare_keys)
                                      : NULL;
        uint64_t count = 0;
        for (size_t k = 0; left >= 8 && k < 8; k++)
            count |= (uint64_t)at[k] << (8 * k);
        ok = left >= 8 && m && count <= (left - 8) / m->size;
        if (ok) {
            o->storages[o->n_storages++] = (struct storage){
                .key = key->text, .n_key = key->n, .data = at + 8, .size = (size_t)count * m->size};
            at += 8 + count * m->size;
            left -= 8 + count * m->size;
        }
    }
    if (o->storages)
        qsort(o->storages, o->n_storages, sizeof *o->storages, compare_keys);
    hd_free(mentioned);
    return ok || fail(o, "its storages are not all there; the file was cut off or is damaged, copy "
                         "or download it again");
}

static bool read_pickles(struct opening *o, const unsigned char *at, size_t left)
{
    const value *v[5] = {
        0}; /* the magic number, a protocol, a machine, the dict, keys of storages */
    for (int i = 0; i < 5; i++) {
        size_t n_read;
        v[i] = hd_pickle_read(o->file->path, at, left, KNOWN, &o->file->arena, &n_read, o->err);
        if (!v[i])
            return false;
        at += n_read;
        left -= n_read;
    }
    return place_storages(o, v[3], v[4], at, left) && read_dict(o, v[3]);
}

static bool read_all(struct hd_torch *file, const void *data, size_t size, heed_error *err)
{
    struct opening o = {.file = file, .err = err};
    struct hd_zip zip = {0};
    bool ok;
    if (size > sizeof MAGIC && memcmp(data, MAGIC, sizeof MAGIC) == 0)
        ok = read_pickles(&o, data, size);
    else
        ok = hd_zip_open(&zip, file->path, data, size, err) && read_zip(&o, &zip);
    hd_zip_release(&zip);
    hd_free(o.storages);
    hd_free(o.places);
    return ok;
}
