/* module.h -- parts of heed that are loaded when they are asked for, because what they need
 * (cairo, pango) takes longer to start than the rest, and may be missing. */
#ifndef HD_BASE_MODULE_H
#define HD_BASE_MODULE_H

#include <heed.h>

struct hd_module_name {
    const char *file;        /* "heed_draw.so" */
    const char *environment; /* the variable that says where else it is: "HEED_DRAW_MODULE" */
    const char *symbol;      /* the object in it that is asked for */
    const char *purpose;     /* what it is for, the subject of the error: "pictures" */
    const char *needs;       /* what to install, for when it is missing or does not load */
};

/* The object `symbol` of the module, which stays loaded until the process ends. It is looked for
 * at the path in the environment variable if that is set, and otherwise beside the program and
 * the library, in the folder `heed` of the installed library, and in the usual places. NULL with
 * HEED_BAD_FILE in `err`. */
const void *hd_module_open(const struct hd_module_name *name, heed_error *err);

#endif
