/* model_info.c -- what a model is, for people and for programs. */
#include "model/model_file.h"

#include "base/error.h"
#include "base/memory.h"
#include "model/fields.h"
#include "model/presets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parts a reader thinks in, by how a parameter's name begins. */
static const struct {
    const char *name, *prefixes[4];
} parts[] = {
    {"embeddings", {"embed", "source.", "target."}},
    {"encoder", {"encoder."}},
    {"attention", {"attention."}},
    {"decoder", {"decoder.", "start."}},
    {"question", {"question."}},
    {"reading", {"match.", "hop."}},
    {"pointers", {"pointer."}},
    {"readout", {"readout."}},
    {"ctc", {"ctc."}},
    {"output", {"output."}},
};
enum { N_PARTS = sizeof parts / sizeof *parts };

static bool belongs_to(const char *name, int part)
{
    for (int i = 0; i < 4 && parts[part].prefixes[i]; i++)
        if (strncmp(name, parts[part].prefixes[i], strlen(parts[part].prefixes[i])) == 0)
            return true;
    return false;
}

static size_t count_of(const heed_model *m, int part)
{
    size_t n = 0;
    for (int i = 0; i < hd_params_number(m->net->params); i++) {
        const hd_node *p = hd_params_at(m->net->params, i);
        if (part < 0 || belongs_to(hd_param_name(p), part))
            n += hd_count(p);
    }
    return n;
}

/* How the file had the numbers: {"I8": 3000, "F32": 20}. */
static json_t *stored_info(const heed_model *m)
{
    json_t *stored = json_object();
    for (int d = 0; d < HD_N_DTYPES; d++)
        if (m->stored[d] > 0)
            json_object_set_new(stored, hd_dtype_name((enum hd_dtype)d),
                                json_integer((json_int_t)m->stored[d]));
    return stored;
}

static json_t *vocab_info(const struct hd_vocab *v)
{
    return json_pack("{s:s, s:i, s:i, s:i}", "kind", hd_vocab_kind_name(hd_vocab_kind(v)), "size",
                     hd_vocab_size(v), "unknown", hd_vocab_unknown(v), "end", hd_vocab_end(v));
}

static json_t *directions_info(const heed_model *m)
{
    json_t *list = json_array();
    const char *from, *to;
    for (int i = 0; heed_model_direction(m, i, &from, &to); i++)
        json_array_append_new(list, json_sprintf("%s-%s", from, to));
    return list;
}

static json_t *info_of(const heed_model *m)
{
    const struct hd_config *c = &m->net->config;
    char formula[256];
    json_t *of_parts = json_object();
    for (int i = 0; i < N_PARTS; i++)
        if (count_of(m, i) > 0)
            json_object_set_new(of_parts, parts[i].name, json_integer((json_int_t)count_of(m, i)));
    return json_pack(
        "{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:b, s:{s:o, s:o, s:b}, s:o, s:O}", "arch",
        hd_config_choice("arch", c->arch).text, "paper", hd_presets[c->arch].paper, "attention",
        hd_config_formula(c, formula), "parameters", (json_int_t)count_of(m, -1), "parts", of_parts,
        "stored", stored_info(m), "directions", directions_info(m), "detects", m->detector != NULL,
        "vocabularies", "source", vocab_info(m->source), "target", vocab_info(m->target), "shared",
        m->source == m->target, "config", hd_config_to_json(c), "record", m->record);
}

/* A copy in memory of ours, so that one function frees every text. */
static char *own(char *text, heed_error *err)
{
    char *copy = text ? hd_copy_string(text, err) : NULL;
    if (!text)
        hd_fail(err, HEED_NO_MEMORY, "there is no memory to describe the model");
    free(text);
    return copy;
}

static char *info_line(const heed_model *model, heed_error *err)
{
    json_t *info = info_of(model);
    char *line = info ? json_dumps(info, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(info);
    return own(line, err);
}

/* 12345678 as "12,345,678". */
static const char *grouped(size_t n, char text[32])
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%zu", n);
    int at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}

static void print_vocab(FILE *out, const char *name, const struct hd_vocab *v)
{
    fprintf(out, "%-14s %s, %d entries\n", name, hd_vocab_kind_name(hd_vocab_kind(v)),
            hd_vocab_size(v));
}

/* "stored         I8 3,000, F32 20" */
static void print_stored(FILE *out, const heed_model *m)
{
    char number[32];
    const char *before = "stored        ";
    for (int d = HD_N_DTYPES - 1; d >= 0; d--)
        if (m->stored[d] > 0) {
            fprintf(out, "%s %s %s", before, hd_dtype_name((enum hd_dtype)d),
                    grouped(m->stored[d], number));
            before = ",";
        }
    if (before[0] == ',')
        fprintf(out, "\n");
}

/* "languages      en-fr, fr-en" */
static void print_languages(FILE *out, const heed_model *m)
{
    const char *from, *to;
    for (int i = 0; heed_model_direction(m, i, &from, &to); i++)
        fprintf(out, i > 0 ? ", %s-%s" : "languages      %s-%s", from, to);
    if (heed_model_direction(m, 0, NULL, NULL))
        fprintf(out, m->detector ? "; tells the language of a text\n" : "\n");
}

static void print_value(FILE *out, const char *key, const json_t *value)
{
    char *text =
        json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    fprintf(out, "  %-20s %s\n", key, text ? text : json_string_value(value));
    free(text);
}

static char *info_text(const heed_model *m, heed_error *err)
{
    const struct hd_config *c = &m->net->config;
    char formula[256], number[32], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    json_t *config = hd_config_to_json(c);
    if (!out || !config) {
        if (out)
            fclose(out);
        json_decref(config);
        free(text);
        return own(NULL, err);
    }
    fprintf(out, "%-14s %s: %s\n", "architecture", hd_config_choice("arch", c->arch).text,
            hd_presets[c->arch].paper);
    if (c->task != HD_TASK_TRANSLATE)
        fprintf(out, "%-14s %s\n", "task", hd_config_choice("task", c->task).text);
    fprintf(out, "%-14s %s\n", "attention", hd_config_formula(c, formula));
    fprintf(out, "%-14s %s\n", "parameters", grouped(count_of(m, -1), number));
    for (int i = 0; i < N_PARTS; i++)
        if (count_of(m, i) > 0)
            fprintf(out, "  %-20s %s\n", parts[i].name, grouped(count_of(m, i), number));
    print_stored(out, m);
    print_languages(out, m);
    if (m->source == m->target)
        print_vocab(out, "vocabulary", m->source);
    else {
        print_vocab(out, "source words", m->source);
        print_vocab(out, c->task == HD_TASK_LABEL ? "labels" : "target words", m->target);
    }
    const char *key;
    json_t *value;
    fprintf(out, "configuration\n");
    json_object_foreach(config, key, value) print_value(out, key, value);
    if (json_object_size(m->record) > 0)
        fprintf(out, "record\n");
    json_object_foreach(m->record, key, value)
    {
        if (strcmp(key, "recipe") != 0) /* dozens of settings: heed_model_recipe() */
            print_value(out, key, value);
    }
    if (json_object_get(m->record, "recipe"))
        fprintf(out, "  %-20s %s\n", "recipe", "heed info --recipe tells it");
    json_decref(config);
    return own(fclose(out) == 0 ? text : (free(text), NULL), err);
}

char *heed_model_info(const heed_model *model, bool as_json, heed_error *err)
{
    if (!hd_is_given(model, "model", err))
        return NULL;
    return (as_json ? info_line : info_text)(model, err);
}
