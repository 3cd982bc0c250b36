/* pickle.c -- Python's pickles: a program for a machine with a stack and a memory of numbered values.
 *
 * The machine here makes plain values only. Invariant: every instruction makes one value at most, and a list grows by what leaves the
 * stack, so memory is a multiple of the bytes read. */
#include "format/pickle.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"

#include <string.h>

/* Instructions, by the names of Python's pickletools. */
enum {
    MARK = '(',
    STOP = '.',
    POP = '0',
    BINFLOAT = 'G',
    BININT = 'J',
    BININT1 = 'K',
    BININT2 = 'M',
    NONE = 'N',
    BINPERSID = 'Q',
    REDUCE = 'R',
    BINSTRING = 'T',
    SHORT_BINSTRING = 'U',
    BINUNICODE = 'X',
    APPEND = 'a',
    BUILD = 'b',
    GLOBAL = 'c',
    APPENDS = 'e',
    BINGET = 'h',
    LONG_BINGET = 'j',
    BINPUT = 'q',
    LONG_BINPUT = 'r',
    SETITEM = 's',
    TUPLE = 't',
    SETITEMS = 'u',
    EMPTY_TUPLE = ')',
    EMPTY_LIST = ']',
    EMPTY_DICT = '}',
    PROTO = 0x80,
    TUPLE1 = 0x85,
    TUPLE2 = 0x86,
    TUPLE3 = 0x87,
    NEWTRUE = 0x88,
    NEWFALSE = 0x89,
    LONG1 = 0x8A,
    SHORT_BINUNICODE = 0x8C,
    STACK_GLOBAL = 0x93,
    MEMOIZE = 0x94,
    FRAME = 0x95,
};

typedef struct hd_pickled value;

struct machine {
    const char *path;
    const unsigned char *data, *at, *end;
    const char *const *knows;
    struct hd_arena *arena;
    value **stack; /* NULL is a mark */
    size_t n_stack, stack_capacity;
    value **memo;
    size_t n_memo, memo_capacity; /* n_memo: how many MEMOIZE has numbered */
    heed_error *err;
};

static bool fail(struct machine *m, const char *what)
{
    return hd_fail(m->err, HEED_BAD_MODEL,
                   "%s: its pickle %s at byte %zu; the file is damaged, copy or download it again",
                   m->path, what, (size_t)(m->at - m->data));
}

static bool fail_memory(struct machine *m)
{
    return hd_fail(m->err, HEED_NO_MEMORY, "%s: there is no memory for its pickle", m->path);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* The next n bytes, or NULL. */
static const unsigned char *bytes(struct machine *m, size_t n)
{
    if ((size_t)(m->end - m->at) < n) {
        fail(m, "ends too early");
        return NULL;
    }
    m->at += n;
    return m->at - n;
}

/* A little-endian number of n bytes, 8 at most; 0 where they are not there, which has been said. */
static uint64_t number(struct machine *m, size_t n)
{
    const unsigned char *b = bytes(m, n);
    uint64_t x = 0;
    for (size_t i = 0; b && i < n; i++)
        x |= (uint64_t)b[i] << (8 * i);
    return x;
}

/* ---- the stack ------------------------------------------------------------------------------- */

static bool push(struct machine *m, value *v)
{
    value **grown = hd_grow(m->stack, &m->stack_capacity, m->n_stack + 1, sizeof *grown, m->err);
    if (!grown)
        return false;
    m->stack = grown;
    m->stack[m->n_stack++] = v;
    return true;
}

static value *new_value(struct machine *m, enum hd_pickled_kind kind)
{
    value *v = hd_take(m->arena, sizeof *v);
    if (v)
        *v = (value){.kind = kind};
    else
        fail_memory(m);
    return v;
}

static bool push_new(struct machine *m, enum hd_pickled_kind kind, int64_t x)
{
    value *v = new_value(m, kind);
    if (v)
        v->number = x;
    return v && push(m, v);
}

static bool push_text(struct machine *m, size_t n)
{
    const char *text = (const char *)bytes(m, n);
    value *v = text && !hd_failed(m->err) ? new_value(m, HD_PICKLED_TEXT) : NULL;
    if (!v)
        return false;
    v->text = text;
    v->n = n;
    return push(m, v);
}

/* The topmost value, which leaves the stack; NULL where it is a mark or nothing. */
static value *pop(struct machine *m)
{
    if (m->n_stack == 0 || !m->stack[m->n_stack - 1]) {
        fail(m, "takes more than there is");
        return NULL;
    }
    return m->stack[--m->n_stack];
}

/* How many values are above the topmost mark; false where there is none. */
static bool above_mark(struct machine *m, size_t *n)
{
    for (*n = 0; *n < m->n_stack; ++*n)
        if (!m->stack[m->n_stack - 1 - *n])
            return true;
    return fail(m, "has no mark");
}

/* Move the n topmost values to the end of a list or dict. */
static bool move_into(struct machine *m, value *list, size_t n)
{
    if (list->n + n > list->capacity) {
        const size_t capacity = 2 * (list->n + n);
        const value **grown = hd_take(m->arena, capacity * sizeof *grown);
        if (!grown)
            return fail_memory(m);
        if (list->n > 0)
            memcpy(grown, list->items, list->n * sizeof *grown);
        list->items = grown;
        list->capacity = capacity;
    }
    m->n_stack -= n;
    for (size_t i = 0; i < n; i++)
        list->items[list->n++] = m->stack[m->n_stack + i];
    return true;
}

static bool tuple_of(struct machine *m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (i >= m->n_stack || !m->stack[m->n_stack - 1 - i])
            return fail(m, "takes more than there is");
    value *v = new_value(m, HD_PICKLED_LIST);
    return v && move_into(m, v, n) && push(m, v);
}

static bool tuple_to_mark(struct machine *m)
{
    size_t n;
    value *v = above_mark(m, &n) ? new_value(m, HD_PICKLED_LIST) : NULL;
    if (!v || !move_into(m, v, n))
        return false;
    m->n_stack--; /* the mark */
    return push(m, v);
}

/* Values into the list or dict below them: those above the mark, or the n topmost. */
static bool add_items(struct machine *m, enum hd_pickled_kind kind, size_t n, bool is_to_mark)
{
    if (is_to_mark && !above_mark(m, &n))
        return false;
    const size_t below = n + is_to_mark;
    for (size_t i = 0; i < n; i++)
        if (i >= m->n_stack || !m->stack[m->n_stack - 1 - i])
            return fail(m, "takes more than there is");
    value *list = below < m->n_stack ? m->stack[m->n_stack - 1 - below] : NULL;
    if (!list || list->kind != kind || (kind == HD_PICKLED_DICT && n % 2 != 0))
        return fail(m, "puts values into what is no list or dict");
    if (!move_into(m, list, n))
        return false;
    m->n_stack -= is_to_mark;
    return true;
}

/* ---- names and calls ------------------------------------------------------------------------- */

bool hd_pickled_is(const struct hd_pickled *v, enum hd_pickled_kind kind, const char *text)
{
    return v->kind == kind && v->n == strlen(text) && memcmp(v->text, text, v->n) == 0;
}

/* Only what is known by name. */
static bool push_name(struct machine *m, const char *module, size_t n_module, const char *name,
                      size_t n_name)
{
    const size_t n = n_module + 1 + n_name;
    char *text = hd_take(m->arena, n);
    value *v = text ? new_value(m, HD_PICKLED_NAME) : NULL;
    if (!v)
        return fail_memory(m);
    memcpy(text, module, n_module);
    text[n_module] = ' ';
    memcpy(text + n_module + 1, name, n_name);
    v->text = text;
    v->n = n;
    for (const char *const *known = m->knows; *known; known++)
        if (hd_pickled_is(v, HD_PICKLED_NAME, *known))
            return push(m, v);
    return hd_fail(m->err, HEED_BAD_MODEL,
                   "%s: its pickle would run %s, and heed runs nothing that a file brings: only "
                   "tensors are read; save the model again, as safetensors",
                   m->path, hd_quote_n(text, n).text);
}

/* Two lines: module and name. */
static bool name_of_lines(struct machine *m)
{
    const char *word[2];
    size_t n[2];
    for (int i = 0; i < 2; i++) {
        const unsigned char *end = memchr(m->at, '\n', (size_t)(m->end - m->at));
        if (!end)
            return fail(m, "ends too early");
        word[i] = (const char *)m->at;
        n[i] = (size_t)(end - m->at);
        m->at = end + 1;
    }
    return push_name(m, word[0], n[0], word[1], n[1]);
}

static bool name_of_stack(struct machine *m)
{
    const value *name = pop(m), *module = name ? pop(m) : NULL;
    if (!module)
        return false;
    if (name->kind != HD_PICKLED_TEXT || module->kind != HD_PICKLED_TEXT)
        return fail(m, "names something by what is no text");
    return push_name(m, module->text, module->n, name->text, name->n);
}

/* A dict that keeps its order is a dict. */
static bool call(struct machine *m)
{
    value *arguments = pop(m), *what = arguments ? pop(m) : NULL;
    if (!what)
        return false;
    if (what->kind != HD_PICKLED_NAME || arguments->kind != HD_PICKLED_LIST)
        return fail(m, "calls what is no function");
    if (hd_pickled_is(what, HD_PICKLED_NAME, "collections OrderedDict") && arguments->n == 0)
        return push_new(m, HD_PICKLED_DICT, 0);
    value *v = new_value(m, HD_PICKLED_CALL);
    return v && push(m, what) && push(m, arguments) && move_into(m, v, 2) && push(m, v);
}

static bool outside(struct machine *m)
{
    value *what = pop(m), *v = what ? new_value(m, HD_PICKLED_OUTSIDE) : NULL;
    return v && push(m, what) && move_into(m, v, 1) && push(m, v);
}

/* ---- the memory ------------------------------------------------------------------------------ */

static bool put(struct machine *m, size_t i)
{
    if (hd_failed(m->err))
        return false;
    if (m->n_stack == 0 || !m->stack[m->n_stack - 1] || i > (size_t)(m->at - m->data))
        return fail(m, "numbers what is not there");
    value **grown = hd_grow(m->memo, &m->memo_capacity, i + 1, sizeof *grown, m->err);
    if (!grown)
        return false;
    m->memo = grown;
    m->memo[i] = m->stack[m->n_stack - 1];
    return true;
}

static bool get(struct machine *m, size_t i)
{
    if (hd_failed(m->err))
        return false;
    return i < m->memo_capacity && m->memo[i] ? push(m, m->memo[i])
                                              : fail(m, "takes a value that was not kept");
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* Signed, of any length. */
static bool push_long(struct machine *m)
{
    const size_t n = (size_t)number(m, 1);
    const unsigned char *b = hd_failed(m->err) ? NULL : bytes(m, n);
    uint64_t x = 0;
    if (!b || n > 8)
        return b && push_new(m, HD_PICKLED_OTHER, 0);
    for (size_t i = 0; i < 8; i++)
        x |= (uint64_t)(i < n ? b[i] : n > 0 && b[n - 1] >= 0x80 ? 0xFF : 0) << (8 * i);
    return push_new(m, HD_PICKLED_INT, (int64_t)x);
}

static bool make_number(struct machine *m, int op)
{
    switch (op) {
    case BININT:
        return push_new(m, HD_PICKLED_INT, (int32_t)number(m, 4));
    case BININT1:
        return push_new(m, HD_PICKLED_INT, (int64_t)number(m, 1));
    case BININT2:
        return push_new(m, HD_PICKLED_INT, (int64_t)number(m, 2));
    case BINFLOAT:
        return bytes(m, 8) && push_new(m, HD_PICKLED_OTHER, 0);
    case NONE:
        return push_new(m, HD_PICKLED_NONE, 0);
    case NEWTRUE:
    case NEWFALSE:
        return push_new(m, HD_PICKLED_BOOL, op == NEWTRUE);
    case LONG1:
        return push_long(m);
    default:
        return hd_fail(m->err, HEED_BAD_MODEL,
                       "%s: its pickle has the instruction 0x%02X, which no file of tensors needs; "
                       "save the model again, as safetensors",
                       m->path, (unsigned)op);
    }
}

static bool make_collection(struct machine *m, int op)
{
    switch (op) {
    case EMPTY_TUPLE:
    case EMPTY_LIST:
        return push_new(m, HD_PICKLED_LIST, 0);
    case EMPTY_DICT:
        return push_new(m, HD_PICKLED_DICT, 0);
    case TUPLE:
        return tuple_to_mark(m);
    case TUPLE1:
    case TUPLE2:
    case TUPLE3:
        return tuple_of(m, (size_t)op - TUPLE1 + 1);
    case APPEND:
    case APPENDS:
        return add_items(m, HD_PICKLED_LIST, 1, op == APPENDS);
    case SETITEM:
    case SETITEMS:
        return add_items(m, HD_PICKLED_DICT, 2, op == SETITEMS);
    default:
        return make_number(m, op);
    }
}

/* One instruction but STOP. */
static bool run(struct machine *m, int op)
{
    switch (op) {
    case PROTO:
        return bytes(m, 1) != NULL;
    case FRAME:
        return bytes(m, 8) != NULL;
    case MARK:
        return push(m, NULL);
    case POP:
    case BUILD: /* attributes of an object, which a plain value has not */
        return pop(m) != NULL;
    case BINUNICODE:
    case BINSTRING:
        return push_text(m, (size_t)number(m, 4));
    case SHORT_BINUNICODE:
    case SHORT_BINSTRING:
        return push_text(m, (size_t)number(m, 1));
    case GLOBAL:
        return name_of_lines(m);
    case STACK_GLOBAL:
        return name_of_stack(m);
    case REDUCE:
        return call(m);
    case BINPERSID:
        return outside(m);
    case BINPUT:
        return put(m, (size_t)number(m, 1));
    case LONG_BINPUT:
        return put(m, (size_t)number(m, 4));
    case MEMOIZE:
        return put(m, m->n_memo++);
    case BINGET:
        return get(m, (size_t)number(m, 1));
    case LONG_BINGET:
        return get(m, (size_t)number(m, 4));
    default:
        return make_collection(m, op);
    }
}

const struct hd_pickled *hd_pickle_read(const char *path, const void *data, size_t size,
                                        const char *const *knows, struct hd_arena *arena,
                                        size_t *n_read, heed_error *err)
{
    heed_error why = {0};
    struct machine m = {.path = path,
                        .data = data,
                        .at = data,
                        .end = (const unsigned char *)data + size,
                        .knows = knows,
                        .arena = arena,
                        .err = &why};
    const struct hd_pickled *result = NULL;
    bool ok = true;
    while (ok && !result) {
        const unsigned char *op = bytes(&m, 1);
        if (op && *op == STOP)
            ok = (result = pop(&m)) != NULL;
        else
            ok = op && run(&m, *op) && !hd_failed(&why);
    }
    hd_free(m.stack);
    hd_free(m.memo);
    if (hd_failed(&why))
        hd_fail(err, why.code, "%s", why.message);
    *n_read = (size_t)(m.at - m.data);
    return result;
}
