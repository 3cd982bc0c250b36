/* fields.h -- the fields of a configuration as a table of options: JSON, text, help and checks are made from it. */
#ifndef HD_MODEL_FIELDS_H
#define HD_MODEL_FIELDS_H

#include "model/config.h"
#include "option/option.h"

/* Every field of struct hd_config, ended by {0}. Rows without HEED_OPTION_FACT are for people to choose. */
extern const heed_option hd_config_options[];

/* Is it a field of the kind of model that `config` is? */
bool hd_config_has(const struct hd_config *config, const heed_option *option);

/* The name of a choice's value: hd_config_choice("score", HD_SCORE_DOT).text is "dot". */
struct hd_option_choice hd_config_choice(const char *name, int value);

/* What a configuration is before a preset: also what a field without meaning must have (the window without local attention). */
struct hd_config hd_config_defaults(void);

#endif
