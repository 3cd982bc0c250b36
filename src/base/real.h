/* real.h -- exp, log and cosine of doubles, the same bits on every machine; floats as text.
 *
 * The C library's differ between systems in the last bit, which is enough to choose another model when a
 * score or a rate depends on it. These are made of IEEE additions, multiplications and divisions alone, in
 * one order; exp and log are within 1 ulp of the true value. */
#ifndef HD_BASE_REAL_H
#define HD_BASE_REAL_H

/* eˣ: infinity when it is too large, 0 when it is too small, NaN of NaN. */
double hd_real_exp(double x);

/* ln x: -infinity of 0, NaN below it and of NaN. */
double hd_real_log(double x);

/* cos πx, exact where it is 0, 1 or -1, and within 2^-52 of the true value elsewhere. |x| < 2^51. */
double hd_real_cos_pi(double x);

/* The shortest decimal number that is this float: 1e-06, not 9.999999974752427e-07. Returns `text`. */
char *hd_real_text(char text[32], float x);

#endif
