/* pickle.h -- Python's pickles as plain values, for readers. Nothing is executed: a call stays a value
 * that says what would be called, and what the reader does not know by name is refused.
 *
 * Read: protocols 2 to 5, as far as numbers, texts, tuples, lists, dicts and calls go. Files are not
 * trusted: whatever the bytes are, the answer is values or a sentence (HEED_BAD_MODEL), and memory stays
 * within a multiple of their number. */
#ifndef HD_FORMAT_PICKLE_H
#define HD_FORMAT_PICKLE_H

#include "base/arena.h"
#include <heed.h>

#include <stdint.h>

enum hd_pickled_kind {
    HD_PICKLED_NONE,
    HD_PICKLED_BOOL,
    HD_PICKLED_INT,
    HD_PICKLED_OTHER, /* a number with a fraction, or one of more than 64 bits */
    HD_PICKLED_TEXT,
    HD_PICKLED_NAME,   /* a function or class, "module name" */
    HD_PICKLED_LIST,   /* or tuple */
    HD_PICKLED_DICT,   /* keys and values in turn */
    HD_PICKLED_CALL,   /* what is called, then its arguments as a list */
    HD_PICKLED_OUTSIDE /* something outside of the pickle, which its one item names */
};

struct hd_pickled {
    enum hd_pickled_kind kind;
    int64_t number; /* bool and int */
    const char
        *text; /* text and name: n bytes inside the pickle or the arena, without a NUL after them */
    const struct hd_pickled **items; /* of the rest, n of them */
    size_t n, capacity;
};

/* Is this value a text or name that reads so? */
bool hd_pickled_is(const struct hd_pickled *value, enum hd_pickled_kind kind, const char *text);

/* Read one pickle from the start of data[0..size), *n_read bytes. `knows` lists the names that it may contain, the last is NULL; `path` is
 * for sentences. Values live in the arena, and point into the data. NULL with the reason in `err`. */
const struct hd_pickled *hd_pickle_read(const char *path, const void *data, size_t size,
                                        const char *const *knows, struct hd_arena *arena,
                                        size_t *n_read, heed_error *err);

#endif
