/* model_size.c -- numbers and names of a model, for programs. */
#include "model/model_file.h"

#include "model/fields.h"

#include <pthread.h>
#include <stdlib.h>

enum { TRAINED_LENGTH = 200 }; /* where a model does not say */

static bool is_transformer(const heed_model *m)
{
    return m->net->config.arch == HD_TRANSFORMER;
}

const char *heed_model_source(const heed_model *m)
{
    static const char *const names[] = {
        [HD_SOURCE_TEXT] = "text", [HD_SOURCE_VECTORS] = "vectors", [HD_SOURCE_NONE] = "none"};
    return m ? names[m->net->config.source] : "text";
}

bool heed_model_has_attention(const heed_model *m)
{
    return m && hd_config_has_encoder(&m->net->config) &&
           (is_transformer(m) || m->net->config.score != HD_SCORE_NONE);
}

/* Names of architectures and tasks, which the choices of an option have in one string. */
static struct hd_option_choice names[HD_TRANSFORMER + 1], tasks[HD_TASK_LANGUAGE_MODEL + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_names(void)
{
    for (int i = 0; i <= HD_TASK_LANGUAGE_MODEL; i++)
        tasks[i] = hd_config_choice("task", i);
    for (int i = 0; i <= HD_TRANSFORMER; i++)
        names[i] = hd_config_choice("arch", i);
}

const char *heed_model_architecture(const heed_model *m)
{
    pthread_once(&once, fill_names);
    return m ? names[m->net->config.arch].text : NULL;
}

const char *heed_model_task(const heed_model *m)
{
    pthread_once(&once, fill_names);
    return m ? tasks[m->net->config.task].text : NULL;
}

/* The longest source it was trained for, in subwords. */
static long long trained_length(const heed_model *m)
{
    const struct hd_config *c = &m->net->config;
    const json_t *told = json_object_get(json_object_get(m->record, "recipe"), "max-length");
    long most = json_is_string(told) ? strtol(json_string_value(told), NULL, 10) : TRAINED_LENGTH;
    if (is_transformer(m) && c->positions == HD_POSITIONS_LEARNED && c->max_positions - 1 < most)
        most = c->max_positions - 1; /* the end marker wants one */
    if (!is_transformer(m) && c->score == HD_SCORE_LOCATION && c->max_source - 1 < most)
        most = c->max_source - 1;
    return most > 1 ? most : 1;
}

static long long heads(const heed_model *m)
{
    const struct hd_config *c = &m->net->config;
    if (!heed_model_has_attention(m))
        return is_transformer(m) ? c->heads : 0;
    if (!hd_config_has_decoder(c)) /* one query asks */
        return c->score == HD_SCORE_MULTI_HEAD && c->task == HD_TASK_LABEL ? c->heads : 1;
    return is_transformer(m) || c->score == HD_SCORE_MULTI_HEAD ? c->heads : 1;
}

static long long parameters(const heed_model *m)
{
    long long n = 0;
    for (int i = 0; i < hd_params_number(m->net->params); i++)
        n += (long long)hd_count(hd_params_at(m->net->params, i));
    return n;
}

long long heed_model_size(const heed_model *m, enum heed_size size)
{
    if (!m)
        return -1;
    const struct hd_config *c = &m->net->config;
    switch (size) {
    case HEED_MODEL_PARAMETERS:
        return parameters(m);
    case HEED_MODEL_SOURCE_VOCAB:
        return c->source_vocab;
    case HEED_MODEL_TARGET_VOCAB:
        return c->target_vocab;
    case HEED_MODEL_ENCODER_LAYERS:
        return hd_config_has_encoder(c) ? c->encoder_layers : 0;
    case HEED_MODEL_DECODER_LAYERS:
        return hd_config_has_decoder(c) ? c->decoder_layers : 0;
    case HEED_MODEL_TRAINED_LENGTH:
        return trained_length(m);
    case HEED_MODEL_HEADS:
        return heads(m);
    case HEED_MODEL_CROSS_LAYERS:
        return is_transformer(m) && hd_config_has_encoder(c) && hd_config_has_decoder(c)
                   ? c->decoder_layers
                   : heed_model_has_attention(m);
    case HEED_MODEL_ENCODER_SELF_LAYERS:
        return is_transformer(m) && hd_config_has_encoder(c) ? c->encoder_layers : 0;
    case HEED_MODEL_DECODER_SELF_LAYERS:
        return hd_config_has_decoder_attention(c) ? c->decoder_layers : 0;
    }
    return -1;
}
