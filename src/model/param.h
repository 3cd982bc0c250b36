/* param.h -- parameters of a model, declared as "prefix.name". */
#ifndef HD_MODEL_PARAM_H
#define HD_MODEL_PARAM_H

#include <heed_graph.h>

/* The matrix [in,out] of a linear map. A search multiplies with it, so hd_params_pack() lays it out. */
hd_node *hd_map_param(hd_params *params, const char *prefix, const char *name, int in, int out);

/* A table [rows,width] whose rows are looked up, and with which tied output layers multiply. */
hd_node *hd_table_param(hd_params *params, const char *name, int rows, int width);

/* A vector [n]. */
hd_node *hd_vector_param(hd_params *params, const char *prefix, const char *name, int n);

/* Layer norm of what a map makes: gain ∘ (x - mean) / √(variance + eps) + bias. A zeroed one leaves x as it is. */
struct hd_map_norm {
    hd_node *gain, *bias;
    float eps;
};
struct hd_map_norm hd_norm_param(hd_params *params, const char *prefix, const char *name, int n,
                                 float eps);
void hd_norm_init(const struct hd_map_norm *norm);
hd_node *hd_normed(const struct hd_map_norm *norm, hd_node *x);

#endif
