/* zip.h -- what is in a zip archive, for readers: members stored or deflated, whole or not at all.
 *
 * Files are not trusted: members lie inside the archive, do not overlap, have names of their own,
 * grow together to no more than 64 MiB or 100 times the archive, and match their checksums, or there is
 * a sentence (HEED_BAD_MODEL).
 * Refused: zip64 (archives above 4 GiB), encryption, archives of several parts, other ways of
 * compression. */
#ifndef HD_FORMAT_ZIP_H
#define HD_FORMAT_ZIP_H

#include <heed.h>

#include <stdint.h>

/* One file in the archive. The name is UTF-8. */
struct hd_zip_member {
    char *name;
    const unsigned char *packed; /* its bytes as they are in the archive */
    size_t n_packed;
    size_t size; /* once unpacked */
    uint32_t crc;
    bool is_deflated;
};

/* {0} is none. Over memory of the caller, which must stay. */
struct hd_zip {
    const char *path; /* for sentences; borrowed */
    struct hd_zip_member *members;
    size_t n_members;
};

/* Read the directory of an archive. Call hd_zip_release() also after a failure. */
bool hd_zip_open(struct hd_zip *zip, const char *path, const void *data, size_t size,
                 heed_error *err);

/* Leaves {0}. */
void hd_zip_release(struct hd_zip *zip);

/* The member's bytes, checked: in the archive itself when it is stored, else in *memory, which is
 * to be given to hd_free(). NULL with the reason in `err`. */
const void *hd_zip_read(const struct hd_zip *zip, const struct hd_zip_member *member, void **memory,
                        heed_error *err);

#endif
