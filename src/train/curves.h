/* curves.h -- the learning curves of a run: kept while it learns, drawn as MODEL.svg. */
#ifndef HD_TRAIN_CURVES_H
#define HD_TRAIN_CURVES_H

#include <heed.h>

/* Points of one line; {0} is none. */
struct hd_points {
    double *x, *y;
    int n;
    size_t x_capacity, y_capacity;
};

struct hd_curves {
    struct hd_points loss, ce,
        score; /* over updates: training loss, dev cross entropy, the validation metric */
    const char *metric;
    bool has_score; /* the metric is another than cross entropy */
    int best;       /* the best point of score, or of ce */
    bool has_told;  /* the user knows that they cannot be drawn */
};

/* Read the points up to this update from MODEL.jsonl; missing ones are no error. */
void hd_curves_read(struct hd_curves *curves, const char *stem, long update);
void hd_curves_release(struct hd_curves *curves);

/* One more point. Without memory it is lost, which harms nothing. */
void hd_points_add(struct hd_points *points, double x, double y);

/* Draw MODEL.svg. */
bool hd_curves_draw(const struct hd_curves *curves, const char *stem, heed_error *err);

#endif
