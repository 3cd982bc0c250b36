/* outputs.c -- names of the files a run writes, and what may stand under them already. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "train/outputs.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/safetensors.h"
#include "picture/picture.h"
#include "text/input.h"
#include "train/run_text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const ENDING = ".safetensors";

/* ---- names --------------------------------------------------------------------------------------- */

bool hd_outputs_name(struct hd_run *run, heed_error *err)
{
    const char *out = run->recipe->out;
    if (!out || !*out)
        return hd_fail(err, HEED_BAD_OPTION,
                       "out is missing; say where the model should go: --out MODEL.safetensors");
    const size_t n = strlen(out), e = strlen(ENDING);
    const bool has_ending = n > e && strcmp(out + n - e, ENDING) == 0;
    const size_t stem = has_ending ? n - e : n;
    struct stat st;
    if (out[n - 1] == '/' || (stat(out, &st) == 0 && S_ISDIR(st.st_mode)))
        return hd_fail(err, HEED_BAD_OPTION,
                       "out: %s is a folder; name a file in it, such as %s%smodel.safetensors", out,
                       out, out[n - 1] == '/' ? "" : "/");
    run->stem = hd_alloc(stem + 1, 1, err);
    run->state_path = hd_alloc(stem + 32, 1, err);
    if (!run->stem || !run->state_path)
        return false;
    memcpy(run->stem, out, stem);
    snprintf(run->state_path, stem + 32, "%s.state.safetensors", run->stem);
    return true;
}

/* ---- what stands there already --------------------------------------------------------------------- */

enum kind { MODEL, STATE, LOG, FIGURES, CURVES };

/* Does the metadata say what heed's files of this kind say? Where the system did not let it be read, `err` says so. */
static bool is_of_format(const char *path, enum kind kind, heed_error *err)
{
    heed_error why = {0};
    struct hd_safetensors *file = hd_safetensors_open(path, &why);
    if (why.code == HEED_BAD_FILE || why.code == HEED_NO_MEMORY)
        return hd_fail(err, why.code, "%s", why.message);
    const char *format = file ? hd_safetensors_metadata(file, "format") : NULL;
    const bool is_state = format && strncmp(format, "heed-state-", 11) == 0;
    const bool is_ours = format && strncmp(format, "heed-", 5) == 0 && is_state == (kind == STATE);
    /* hd_state_open() reports a damaged state. */
    const bool is_fine = is_ours || (!file && kind == STATE);
    hd_safetensors_close(file);
    return is_fine;
}

/* Nothing is there, or nothing is in it. */
static bool is_gone(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? S_ISREG(st.st_mode) && st.st_size == 0
                                : errno == ENOENT || errno == ENOTDIR;
}

bool hd_outputs_has_model(const char *path, heed_error *err)
{
    return !is_gone(path) && is_of_format(path, MODEL, err);
}

/* Does a file that is no model begin as one of heed does? What is wrong with it goes to `why`. */
static bool is_damaged(const char *path, heed_error *why)
{
    enum { BEGINNING = 1 << 20 };
    static const char format[] = "\"format\":\"heed-";
    struct hd_map map;
    if (!hd_map_open(&map, path, NULL))
        return false;
    const bool is_ours = memmem(map.data, map.size < BEGINNING ? map.size : BEGINNING, format,
                                sizeof format - 1) != NULL;
    hd_map_close(&map);
    if (is_ours)
        hd_safetensors_close(hd_safetensors_open(path, why));
    return is_ours && hd_failed(why);
}

static bool fail_as_damaged(const heed_error *why, heed_error *err)
{
    return hd_fail(err, why->code,
                   "%s; move it away and type the same command again, or choose another --out",
                   why->message);
}

/* The record says after which update a model was saved, and what its score was. One that was saved after the state, by a run that was
 * killed then, is fine: the run makes it again. */
static bool is_best(const struct hd_run *run, const json_t *record)
{
    const struct hd_progress *p = &run->state.progress;
    const double score = json_number_value(
                     json_object_get(json_object_get(record, "validation"), "score")),
                 best = p->is_closed ? p->closed_best : p->best,
                 difference = (score < 0 ? -score : score) - (best < 0 ? -best : best);
    const json_int_t updates = json_integer_value(json_object_get(record, "updates")),
                     pairs = json_integer_value(json_object_get(record, "pairs"));
    const double tolerance = 1e-6 * (1 + (best < 0 ? -best : best));
    return (updates == (p->is_closed ? p->closed_best_update : p->best_update) &&
            difference < tolerance && difference > -tolerance) ||
           (updates >= p->update && pairs == (json_int_t)run->facts.n_pairs);
}

bool hd_outputs_has_best(const struct hd_run *run, heed_error *err)
{
    const char *out = run->recipe->out;
    const struct hd_progress *p = &run->state.progress;
    heed_error why = {0};
    if (is_gone(out))
        return false;
    struct hd_safetensors *file = hd_safetensors_open(out, &why);
    if (!file || !hd_safetensors_check(file, &why)) {
        hd_safetensors_close(file);
        return why.code == HEED_BAD_MODEL ? fail_as_damaged(&why, err)
                                          : hd_fail(err, why.code, "%s", why.message);
    }
    const char *text = hd_safetensors_metadata(file, "heed.record");
    json_t *record = text ? json_loads(text, 0, NULL) : NULL;
    const bool is_there = is_best(run, record);
    json_decref(record);
    hd_safetensors_close(file);
    return is_there ||
           hd_fail(err, HEED_BAD_FILE,
                   "%s is another model than the best of this run, which is that of update %ld; "
                   "move it away and type the same command again, or choose another --out",
                   out, p->is_closed ? p->closed_best_update : p->best_update);
}

/* "[2026-01-31 12:00:00] " */
static const char form[] = "[0000-00-00 00:00:00] ";
enum { STAMP = sizeof form - 1 };

static bool is_stamp(const char *text)
{
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return true;
}

/* What the log of a run begins with, behind its stamp; an old one may have been cut. */
static bool is_first_sentence(const char *text)
{
    static const char *const first[] = {
        "text: ",      "source: ",     "reading the ",          "cleaning: ",
        "languages: ", "vocabulary: ", "goes on after update ", "update "};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (strncmp(text, first[i], strlen(first[i])) == 0)
            return true;
    return false;
}

static bool is_first_event(const char *text)
{
    static const char *const first[] = {
        "{\"event\":\"note\",\"text\":\"",
        "{\"event\":\"update\",\"update\":", "{\"event\":\"validation\",\"update\":"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (strncmp(text, first[i], strlen(first[i])) == 0)
            return true;
    return false;
}

/* Has heed written this file? */
static bool is_own(const char *path, enum kind kind, heed_error *err)
{
    char text[1024] = "";
    if (kind == MODEL || kind == STATE)
        return is_of_format(path, kind, err);
    bool is_ours;
    if (kind == CURVES)
        return hd_picture_is_own(&is_ours, path, err) && is_ours;
    FILE *f = fopen(path, "re");
    if (!f)
        return true; /* writing it will fail with a sentence */
    (void)!fread(text, 1, sizeof text - 1, f);
    fclose(f);
    return kind == LOG ? is_stamp(text) && is_first_sentence(text + STAMP) : is_first_event(text);
}

static bool is_same_file(const char *path, const struct stat *out)
{
    struct stat in;
    return (hd_is_stdin(path) ? fstat(STDIN_FILENO, &in) : stat(path, &in)) == 0 &&
           in.st_dev == out->st_dev && in.st_ino == out->st_ino;
}

/* A file of a list, or one that is in a folder of it. */
static bool is_among(const char *path, const struct stat *out)
{
    struct hd_paths files = {0};
    struct stat st;
    bool is_there = is_same_file(path, out);
    if (!is_there && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
        hd_paths_add(&files, path, NULL)) /* what cannot be listed cannot be learned from */
        for (size_t i = 0; !is_there && i < files.n; i++)
            is_there = is_same_file(files.at[i], out);
    hd_paths_release(&files);
    return is_there;
}

/* The first of the run's inputs that is this very file or has it inside, by whatever name; NULL for none. */
static const char *input_of(const heed_training *said, const struct stat *out)
{
    const struct hd_recipe *r = &said->recipe;
    const heed_option_list *const all[] = {
        &r->src,  &r->tgt,      &r->tsv,     &r->dev_src, &r->dev_tgt,         &r->dev_tsv,
        &r->pair, &r->dev_pair, &r->exclude, &r->spm,     &r->guided_alignment};
    const char *const models[] = {r->from, r->vocab_from};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < all[i]->n; k++) {
            const bool is_pair = all[i] == &r->pair || all[i] == &r->dev_pair;
            const char *path = is_pair ? hd_pair_path(all[i]->at[k]) : all[i]->at[k];
            if (is_among(path, out))
                return hd_is_stdin(path) ? "standard input" : path;
        }
    for (size_t i = 0; i < said->read.n; i++)
        if (is_same_file(said->read.at[i], out))
            return said->read.at[i];
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (models[i] && is_same_file(models[i], out))
            return models[i];
    return NULL;
}

static bool check_one(const heed_training *said, const char *path, enum kind kind, heed_error *err)
{
    static const char *const what[] = {"the model", "the state", "the log", "the figures",
                                       "the learning curves"};
    struct stat st;
    if (stat(path, &st) != 0)
        return true;
    const char *input = input_of(said, &st);
    if (input)
        return hd_fail(err, HEED_BAD_OPTION,
                       "out: %s would take the place of %s; choose another name", what[kind],
                       input);
    heed_error why = {0};
    if (!S_ISREG(st.st_mode) || st.st_size == 0 || is_own(path, kind, &why))
        return true;
    if (hd_failed(&why))
        return hd_fail(err, why.code, "%s", why.message);
    if (kind == MODEL && is_damaged(path, &why))
        return fail_as_damaged(&why, err);
    return hd_fail(err, HEED_BAD_OPTION,
                   "out: %s would take the place of %s, which is another file; move it away or "
                   "choose another name",
                   what[kind], path);
}

/* --out m and --out m.safetensors have the same files beside them. */
static bool check_sibling(const struct hd_run *run, heed_error *err)
{
    const char *out = run->recipe->out;
    char other[4200];
    const bool has_ending = strlen(out) != strlen(run->stem);
    snprintf(other, sizeof other, "%s%s", run->stem, has_ending ? "" : ENDING);
    struct stat here, there;
    const bool is_same = stat(out, &here) == 0 && stat(other, &there) == 0 &&
                         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
    if (is_same || !hd_outputs_has_model(other, NULL))
        return true;
    return hd_fail(err, HEED_BAD_OPTION,
                   "out: %s would share its state and log with %s, which is another model; choose "
                   "another name",
                   out, other);
}

/* A link whose file is not there yet: can it be written where the link leads? Elsewhere the log beside it tells. */
static bool check_link(const char *out, heed_error *err)
{
    struct stat st;
    struct hd_writer w = {0};
    if (lstat(out, &st) != 0 || !S_ISLNK(st.st_mode) || stat(out, &st) == 0)
        return true;
    const bool ok = hd_writer_open(&w, out, err);
    hd_writer_abandon(&w);
    return ok;
}

bool hd_outputs_check(const struct hd_run *run, heed_error *err)
{
    static const struct {
        const char *ending;
        enum kind kind;
    } beside[] = {{".state.safetensors", STATE},
                  {".state.safetensors.previous", STATE},
                  {".log", LOG},
                  {".jsonl", FIGURES},
                  {".svg", CURVES}};
    char path[4200];
    bool ok = check_one(run->said, run->recipe->out, MODEL, err) && check_sibling(run, err) &&
              check_link(run->recipe->out, err);
    for (size_t i = 0; ok && i < sizeof beside / sizeof *beside; i++) {
        snprintf(path, sizeof path, "%s%s", run->stem, beside[i].ending);
        ok = check_one(run->said, path, beside[i].kind, err);
    }
    return ok;
}

/* ---- what was left ----------------------------------------------------------------------------------- */

/* Is `name` that of a file that was being written to `target` (base/file.c), TARGET.<process>-<number>.tmp? */
static bool is_unfinished(const char *name, const char *target)
{
    const size_t n = strlen(target);
    if (strncmp(name, target, n) != 0 || name[n] != '.')
        return false;
    const char *rest = name + n + 1;
    const size_t process = strspn(rest, "0123456789");
    const size_t number = rest[process] == '-' ? strspn(rest + process + 1, "0123456789") : 0;
    return process > 0 && number > 0 && strcmp(rest + process + 1 + number, ".tmp") == 0;
}

void hd_outputs_sweep(const struct hd_run *run)
{
    const char *out = run->recipe->out, *slash = strrchr(out, '/');
    const size_t n_folder = slash ? (size_t)(slash + 1 - out) : 0;
    char folder[4096], names[3][4096], path[8192];
    snprintf(folder, sizeof folder, "%.*s", (int)n_folder, out);
    snprintf(names[0], sizeof names[0], "%s", out + n_folder);
    snprintf(names[1], sizeof names[1], "%s", run->state_path + n_folder);
    snprintf(names[2], sizeof names[2], "%s.svg", run->stem + n_folder);
    DIR *files = opendir(n_folder ? folder : ".");
    for (const struct dirent *file; files && (file = readdir(files));)
        for (int i = 0; i < 3; i++)
            if (is_unfinished(file->d_name, names[i])) {
                snprintf(path, sizeof path, "%s%s", folder, file->d_name);
                (void)unlink(path);
            }
    if (files)
        closedir(files);
}
