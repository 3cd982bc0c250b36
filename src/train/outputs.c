/* outputs.c -- names of the files a run writes, and what may stand under them already. */
#include "train/outputs.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/safetensors.h"
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

bool hd_outputs_has_model(const char *path, heed_error *err)
{
    const bool is_gone = access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
    return !is_gone && is_of_format(path, MODEL, err);
}

/* "[2026-01-31 12:00:00] " */
static bool is_stamp(const char *text)
{
    static const char form[] = "[0000-00-00 00:00:00] ";
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return true;
}

/* Has heed written this file? Nothing is lost with an empty one. */
static bool is_own(const char *path, enum kind kind, heed_error *err)
{
    char text[1024] = "";
    if (kind == MODEL || kind == STATE)
        return is_of_format(path, kind, err);
    FILE *f = fopen(path, "re");
    if (!f)
        return true; /* writing it will fail with a sentence */
    (void)!fread(text, 1, sizeof text - 1, f);
    fclose(f);
    switch (kind) {
    case LOG:
        return is_stamp(text);
    case FIGURES:
        return strncmp(text, "{\"event\":", 9) == 0;
    default:
        return strncmp(text, "<svg", 4) == 0 && strstr(text, "class=\"panel\"");
    }
}

/* The first of the run's inputs that is this very file, by whatever name; NULL for none. */
static const char *input_of(const struct hd_recipe *r, const struct stat *out)
{
    const heed_option_list *const all[] = {&r->src,     &r->tgt,     &r->tsv,  &r->dev_src,
                                           &r->dev_tgt, &r->dev_tsv, &r->pair, &r->dev_pair,
                                           &r->exclude, &r->spm};
    struct stat in;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < all[i]->n; k++) {
            const bool is_pair = all[i] == &r->pair || all[i] == &r->dev_pair;
            const char *path = is_pair ? hd_pair_path(all[i]->at[k]) : all[i]->at[k];
            const bool is_stdin = strcmp(path, "-") == 0;
            if ((is_stdin ? fstat(STDIN_FILENO, &in) : stat(path, &in)) == 0 &&
                in.st_dev == out->st_dev && in.st_ino == out->st_ino)
                return is_stdin ? "standard input" : path;
        }
    if (r->from && stat(r->from, &in) == 0 && in.st_dev == out->st_dev && in.st_ino == out->st_ino)
        return r->from;
    return NULL;
}

static bool check_one(const struct hd_recipe *r, const char *path, enum kind kind, heed_error *err)
{
    static const char *const what[] = {"the model", "the state", "the log", "the figures",
                                       "the learning curves"};
    struct stat st;
    if (stat(path, &st) != 0)
        return true;
    const char *input = input_of(r, &st);
    if (input)
        return hd_fail(err, HEED_BAD_OPTION,
                       "out: %s would take the place of %s; choose another name", what[kind],
                       input);
    heed_error why = {0};
    if (!S_ISREG(st.st_mode) || st.st_size == 0 || is_own(path, kind, &why))
        return true;
    if (hd_failed(&why))
        return hd_fail(err, why.code, "%s", why.message);
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
    bool ok = check_one(run->recipe, run->recipe->out, MODEL, err) && check_sibling(run, err);
    for (size_t i = 0; ok && i < sizeof beside / sizeof *beside; i++) {
        snprintf(path, sizeof path, "%s%s", run->stem, beside[i].ending);
        ok = check_one(run->recipe, path, beside[i].kind, err);
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
