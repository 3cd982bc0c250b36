/* sentence_words.h -- words that say whether a full stop ends a sentence: abbreviations, words that sentences begin with. */
#ifndef HD_TEXT_SENTENCE_WORDS_H
#define HD_TEXT_SENTENCE_WORDS_H

#include <stdbool.h>

/* Where a sentence may end after an abbreviation. */
enum hd_abbreviation {
    HD_ABBREVIATION_NONE,   /* not an abbreviation: a word like any other */
    HD_ABBREVIATION_INSIDE, /* never: "Dr.", "e.g." */
    HD_ABBREVIATION_NUMBER, /* not before a number: "No. 7" */
    HD_ABBREVIATION_MAYBE,  /* before a word that sentences begin with: "in the U.S. She" */
    HD_ABBREVIATION_OFTEN,  /* before any capital letter: "etc." */
    HD_ABBREVIATION_UNIT,   /* as MAYBE behind a number, else as INSIDE: Russian "1999 г." */
};

/* Lists to use for a language code ("de", "de-AT"), as a set; all that are safe in every language for NULL or a code
 * that is not known. */
unsigned hd_sentence_language(const char *code);

/* Words are given in lower case without their last full stop ("z.b"). */
enum hd_abbreviation hd_abbreviation_find(const char *word, unsigned languages);

/* Is the word one that often begins a sentence and is hardly ever part of a name: "The", "She"? */
bool hd_word_begins_sentence(const char *word, unsigned languages);

/* German ordinals, "am 3. Oktober": words before them, and words behind them. */
bool hd_word_before_ordinal(const char *word, unsigned languages);
bool hd_word_after_ordinal(const char *word, unsigned languages);

/* "said", "asked": what follows the name of a speaker. */
bool hd_word_is_speech(const char *word);

/* Words before a letter that is no initial: "vitamin C". */
bool hd_word_before_letter(const char *word);

/* Names that end in an exclamation mark: "Yahoo!". */
bool hd_word_has_exclamation(const char *word);

/* Words that begin with a preposition of time: "At 7 a.m. Mr. Price left". */
bool hd_word_is_time_preposition(const char *word);

#endif
