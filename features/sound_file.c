/* sound_file.c -- WAV, FLAC, Ogg and whatever else libsndfile reads, from memory. */
#include "base/error.h"
#include "base/memory.h"
#include "features/features.h"

#include <sndfile.h>
#include <string.h>

enum { FRAMES_AT_ONCE = 4096, MOST_CHANNELS = 256 };

/* Bytes as libsndfile reads them. */
struct reading {
    const char *data;
    sf_count_t size, at;
};

static sf_count_t length_of(void *user)
{
    return ((struct reading *)user)->size;
}

static sf_count_t seek(sf_count_t offset, int whence, void *user)
{
    struct reading *r = user;
    const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? r->at : r->size;
    if (offset < -from || offset > r->size - from)
        return -1;
    return r->at = from + offset;
}

static sf_count_t read_bytes(void *to, sf_count_t count, void *user)
{
    struct reading *r = user;
    const sf_count_t left = r->size - r->at, n = count < left ? count : left;
    if (n <= 0)
        return 0;
    memcpy(to, r->data + r->at, (size_t)n);
    r->at += n;
    return n;
}

static sf_count_t tell(void *user)
{
    return ((struct reading *)user)->at;
}

bool hd_is_sound_file(const void *data, size_t size)
{
    static const char *const marks[] = {"RIFF", "RIFX", "RF64", "fLaC", "OggS", "FORM",
                                        ".snd", "caff", "NIST", "ID3",  NULL};
    for (int i = 0; marks[i]; i++)
        if (size >= strlen(marks[i]) && memcmp(data, marks[i], strlen(marks[i])) == 0)
            return true;
    return false;
}

/* The mean of the channels of n frames, at the scale of 16 bits. */
static void mix(double *to, const double *frames, int n, int n_channels)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int c = 0; c < n_channels; c++)
            sum += frames[i * n_channels + c];
        to[i] = sum * 32768 / n_channels;
    }
}

static bool read_samples(struct hd_sound *sound, SNDFILE *file, int n_channels, const char *name,
                         heed_error *err)
{
    double *frames = hd_alloc((size_t)FRAMES_AT_ONCE * (size_t)n_channels, sizeof *frames, err);
    size_t capacity = 0;
    bool ok = frames != NULL;
    sf_count_t n;
    while (ok && (n = sf_readf_double(file, frames, FRAMES_AT_ONCE)) > 0) {
        double *grown =
            hd_grow(sound->samples, &capacity, sound->n + (size_t)n, sizeof *grown, err);
        if (!(ok = grown != NULL))
            break;
        sound->samples = grown;
        mix(grown + sound->n, frames, (int)n, n_channels);
        sound->n += (size_t)n;
    }
    hd_free(frames);
    if (ok && sound->n == 0)
        ok = hd_fail(err, HEED_BAD_FILE, "%s: there is no sound in it", name);
    return ok;
}

bool hd_sound_read(struct hd_sound *sound, const char *name, const void *data, size_t size,
                   heed_error *err)
{
    SF_VIRTUAL_IO io = {.get_filelen = length_of, .seek = seek, .read = read_bytes, .tell = tell};
    struct reading r = {.data = data, .size = (sf_count_t)size};
    SF_INFO info = {0};
    *sound = (struct hd_sound){0};
    SNDFILE *file = sf_open_virtual(&io, SFM_READ, &info, &r);
    if (!file)
        return hd_fail(err, HEED_BAD_FILE, "%s: this sound cannot be read (%s)", name,
                       sf_strerror(NULL));
    sound->rate = info.samplerate;
    bool ok = (info.channels >= 1 && info.channels <= MOST_CHANNELS) ||
              hd_fail(err, HEED_BAD_FILE, "%s: it claims to have %d channels", name, info.channels);
    ok = ok && ((info.samplerate >= 1000 && info.samplerate <= 1000000) ||
                hd_fail(err, HEED_BAD_FILE, "%s: it claims to have %d samples a second", name,
                        info.samplerate));
    ok = ok && read_samples(sound, file, info.channels, name, err);
    sf_close(file);
    if (ok)
        return true;
    hd_free(sound->samples);
    *sound = (struct hd_sound){0};
    return false;
}
