/* folder.h -- a folder of its own for each test: fresh_folder() and remove_folder() are setup and teardown. */
#ifndef HD_TESTS_FOLDER_H
#define HD_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/heed-test-XXXXXX";

/* A path in it; lives until the next call. */
static inline const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static inline int fresh_folder(void **state)
{
    (void)state;
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command); /* NOLINT: a folder of our own */
}

#endif
