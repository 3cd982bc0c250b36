/* print_result.h -- results of translating and aligning as lines of text and of JSON. */
#ifndef HEED_CLI_PRINT_RESULT_H
#define HEED_CLI_PRINT_RESULT_H

#include <heed.h>
#include <stdbool.h>
#include <stdio.h>

/* "0-0 1-2" */
void print_links(FILE *out, const heed_link *links, size_t n);

/* Marian's format: for each target word, and the end marker, weights over source words and the end marker,
 * "0.9,0.1,0 0,0.8,0.2". On subwords if so wanted. */
void print_soft(FILE *out, const heed_result *result, const heed_translation *translation,
                bool has_subwords);

/* One line of JSON to stdout. False, with the complaint printed. */
bool print_result_json(const heed_result *result);

/* "heed: FILE:12: ..." for each. */
void print_warnings(const heed_result *result, const char *name, size_t line);

/* But those that begin in this way; NULL: none. */
void print_warnings_but(const heed_result *r, const char *but, const char *name, size_t line);
#endif
