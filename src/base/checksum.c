/* checksum.c -- XXH64 with seed 0: four lanes of 8 bytes, so that a core reads as fast as memory gives. */
#include "base/checksum.h"

#include <string.h>

enum { STRIPE = 32 }; /* bytes of four words */

static const uint64_t P1 = UINT64_C(0x9E3779B185EBCA87), P2 = UINT64_C(0xC2B2AE3D27D4EB4F),
                      P3 = UINT64_C(0x165667B19E3779F9), P4 = UINT64_C(0x85EBCA77C2B2AE63),
                      P5 = UINT64_C(0x27D4EB2F165667C5);

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* Little-endian, as all machines are that heed runs on. */
static uint64_t word(const unsigned char *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

static uint64_t half(const unsigned char *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

static uint64_t mix(uint64_t lane, uint64_t x)
{
    return rotate(lane + x * P2, 31) * P1;
}

static void take_stripes(uint64_t lane[4], const unsigned char *p, size_t n)
{
    uint64_t a = lane[0], b = lane[1], c = lane[2], d = lane[3];
    for (size_t i = 0; i < n; i++, p += STRIPE) {
        a = mix(a, word(p));
        b = mix(b, word(p + 8));
        c = mix(c, word(p + 16));
        d = mix(d, word(p + 24));
    }
    lane[0] = a, lane[1] = b, lane[2] = c, lane[3] = d;
}

struct hd_checksum hd_checksum_begin(void)
{
    return (struct hd_checksum){.lane = {P1 + P2, P2, 0, -P1}};
}

void hd_checksum_add(struct hd_checksum *s, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    const size_t held = s->n % STRIPE;
    s->n += n;
    if (held + n < STRIPE) {
        if (n > 0)
            memcpy(s->waiting + held, p, n);
        return;
    }
    if (held > 0) {
        memcpy(s->waiting + held, p, STRIPE - held);
        take_stripes(s->lane, s->waiting, 1);
        p += STRIPE - held;
        n -= STRIPE - held;
    }
    take_stripes(s->lane, p, n / STRIPE);
    memcpy(s->waiting, p + n / STRIPE * STRIPE, n % STRIPE);
}

uint64_t hd_checksum_end(const struct hd_checksum *s)
{
    static const int turns[4] = {1, 7, 12, 18};
    uint64_t h = s->n < STRIPE ? P5 : 0;
    for (int i = 0; s->n >= STRIPE && i < 4; i++)
        h += rotate(s->lane[i], turns[i]);
    for (int i = 0; s->n >= STRIPE && i < 4; i++)
        h = (h ^ mix(0, s->lane[i])) * P1 + P4;
    h += s->n;
    const unsigned char *p = s->waiting;
    size_t left = s->n % STRIPE;
    for (; left >= 8; left -= 8, p += 8)
        h = rotate(h ^ mix(0, word(p)), 27) * P1 + P4;
    if (left >= 4) {
        h = rotate(h ^ half(p) * P1, 23) * P2 + P3;
        left -= 4, p += 4;
    }
    for (; left > 0; left--, p++)
        h = rotate(h ^ *p * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}

uint64_t hd_checksum_of(const void *bytes, size_t n)
{
    struct hd_checksum s = hd_checksum_begin();
    hd_checksum_add(&s, bytes, n);
    return hd_checksum_end(&s);
}
