/* grow.c -- a net is taken over into a larger one.
 *
 * Every parameter of the small net is the first columns or the first rows of its namesake. A new hidden unit of a feed-forward layer has
 * weights of its own to read by and zeros to write by; a new layer writes zeros as well, so x + 0 leaves it. A sum that goes on
 * with zeros keeps its bits, which is what must stay true here. */
#include "model/grow.h"

#include "base/error.h"
#include "model/fields.h"

#include <stdio.h>
#include <string.h>

bool hd_config_grows(const struct hd_config *from, const struct hd_config *to)
{
    struct hd_config same = *from;
    same.ffn = to->ffn;
    same.encoder_layers = to->encoder_layers;
    same.decoder_layers = to->decoder_layers;
    const bool is_deeper =
        to->encoder_layers > from->encoder_layers || to->decoder_layers > from->decoder_layers;
    return from->arch == HD_TRANSFORMER && hd_config_is_same(&same, to) && to->ffn >= from->ffn &&
           to->encoder_layers >= from->encoder_layers &&
           to->decoder_layers >= from->decoder_layers &&
           (!is_deeper || from->norm == HD_NORM_PRE) &&
           (to->decoder_layers == from->decoder_layers || from->decoder != HD_DECODER_SSRU) &&
           (is_deeper || to->ffn > from->ffn);
}

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n >= m && memcmp(name + n - m, end, m) == 0;
}

/* What adds to the states of a layer: the rows of these matrices from `first` on become zero. */
static void write_nothing(hd_node *to, int first)
{
    static const char *const writers[] = {".ffn.2.W", ".self.o.W", ".cross.o.W"};
    const char *name = hd_param_name(to);
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (ends_in(name, writers[i]))
            memset(to->x + (size_t)first * (size_t)to->dim[1], 0,
                   (size_t)(to->dim[0] - first) * (size_t)to->dim[1] * sizeof *to->x);
}

/* The corner of `to` that `from` fills. */
static void take_over(hd_node *to, const hd_node *from)
{
    const int rows = from->n_dims == 1 ? 1 : from->dim[0];
    const size_t old = from->count / (size_t)rows;
    const size_t wide = to->n_dims == 1 ? to->count : to->count / (size_t)to->dim[0];
    for (int r = 0; r < rows; r++)
        memcpy(to->x + (size_t)r * wide, from->x + (size_t)r * old, old * sizeof *to->x);
    if (to->n_dims == 2)
        write_nothing(to, from->dim[0]);
}

struct hd_net *hd_net_grown(const struct hd_net *net, const struct hd_config *to, uint64_t seed,
                            heed_error *err)
{
    struct hd_net *grown = hd_net_new(to, err);
    if (!grown)
        return NULL;
    hd_net_init(grown, seed);
    for (int i = 0; i < hd_params_number(grown->params); i++) {
        hd_node *p = hd_params_at(grown->params, i);
        const hd_node *before = hd_params_find(net->params, hd_param_name(p));
        if (before)
            take_over(p, before);
        else if (p->n_dims == 2)
            write_nothing(p, 0);
    }
    hd_params_changed(grown->params);
    return grown;
}
