/* detector_train.c -- a detector learned from text, by stochastic gradient descent.
 *
 * A step draws a language, each as often as the others, then a line of it, and of every second line a few words alone. One step of
 * sixteen takes what people say when they meet instead, which texts of sentences hardly have. What is drawn depends on the number of
 * the step, so the same text gives the same bits. */
#include "text/detector.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "base/rng.h"
#include "text/character.h"

#include <math.h>
#include <string.h>

enum {
    MOST_STEPS = 400000, /* for each language; 30 times its lines, */
    LEAST_STEPS = 10000, /* but at least so many */
    TURNS = 30,
    MOST_FEATURES = 2000, /* of a line; the rest is not looked at */
    FEW_WORDS = 4,
};
static const float RATE = 0.5F;

struct learning {
    const struct hd_detector_text *text;
    size_t *lines, first[HD_MOST_LANGUAGES + 1]; /* those of language i: lines[first[i] ..] */
    float *weights;                              /* [HD_DETECTOR_ROWS][languages] */
    uint32_t rows[MOST_FEATURES];                /* of the line at hand */
    int n_rows;
};

/* ---- lines by language ------------------------------------------------------------------------------------------------ */

static bool sort_lines(struct learning *l, heed_error *err)
{
    const struct hd_detector_text *t = l->text;
    size_t n[HD_MOST_LANGUAGES] = {0}, most = 0;
    int language = 0;
    for (size_t i = 0; i < t->n_lines; i++) {
        t->line(t->context, i, &language);
        n[language]++;
    }
    for (int k = 0; k < t->n_languages; k++) {
        if (n[k] == 0)
            return hd_fail(err, HEED_BAD_TEXT, "there is no text of the language %s to know it by",
                           t->languages[k]);
        l->first[k + 1] = most += n[k];
        n[k] = l->first[k];
    }
    l->lines = hd_alloc(t->n_lines, sizeof *l->lines, err);
    for (size_t i = 0; l->lines && i < t->n_lines; i++) {
        t->line(t->context, i, &language);
        l->lines[n[language]++] = i;
    }
    return l->lines != NULL;
}

/* ---- what people say ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *language, *phrases; /* one after the other, between bars */
} everyday[] = {
    {"en", "hi|hello|hey|hi there|good morning|good evening|good night|bye|goodbye|see "
           "you|thanks|thank you|thank "
           "you very much|please|sorry|excuse me|yes|no|ok|okay|welcome|cheers|how are "
           "you|help|stop|happy birthday"},
    {"fr", "salut|bonjour|bonsoir|bonne nuit|coucou|au revoir|à bientôt|à demain|merci|merci "
           "beaucoup|s'il vous "
           "plaît|s'il te plaît|pardon|désolé|excusez-moi|oui|non|d'accord|bienvenue|santé|ça "
           "va|de rien|à "
           "l'aide|allô|joyeux anniversaire"},
    {"de", "hallo|guten tag|guten morgen|guten abend|gute nacht|tschüss|tschüs|auf "
           "wiedersehen|bis bald|bis "
           "morgen|danke|danke schön|vielen "
           "dank|bitte|entschuldigung|verzeihung|ja|nein|willkommen|prost|wie "
           "geht's|servus|moin|hilfe|halt|alles gute zum geburtstag"},
    {"es", "hola|buenos días|buenas tardes|buenas noches|adiós|hasta luego|gracias|muchas "
           "gracias|por favor|perdón|lo "
           "siento|sí|no|vale|bienvenido|salud|qué tal|de nada|ayuda|feliz cumpleaños"},
    {"it",
     "ciao|buongiorno|buonasera|buona notte|arrivederci|a presto|grazie|grazie mille|prego|per "
     "favore|scusi|mi dispiace|sì|no|va bene|benvenuto|salute|come stai|aiuto|buon compleanno"},
    {"pt",
     "olá|oi|bom dia|boa tarde|boa noite|adeus|tchau|até logo|obrigado|obrigada|muito obrigado|por "
     "favor|desculpe|sim|não|bem-vindo|saúde|tudo bem|de nada|socorro|feliz aniversário"},
    {"nl", "hallo|hoi|goedemorgen|goedenavond|goedenacht|dag|doei|tot ziens|bedankt|dank je "
           "wel|alsjeblieft|sorry|ja|"
           "nee|welkom|proost|hoe gaat het|help|gefeliciteerd"},
};
enum { N_EVERYDAY = sizeof everyday / sizeof *everyday };

/* One of a language's phrases; none where there is no list of them. */
static struct hd_text draw_phrase(const char *language, struct hd_rng *rng)
{
    const char *list = NULL;
    for (int i = 0; i < N_EVERYDAY; i++)
        list = strcmp(everyday[i].language, language) == 0 ? everyday[i].phrases : list;
    uint32_t n = 1;
    for (const char *c = list; c && *c; c++)
        n += *c == '|';
    for (uint32_t left = hd_rng_below(rng, n); list && left > 0; left--)
        list = strchr(list, '|') + 1;
    return (struct hd_text){list, list ? strcspn(list, "|") : 0};
}

/* ---- a step -------------------------------------------------------------------------------------------------------------- */

/* One to four of its words, from a random place on. */
static struct hd_text few_words(struct hd_text line, struct hd_rng *rng)
{
    size_t begin = hd_rng_below(rng, (uint32_t)(line.n < UINT32_MAX ? line.n + 1 : UINT32_MAX)),
           length;
    int n_words = 1 + (int)hd_rng_below(rng, FEW_WORDS);
    while (begin > 0 && !hd_char_is_space(hd_char_before(line.at, begin, &length)))
        begin -= length;
    size_t end = hd_skip_space(line.at, line.n, begin);
    for (; end < line.n; end += length)
        if (hd_char_is_space(hd_char_at(line.at, line.n, end, &length)) && --n_words == 0)
            break;
    return (struct hd_text){line.at + begin, end - begin};
}

static void add_feature(void *context, uint32_t row)
{
    struct learning *l = context;
    if (l->n_rows < MOST_FEATURES)
        l->rows[l->n_rows++] = row;
}

/* The gradient of log p(language) is what happened minus what was expected, for each feature. */
static void learn(struct learning *l, struct hd_text text, int language, float rate)
{
    const int n = l->text->n_languages;
    float sum[HD_MOST_LANGUAGES] = {0};
    double p[HD_MOST_LANGUAGES], total = 0;
    l->n_rows = 0;
    hd_detector_features(text.at, text.n, add_feature, l);
    if (l->n_rows == 0)
        return;
    const float by = 1 / sqrtf((float)l->n_rows);
    for (int f = 0; f < l->n_rows; f++)
        for (int k = 0; k < n; k++)
            sum[k] += l->weights[(size_t)l->rows[f] * (size_t)n + (size_t)k];
    float most = sum[0];
    for (int k = 1; k < n; k++)
        most = sum[k] > most ? sum[k] : most;
    for (int k = 0; k < n; k++)
        total += p[k] = hd_real_exp((double)((sum[k] - most) * by));
    for (int k = 0; k < n; k++) {
        const float step = rate * by * ((float)(k == language) - (float)(p[k] / total));
        for (int f = 0; f < l->n_rows; f++)
            l->weights[(size_t)l->rows[f] * (size_t)n + (size_t)k] += step;
    }
}

static void learn_all(struct learning *l)
{
    const struct hd_detector_text *t = l->text;
    size_t steps = LEAST_STEPS;
    for (int k = 0; k < t->n_languages; k++) {
        const size_t n = l->first[k + 1] - l->first[k];
        const size_t wanted = n < MOST_STEPS / TURNS ? n * TURNS : MOST_STEPS;
        steps = wanted > steps ? wanted : steps;
    }
    for (size_t step = 0; step < steps; step++)
        for (int k = 0; k < t->n_languages; k++) {
            struct hd_rng rng = {1, step, (uint64_t)k * 64};
            const size_t n = l->first[k + 1] - l->first[k];
            const size_t i = hd_rng_below(&rng, n < UINT32_MAX ? (uint32_t)n : UINT32_MAX);
            int language = k;
            struct hd_text text = t->line(t->context, l->lines[l->first[k] + i], &language);
            const struct hd_text phrase = hd_rng_below(&rng, 16) == 0
                                              ? draw_phrase(t->languages[k], &rng)
                                              : (struct hd_text){0};
            if (phrase.n > 0)
                text = phrase;
            else if (hd_rng_below(&rng, 2) == 0)
                text = few_words(text, &rng);
            learn(l, text, k, RATE * (1 - (float)step / (float)steps));
        }
}

struct hd_detector *hd_detector_train(const struct hd_detector_text *text, heed_error *err)
{
    if (text->n_languages < 2 || text->n_languages > HD_MOST_LANGUAGES) {
        hd_fail(err, HEED_BAD_OPTION, "languages are told apart among 2 to %d of them, not %d",
                HD_MOST_LANGUAGES, text->n_languages);
        return NULL;
    }
    struct learning l = {.text = text};
    struct hd_detector *detector = NULL;
    l.weights =
        hd_alloc((size_t)HD_DETECTOR_ROWS * (size_t)text->n_languages, sizeof *l.weights, err);
    if (l.weights && sort_lines(&l, err)) {
        learn_all(&l);
        detector = hd_detector_of(text->languages, text->n_languages, l.weights, err);
    }
    hd_free(l.weights);
    hd_free(l.lines);
    return detector;
}
