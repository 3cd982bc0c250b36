/* option.h -- named settings: a table of rows fills the fields of a struct, from text and back to text.
 *
 * heed.h has the rows and what programs do with them; here is what the library's own rooms need besides. Option tables of
 * models, training and translating, command lines, files of settings and JSON all go through this one engine, so that a
 * wrong name or value is answered in the same words everywhere. */
#ifndef HD_OPTION_OPTION_H
#define HD_OPTION_OPTION_H

#include <heed.h>

enum { HD_OPTION_OPEN = -1 }; /* what a field of an HEED_OPTION_AUTO row holds until it is chosen */

/* Set a field from a value that is no text: JSON's. `given` is how an error quotes the value. */
bool hd_option_put_whole(const heed_option *option, void *values, long long n, const char *given,
                         heed_error *err);
bool hd_option_put_number(const heed_option *option, void *values, double x, const char *given,
                          heed_error *err);
void hd_option_put_bool(const heed_option *option, void *values, bool is_yes);

/* "rate must be a number from 0 to 1, not GIVEN"; `given` is quoted already where it is text. */
bool hd_option_refuse_given(const heed_option *option, const char *given, heed_error *err);

/* Is the field of an HEED_OPTION_AUTO row still open? */
bool hd_option_is_open(const heed_option *option, const void *values);

/* Could what is in the field have been typed? For structs that were filled in by hand. */
bool hd_option_is_valid(const heed_option *option, const void *values);

/* Two names are the same when they differ in dashes and underscores only. */
bool hd_option_same_name(const char *a, const char *b);

/* What it takes, for sentences: "a whole number from 1 to 64", "yes or no", "rnn, gru or lstm". */
struct hd_option_range {
    char text[256];
};
struct hd_option_range hd_option_range(const heed_option *option);

/* The i-th of an option's choices, "" when there are fewer; and which of them `text` is, -1 for none. */
struct hd_option_choice {
    char text[32];
};
struct hd_option_choice hd_option_choice(const heed_option *option, int i);
int hd_option_choice_index(const heed_option *option, const char *text);

/* A decimal number and nothing else, whatever the locale. */
bool hd_option_read_number(const char *text, double *x);

#endif
