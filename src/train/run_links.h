/* run_links.h -- the links that guide a run's attention: read from files, or found by our own aligner. */
#ifndef HD_TRAIN_RUN_LINKS_H
#define HD_TRAIN_RUN_LINKS_H

#include "train/run.h"

/* Links of every pair of the text into run->links, where guided-alignment asks for them; run->fingerprint knows them afterwards.
 * False with the reason in `err`: HEED_BAD_FILE, HEED_BAD_TEXT (no link, a word that a pair does not have, wrong numbers of lines, with file
 * and line), HEED_BAD_OPTION, HEED_CANCELLED, HEED_NO_MEMORY. */
bool hd_run_read_links(struct hd_run *run, heed_error *err);

#endif
