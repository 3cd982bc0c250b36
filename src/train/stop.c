/* stop.c -- reading the clock costs about as much as a small op, so only every 16th check does. */
#include "train/stop.h"

#include "base/clock.h"

enum { LOOKS = 16 };                       /* between two looks at the clock */
static const double SECONDS_BETWEEN = 0.1; /* between two questions */

bool hd_stop_is_set(void *stop)
{
    struct hd_stop *s = stop;
    return atomic_load_explicit(&s->is_set, memory_order_relaxed);
}

void hd_stop_ask_now(void *stop)
{
    struct hd_stop *s = stop;
    s->asked = hd_seconds();
    if (s->is_wanted(s->context))
        atomic_store_explicit(&s->is_set, true, memory_order_relaxed);
}

bool hd_stop_ask(void *stop)
{
    struct hd_stop *s = stop;
    if (s->n_looks++ % LOOKS == 0 && hd_seconds() - s->asked >= SECONDS_BETWEEN)
        hd_stop_ask_now(s);
    return hd_stop_is_set(s);
}
