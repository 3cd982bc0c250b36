/* shared.h -- for tests that read models of others, which are not part of the project: `make check
 * SHARED=folder` says where they are; without them these tests are skipped, and say so. */
#ifndef HD_TEST_SHARED_H
#define HD_TEST_SHARED_H

#include "test.h"

#include <unistd.h>

/* The path of a file in that folder; skips the test when it is not there. Valid until the next
 * call. */
static inline const char *shared_file(const char *name)
{
    static char path[1024];
    const char *folder = getenv("SHARED");
    snprintf(path, sizeof path, "%s/%s", folder && folder[0] ? folder : "../shared", name);
    if (access(path, R_OK) != 0) {
        print_message("skipped: there is no %s; make check SHARED=folder says where it is\n", path);
        skip();
    }
    return path;
}

#endif
