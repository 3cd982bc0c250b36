/* param.c -- parameters of a model. */
#include "model/param.h"

#include "graph/tape.h"

#include <stdio.h>

enum { LONGEST_NAME = 96 };

hd_node *hd_map_param(hd_params *params, const char *prefix, const char *name, int in, int out)
{
    char whole[LONGEST_NAME];
    snprintf(whole, sizeof whole, "%s.%s", prefix, name);
    hd_node *W = hd_param(params, whole, in, out);
    hd_param_want_packed(W, false);
    return W;
}

hd_node *hd_vector_param(hd_params *params, const char *prefix, const char *name, int n)
{
    char whole[LONGEST_NAME];
    snprintf(whole, sizeof whole, "%s.%s", prefix, name);
    return hd_param(params, whole, n);
}
