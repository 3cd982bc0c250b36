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

struct hd_map_norm hd_norm_param(hd_params *params, const char *prefix, const char *name, int n,
                                 float eps)
{
    char whole[LONGEST_NAME - 8];
    snprintf(whole, sizeof whole, "%s.%s", prefix, name);
    struct hd_map_norm norm = {.eps = eps};
    norm.gain = hd_vector_param(params, whole, "gain", n);
    norm.bias = hd_vector_param(params, whole, "bias", n);
    return norm;
}

void hd_norm_init(const struct hd_map_norm *norm)
{
    if (!norm->gain)
        return;
    hd_init_fill(norm->gain, 1);
    hd_init_fill(norm->bias, 0);
}

hd_node *hd_normed(const struct hd_map_norm *norm, hd_node *x)
{
    return norm->gain ? hd_layer_norm(x, norm->gain, norm->bias, norm->eps) : x;
}
