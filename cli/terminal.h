/* output.h -- what the program says: results to stdout, everything else to stderr, colours for
 * people only. */
#ifndef HEED_CLI_OUTPUT_H
#define HEED_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <heed_draw.h>

/* "heed: " and a sentence, to stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A heading of a help text, bold on a terminal. */
void print_heading(FILE *out, const char *text);

/* `text` in lines of at most 80 columns, the first of which starts at column `at`, the others
 * after `indent` spaces. */
void print_wrapped(FILE *out, const char *text, int at, int indent);

/* How attention can be shown on `out`: as wide as COLUMNS or the terminal says (80 where neither
 * does), in colours if it is a terminal that has 256 of them and NO_COLOR is not set. */
heed_text_options text_options(FILE *out);

/* A string with its quotes and escapes, as JSON wants it. */
void print_json_string(FILE *out, const char *text);

/* Is everything printed really out? Complains if not: a full disk, a closed pipe. */
bool flush_stdout(void);

/* Zeroed memory, or the end of the program with a sentence. */
void *need_memory(size_t count, size_t size);

#endif
