/* journal.h -- progress of a run, reported to the caller's watch function, to MODEL.log for people and to MODEL.jsonl for programs. */
#ifndef HD_TRAIN_JOURNAL_H
#define HD_TRAIN_JOURNAL_H

#include <heed.h>
#include <jansson.h>
#include <stdio.h>

struct hd_journal {
    FILE *log, *jsonl;
    long log_size, jsonl_size; /* when they were opened */
    bool
        is_silent; /* ranks other than the first report nothing; watch() only decides whether to go on */
    bool (*watch)(void *context, const heed_training_event *event);
    void *context;
    double began;       /* hd_seconds() */
    bool has_lost_line; /* a line could not be written, and the user was told */
    bool wants_to_stop; /* watch() has returned false */
};

/* Open MODEL.log and MODEL.jsonl to append. HEED_BAD_FILE when they cannot be written, or when another run has them. */
bool hd_journal_open(struct hd_journal *journal, const char *stem, heed_error *err);
void hd_journal_close(struct hd_journal *journal);

/* Take out what a run has added that was refused; files that it began are removed. */
void hd_journal_discard(struct hd_journal *journal, const char *stem);

/* Report a sentence to all three. */
void hd_journal_say(struct hd_journal *journal, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Report an event to watch(). `note` (may be NULL; its reference is taken) is written to MODEL.jsonl. False: stop. */
bool hd_journal_tell(struct hd_journal *journal, heed_training_event *event, json_t *note);

/* A line to MODEL.log alone. */
void hd_journal_log(struct hd_journal *journal, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
