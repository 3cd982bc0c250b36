/* ragged.c -- rows that know which sentence they belong to.
 *
 * The node is a view: ops that take keys look through it, so their gradients go to the rows themselves; any other op takes it
 * for the rows it stands for. */
#include "graph/ragged.h"

struct ragged {
    hd_node *rows;
    const hd_spans *spans;
};

static void ragged_back(hd_node *y)
{
    float *dx = hd_gradient_of(y->tape, y->in[0]);
    if (dx)
        y->tape->k->add(dx, dx, y->g, (long)y->count);
}

hd_node *hd_ragged(hd_node *x, const hd_spans *spans)
{
    hd_tape *t = hd_home1("hd_ragged", x);
    if (hd_has_failed(t))
        return &t->nil;
    if (hd_n_rows(x) < spans->rows)
        return hd_tape_fail(t, HEED_BAD_SHAPE,
                            "hd_ragged: x %s has %d rows, but the spans reach to row %d",
                            hd_text(x).s, hd_n_rows(x), spans->rows);
    hd_node *y = hd_make_view(t, "hd_ragged", hd_shape_of(x), x->x, ragged_back, x, NULL,
                              sizeof(struct ragged));
    if (!y)
        return &t->nil;
    y->form = HD_FORM_RAGGED;
    *(struct ragged *)y->extra = (struct ragged){x, spans};
    return y;
}

bool hd_find_keys(hd_tape *t, const char *op, const char *name, hd_node *k,
                  struct hd_key_rows *keys)
{
    if (k->form == HD_FORM_RAGGED) {
        const struct ragged *r = k->extra;
        *keys = (struct hd_key_rows){r->rows, r->spans, r->spans->n, r->spans->longest};
        return true;
    }
    *keys = (struct hd_key_rows){k, NULL, k->dim[0], k->dim[1]};
    if (k->n_dims == 3)
        return true;
    hd_tape_fail(t, HEED_BAD_SHAPE,
                 "%s: %s %s is not [B,S,A]; give rows of sentences their spans with hd_ragged()",
                 op, name, hd_text(k).s);
    return false;
}
