/* gold.h -- links that people made, and how near others come to them. */
#ifndef HEED_CLI_GOLD_H
#define HEED_CLI_GOLD_H

#include <heed.h>

/* Count the links of a sentence against a line of the gold file, 'i-j' sure and 'ipj' possible, from 1. False, with the complaint printed. */
bool judge_links(heed_alignment_quality *quality, const heed_link *links, size_t n,
                 const char *gold, const char *path, size_t number);

void print_quality(const heed_alignment_quality *q, bool is_json);

#endif
