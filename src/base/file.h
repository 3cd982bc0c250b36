/* file.h -- files read as memory, and files that appear under their name only when they are
 * whole. */
#ifndef HD_BASE_FILE_H
#define HD_BASE_FILE_H

#include <heed.h>

/* A file's bytes as memory, read when touched. {0} is no file. */
struct hd_map {
    const void *data;
    size_t size;
};

/* Map a whole file, to be given to hd_map_close(). False with HEED_BAD_FILE in `err` when it is
 * missing, empty, not an ordinary file or not readable. The file must not be shortened meanwhile;
 * heed's own writer never does, it replaces. */
bool hd_map_open(struct hd_map *map, const char *path, heed_error *err);

/* The same for a file that is open already, and stays so; `name` is for sentences. */
bool hd_map_fd(struct hd_map *map, int fd, const char *name, heed_error *err);

/* Leaves {0}. An empty one is fine. */
void hd_map_close(struct hd_map *map);

/* The memory of some of its bytes may go; what is read once more comes from the file again. For a large file of which something as
 * large is made, piece by piece. Bytes that are not the map's are left alone. */
void hd_map_forget(const struct hd_map *map, const void *from, size_t size);

/* Why a file could not be read or written, as a sentence: `error` is the errno of the system.
 * Always false. */
bool hd_fail_to_read(const char *path, int error, heed_error *err);
bool hd_fail_to_write(const char *path, int error, heed_error *err);

/* A file being written, {0} is none. It has a temporary name beside its own until
 * hd_writer_commit() renames it, so under its name there is the old file or the whole new one,
 * whatever happens.
 *
 *     struct hd_writer w = {0};
 *     if (!hd_writer_open(&w, path, err) || !hd_write(&w, data, n, err) ||
 *         !hd_writer_commit(&w, err))
 *         hd_writer_abandon(&w);
 *
 * A symbolic link keeps pointing where it did: the file it points to is replaced. Existing
 * permissions are kept. What is there and is no ordinary file (/dev/stdout, a pipe) is written
 * directly. */
struct hd_writer {
    bool is_open;
    bool is_direct;  /* no temporary name */
    bool has_failed; /* a write failed: what is there is not whole */
    int fd;
    char *path;      /* where it will be */
    char *temporary; /* where it is now */
    char *buffer;
    size_t n_buffered;
    size_t n_written; /* bytes given to the system so far */
};

/* False with the reason in `err` (HEED_BAD_FILE, HEED_NO_MEMORY); the writer is then {0} again. */
bool hd_writer_open(struct hd_writer *w, const char *path, heed_error *err);

/* Append n bytes. After a failure the file can only be abandoned. */
bool hd_write(struct hd_writer *w, const void *data, size_t n, heed_error *err);

/* Bring everything to the disk and give the file its name. True means it is there even if the
 * power fails now. On failure the temporary file is removed and what was there before still
 * stands. Either way the writer is {0} again. */
bool hd_writer_commit(struct hd_writer *w, heed_error *err);

/* Forget the file and remove the temporary one. Always safe, also after a commit. */
void hd_writer_abandon(struct hd_writer *w);

#endif
