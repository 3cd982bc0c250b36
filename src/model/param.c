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
    hd_param_set_use(W, HD_PARAM_MAP);
    return W;
}

hd_node *hd_table_param(hd_params *params, const char *name, int rows, int width)
{
    hd_node *table = hd_param(params, name, rows, width);
    hd_param_set_use(table, HD_PARAM_TABLE);
    return table;
}

hd_node *hd_vector_param(hd_params *params, const char *prefix, const char *name, int n)
{
    char whole[LONGEST_NAME];
    snprintf(whole, sizeof whole, "%s.%s", prefix, name);
    return hd_param(params, whole, n);
}
