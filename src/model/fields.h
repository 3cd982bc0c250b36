/* fields.h -- the fields of a configuration as a table: JSON, text, help and checks are made from it. */
#ifndef HD_MODEL_FIELDS_H
#define HD_MODEL_FIELDS_H

#include "model/config.h"

enum hd_field_type {
    HD_FIELD_NUMBER, /* int in [min, max] */
    HD_FIELD_REAL,   /* float, greater than 0 and at most max */
    HD_FIELD_YES_NO, /* bool */
    HD_FIELD_MAYBE,  /* int: 1, 0 or HD_UNSET */
    HD_FIELD_CHOICE, /* int: which of `values` */
    HD_FIELD_HEADS,  /* the list alignment_heads */
    HD_FIELD_LAYERS, /* no field of its own: encoder and decoder layers both */
};

enum hd_field_kind { HD_OF_ALL, HD_OF_RECURRENT, HD_OF_TRANSFORMER };

struct hd_field {
    const char *name; /* with dashes; JSON has underscores */
    const char *values, *fallback,
        *meaning; /* what it may be, what it is when nothing is said, what it is */
    enum hd_field_type type;
    enum hd_field_kind kind;
    size_t offset;
    int min, max; /* numbers; of a choice, how many of `values` are in its enum */
    bool may_be_unset, is_option;
};

extern const struct hd_field hd_fields[];
extern const int hd_n_fields;

/* The field of this name, with dashes or underscores; NULL when there is none. */
const struct hd_field *hd_field_find(const char *name);

/* The name nearest to a wrong one, or NULL. */
const char *hd_field_nearest(const char *name);

/* Is it a field of the kind of model that `config` is? */
bool hd_field_applies(const struct hd_field *field, const struct hd_config *config);

/* Where it is in a configuration: numbers, choices and maybes. */
static inline int *hd_field_int(const struct hd_field *field, const struct hd_config *config)
{
    return (int *)((char *)config + field->offset);
}

static inline bool *hd_field_bool(const struct hd_field *field, const struct hd_config *config)
{
    return (bool *)((char *)config + field->offset);
}

static inline float *hd_field_float(const struct hd_field *field, const struct hd_config *config)
{
    return (float *)((char *)config + field->offset);
}

/* The i-th of a choice's values, and which of them `text` is, -1 for none. Those beyond its enum, from `max` on, are short for
 * something (local-m). */
struct hd_value_name {
    char s[24];
};
struct hd_value_name hd_field_value(const struct hd_field *field, int i);
int hd_field_value_index(const struct hd_field *field, const char *text);

/* The value of a choice that a mistyped text is nearest to; "" for none. */
struct hd_value_name hd_field_value_nearest(const struct hd_field *field, const char *text);

/* What a field takes, for sentences: "a number from 1 to 64", "yes or no". */
struct hd_field_range {
    char s[200];
};
struct hd_field_range hd_field_range(const struct hd_field *field);

#endif
