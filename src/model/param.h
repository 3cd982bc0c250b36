/* param.h -- parameters of a model, declared as "prefix.name". */
#ifndef HD_MODEL_PARAM_H
#define HD_MODEL_PARAM_H

#include <heed_graph.h>

/* The matrix [in,out] of a linear map. A search multiplies with it, so hd_params_pack() lays it out. */
hd_node *hd_map_param(hd_params *params, const char *prefix, const char *name, int in, int out);

/* A vector [n]. */
hd_node *hd_vector_param(hd_params *params, const char *prefix, const char *name, int n);

#endif
