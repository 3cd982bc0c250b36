/* embedded.h -- the model inside the program, which is used when none is named. */
#ifndef HEED_CLI_EMBEDDED_H
#define HEED_CLI_EMBEDDED_H

#include <stddef.h>

/* Its bytes, a model file: part of the program's own file, so that all copies of the program that run share one in memory.
 * NULL when the program was built without one. */
const void *embedded_model(size_t *size);

#endif
