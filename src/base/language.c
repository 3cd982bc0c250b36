/* language.c -- what people call languages. */
#include "base/language.h"

#include <string.h>
#include <strings.h>

static const struct known {
    const char *code, *name;
    const char *three; /* its codes of three letters */
} known[] = {
    {"af", "Afrikaans", "afr"},
    {"ar", "Arabic", "ara"},
    {"az", "Azerbaijani", "aze"},
    {"be", "Belarusian", "bel"},
    {"bg", "Bulgarian", "bul"},
    {"bn", "Bengali", "ben"},
    {"bs", "Bosnian", "bos"},
    {"ca", "Catalan", "cat"},
    {"cs", "Czech", "ces cze"},
    {"cy", "Welsh", "cym wel"},
    {"da", "Danish", "dan"},
    {"de", "German", "deu ger"},
    {"el", "Greek", "ell gre"},
    {"en", "English", "eng"},
    {"eo", "Esperanto", "epo"},
    {"es", "Spanish", "spa"},
    {"et", "Estonian", "est"},
    {"eu", "Basque", "eus baq"},
    {"fa", "Persian", "fas per"},
    {"fi", "Finnish", "fin"},
    {"fr", "French", "fra fre"},
    {"ga", "Irish", "gle"},
    {"gl", "Galician", "glg"},
    {"gu", "Gujarati", "guj"},
    {"he", "Hebrew", "heb"},
    {"hi", "Hindi", "hin"},
    {"hr", "Croatian", "hrv"},
    {"hu", "Hungarian", "hun"},
    {"hy", "Armenian", "hye arm"},
    {"id", "Indonesian", "ind"},
    {"is", "Icelandic", "isl ice"},
    {"it", "Italian", "ita"},
    {"ja", "Japanese", "jpn"},
    {"ka", "Georgian", "kat geo"},
    {"kk", "Kazakh", "kaz"},
    {"kn", "Kannada", "kan"},
    {"ko", "Korean", "kor"},
    {"la", "Latin", "lat"},
    {"lt", "Lithuanian", "lit"},
    {"lv", "Latvian", "lav"},
    {"mk", "Macedonian", "mkd mac"},
    {"ml", "Malayalam", "mal"},
    {"mn", "Mongolian", "mon"},
    {"mr", "Marathi", "mar"},
    {"ms", "Malay", "msa may"},
    {"mt", "Maltese", "mlt"},
    {"nb", "Norwegian", "nob"},
    {"nl", "Dutch", "nld dut"},
    {"no", "Norwegian", "nor"},
    {"pa", "Punjabi", "pan"},
    {"pl", "Polish", "pol"},
    {"pt", "Portuguese", "por"},
    {"pt-BR", "Portuguese (Brazil)", ""},
    {"ro", "Romanian", "ron rum"},
    {"ru", "Russian", "rus"},
    {"sk", "Slovak", "slk slo"},
    {"sl", "Slovenian", "slv"},
    {"sq", "Albanian", "sqi alb"},
    {"sr", "Serbian", "srp"},
    {"sv", "Swedish", "swe"},
    {"sw", "Swahili", "swa"},
    {"ta", "Tamil", "tam"},
    {"te", "Telugu", "tel"},
    {"th", "Thai", "tha"},
    {"tl", "Tagalog", "tgl"},
    {"tr", "Turkish", "tur"},
    {"uk", "Ukrainian", "ukr"},
    {"ur", "Urdu", "urd"},
    {"uz", "Uzbek", "uzb"},
    {"vi", "Vietnamese", "vie"},
    {"zh", "Chinese", "zho chi"},
    {"zh-Hans", "Chinese", ""},
    {"zh-Hant", "Chinese (traditional)", ""},
};

const char *hd_language_name(const char *code)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(known[i].code, code) == 0)
            return known[i].name;
    return code;
}

/* Are the first bytes of a text this word, with nothing behind it but a region, as in en-US and English (US)? */
static bool begins_as(const char *text, size_t n, const char *word, size_t n_word)
{
    if (n < n_word || strncasecmp(text, word, n_word) != 0)
        return false;
    return n == n_word ||
           (n_word <= 3 && n - n_word <= 5 && n - n_word > 2 &&
            (text[n_word] == '-' || text[n_word] == '_')) ||
           (n - n_word > 3 && text[n_word] == ' ' && text[n_word + 1] == '(' && text[n - 1] == ')');
}

static bool names(const char *text, size_t n, const struct known *k)
{
    const size_t n_three = strlen(k->three);
    return begins_as(text, n, k->code, strlen(k->code)) ||
           begins_as(text, n, k->name, strlen(k->name)) ||
           (n_three >= 3 && begins_as(text, n, k->three, 3)) ||
           (n_three == 7 && begins_as(text, n, k->three + 4, 3));
}

bool hd_language_is_known(const char *text, size_t n)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (names(text, n, &known[i]))
            return true;
    return false;
}

bool hd_language_is(const char *text, size_t n, const char *wanted)
{
    const size_t n_wanted = strlen(wanted);
    if (hd_language_fits(text, n, wanted))
        return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (names(text, n, &known[i]) && names(wanted, n_wanted, &known[i]))
            return true;
    return false;
}

bool hd_language_fits(const char *language, size_t n, const char *wanted)
{
    const size_t n_wanted = strlen(wanted);
    for (size_t i = 0; i < n_wanted; i++) {
        const char a = i < n && language[i] == '-' ? '_' : i < n ? language[i] : '\0';
        if (strncasecmp(&a, &wanted[i], 1) != 0)
            return false;
    }
    return n == n_wanted || language[n_wanted] == '-' || language[n_wanted] == '_';
}
