/* sentence_words.c -- the lists, as text: words between spaces, in lower case, looked up with the spaces around them.
 *
 * A row belongs to languages. Without a language, all rows hold but those that would be wrong elsewhere (Italian "on." is
 * "onorevole", English "on." is the end of a sentence). */
#include "text/sentence_words.h"

#include <stddef.h>
#include <string.h>

enum {
    EN = 1 << 0,
    DE = 1 << 1,
    FR = 1 << 2,
    ES = 1 << 3,
    IT = 1 << 4,
    RU = 1 << 5,
    AR = 1 << 6,
    HI = 1 << 7,
    VI = 1 << 8,
    EL = 1 << 9,
    HE = 1 << 10,
    OTHER = 1 << 11, /* languages that have spaces and marks, but no list */
    ALL = (1 << 12) - 1,
    NOT_SHARED = 1 << 12, /* a row that holds only when its language is known */
};

static const struct {
    const char *code;
    unsigned languages;
} codes[] = {
    {"en", EN}, {"de", DE},    {"fr", FR},    {"es", ES},    {"it", IT},
    {"ru", RU}, {"ar", AR},    {"hi", HI},    {"vi", VI},    {"el", EL},
    {"he", HE}, {"ja", OTHER}, {"zh", OTHER}, {"ko", OTHER}, {"th", OTHER},
};

unsigned hd_sentence_language(const char *code)
{
    for (size_t i = 0; code && i < sizeof codes / sizeof *codes; i++)
        if (strncmp(code, codes[i].code, 2) == 0 &&
            (code[2] == '\0' || code[2] == '-' || code[2] == '_'))
            return codes[i].languages | NOT_SHARED;
    return ALL;
}

struct row {
    unsigned languages;
    enum hd_abbreviation kind;
    const char *words;
};

/* clang-format off */
static const struct row abbreviations[] = {
    /* Latin, and titles that many languages share. Single capital letters are initials in any case. */
    {ALL, HD_ABBREVIATION_INSIDE, " dr prof e.g i.e cf viz vs ing dipl p.s gen col maj sgt lt cmdr capt adm resp ibid op.cit "},
    {ALL, HD_ABBREVIATION_NUMBER, " pp no nos nr vol fig tab art ch chap sec sect op ca approx § §§ tel max min "},
    {ALL, HD_ABBREVIATION_OFTEN, " etc "},
    {ALL, HD_ABBREVIATION_MAYBE, " al inc corp ltd co llc plc jr sr bros u.s u.s.a u.k u.n d.c e.u a.m p.m a.d b.c b.c.e c.e esq ph.d m.d b.a m.a b.sc m.sc "},

    {EN, HD_ABBREVIATION_INSIDE, " mr mrs ms messrs mx rev hon pres gov sen rep supt insp mt ft fr cpl pvt brig gens profs drs revs univ dept mgr asst assn natl govt attn esp incl excl c.f n.b "},
    {EN, HD_ABBREVIATION_MAYBE, " st ave blvd rd ln hwy sq est jan feb apr jun jul aug sept oct nov dec tues thurs fla calif mich minn "},
    {EN, HD_ABBREVIATION_NUMBER, " eq eqs figs vols arts paras cl ex par ver ed eds "},

    {DE, HD_ABBREVIATION_INSIDE, " hr hrn fr frl z.b d.h u.a i.d.r z.t v.a o.ä u.u i.a i.v s.o s.u m.e u.e d.i z.zt zzt bzw bspw vgl evtl ggf inkl exkl zzgl abzgl sog einschl insb insbes med jur rer nat h.c geb gest ehem verh ev kath österr dt frz engl amerik dtsch allg betr ges jew lfd mögl stellv südl nördl östl westl urspr "},
    {DE | NOT_SHARED, HD_ABBREVIATION_INSIDE, " phil gem mind bes erg "},
    {DE, HD_ABBREVIATION_NUMBER, " bd bde kap abb abs abschn anm aufl zif ziff str pos rn "},
    {DE, HD_ABBREVIATION_OFTEN, " usw usf u.v.m u.ä u.s.w u.dgl dgl ff "},
    {DE, HD_ABBREVIATION_MAYBE, " chr n.chr v.chr mio mrd tsd mär okt dez std sek "},

    {FR, HD_ABBREVIATION_INSIDE, " mm mme mmes mlle mlles mgr c.-à-d c.à.d p.ex av apr env ste dép éd réf tél boul "},
    {FR | NOT_SHARED, HD_ABBREVIATION_INSIDE, " me ex st "},
    {FR, HD_ABBREVIATION_NUMBER, " fasc "},
    {FR, HD_ABBREVIATION_MAYBE, " j.-c s.a s.a.r.l janv févr avr juil déc "},

    {ES, HD_ABBREVIATION_INSIDE, " sra srta sres sras dra ud uds vd vds p.ej p.e ee profa lic arq gral cnel avda izq dcha dpto "},
    {ES | NOT_SHARED, HD_ABBREVIATION_INSIDE, " sr "},
    {ES, HD_ABBREVIATION_NUMBER, " pág págs núm núms cap "},
    {ES, HD_ABBREVIATION_MAYBE, " uu ee.uu a.c d.c cía "},

    {IT, HD_ABBREVIATION_INSIDE, " sig sigg sig.ra sig.na dott dott.ssa prof.ssa avv geom on.le spett egr p.es "},
    {IT | NOT_SHARED, HD_ABBREVIATION_INSIDE, " on es arch rag gent "},
    {IT, HD_ABBREVIATION_NUMBER, " pag pagg cap "},
    {IT, HD_ABBREVIATION_OFTEN, " ecc "},
    {IT, HD_ABBREVIATION_MAYBE, " s.p.a s.r.l "},

    {RU, HD_ABBREVIATION_INSIDE, " т.е т.к т.н т.о напр см ср им проф акад доц ул пр пер просп наб пл корп кв обл р-н пос дер ст гр гос св инж канд докт зам зав в.т.ч г-н г-жа тов "},
    {RU, HD_ABBREVIATION_NUMBER, " стр рис табл гл разд илл "},
    {RU, HD_ABBREVIATION_OFTEN, " т.д т.п др "},
    {RU, HD_ABBREVIATION_UNIT, " г гг в вв "},
    {RU, HD_ABBREVIATION_MAYBE, " руб коп тыс млн млрд н.э чел экз "},

    {AR, HD_ABBREVIATION_INSIDE, " أ.د ود وأ "},
    {AR, HD_ABBREVIATION_MAYBE, " ق.م هـ "},
    {HI, HD_ABBREVIATION_INSIDE, " डॉ डा प्रो श्री श्रीमती कु पं मि सुश्री ई.पू रु सं पृ क्र आर के एस एम एन ए बी सी डी पी टी एल जे वी एच "},
    {VI, HD_ABBREVIATION_INSIDE, " tp ths ts gs pgs bs ks tx "},
    {VI, HD_ABBREVIATION_OFTEN, " v.v "},
    {EL, HD_ABBREVIATION_INSIDE, " κα κος δρ π.χ δηλ βλ αρ σελ καθ αγ λεωφ "},
    {EL, HD_ABBREVIATION_OFTEN, " κ.λπ κλπ κ.ά κ.τ.λ κτλ "},
    {EL, HD_ABBREVIATION_MAYBE, " π.μ μ.μ π.χρ μ.χρ "},
};

static const struct row starters[] = {
    {EN, 0, " the a an i he she it we you they this that these those there then here his her its our their my your in on at by for from with without after before during since until when while where why how what who which whose if because although though however but and or so yet still also thus hence therefore meanwhile later soon now today yesterday tomorrow once sometimes often never always maybe perhaps please thank thanks yes no not nobody nothing everyone everything somebody someone all some many most both each every another other such let's let is are was were do does did can could will would should may might must have has had as to of it's that's he's she's i'm i've i'll we're they're you're don't one two three several few "},
    {DE, 0, " der die das ein eine einer eines er sie es wir ihr ich du man dieser diese dieses jener jene in im am an auf aus bei mit nach von vor zu zum zur für gegen ohne um durch seit während wegen trotz wenn als ob weil da dann danach dort hier heute gestern morgen jetzt nun später bald doch aber und oder denn so auch noch schon nur wer was wo wie warum wann welche welcher kein keine alle viele einige manche mehr sein seine ihre mein meine unser unsere bitte danke ja nein nicht niemand alles etwas jeder jede dabei dazu dafür damit daher deshalb trotzdem außerdem jedoch allerdings schließlich zuerst zunächst beide greifen fragen "},
    {FR, 0, " le la les un une des du de il elle ils elles on nous vous je tu ce cet cette ces c'est j'ai ça cela celui celle mon ma mes son sa ses notre votre leur leurs mais et ou donc or ni car puis ensuite alors après avant pendant depuis quand lorsque si comme où comment pourquoi qui que quoi quel quelle en dans sur sous avec sans pour par chez aujourd'hui hier demain maintenant ici là oui non merci rien personne tout tous toutes chaque plusieurs quelques "},
    {ES, 0, " el la los las un una unos unas él ella ellos ellas yo tú usted ustedes nosotros este esta estos estas ese esa eso esto aquel mi tu su sus pero y o ni pues entonces luego después antes durante desde cuando si como donde dónde cómo por para con sin en de qué quién cuál hoy ayer mañana ahora aquí allí sí no gracias nada nadie todo todos cada algunos muchos le les se me nos hay "},
    {IT, 0, " il lo la i gli le un una uno lui lei loro io tu noi voi questo questa questi queste quello quella ma e o poi allora dopo prima durante da quando se come dove perché chi che cosa in su con senza per di oggi ieri domani ora adesso qui là sì no grazie niente nessuno tutto tutti ogni alcuni molti c'è "},
    {RU, 0, " он она оно они мы вы я ты это этот эта эти тот та те его её их мой моя наш ваш но а и или да нет в на по с к у о об от до из за под при для без через после перед затем потом тогда теперь сейчас там здесь тут где когда если как что кто почему зачем какой все всё всех каждый многие некоторые никто ничего сегодня вчера завтра также однако поэтому деньги "},
    {EL, 0, " ο η το οι τα ένας μία μια ένα αυτός αυτή αυτό αλλά και στο στη στον στην με για από αν όταν πού πώς τι ποιος "},
    {VI, 0, " tôi bạn anh chị em ông bà nó chúng họ đây đó này và nhưng nếu khi tại ở trong trên với cho từ sau trước bây hôm ngày tiền "},
};

static const char ordinal_before[] =
    " der die das dem den des am im vom zum zur ab bis seit ein eine einen einem einer sein seine seinen seinem ihr ihre ihren ihrem mein meine meinen meinem unser unsere unseren unserem dein deine jeden jede jeder dieser diese dieses diesem jeweils und oder - – ";
static const char ordinal_after[] =
    " januar jänner februar märz april mai juni juli august september oktober november dezember "
    "jan feb apr jun jul aug sept okt nov dez jahrhundert jahrhunderts jh jhd jahrtausend jahrtausends "
    "weltkrieg weltkriegs weltkrieges ";
static const char speech[] =
    " said says asked asks cried cries shouted shouts replied replies answered answers whispered "
    "yelled screamed exclaimed added muttered called laughed thought wrote explained demanded ";
static const char before_letter[] =
    " is was vitamin plan grade type class section part group team point appendix hepatitis option figure "
    "exhibit schedule category level model unit block gate terminal platform building room ";
static const char exclamations[] = " yahoo jeopardy joomla oklahoma mamma.mia panic.at ";
static const char time_prepositions[] = " at by around before after until from since about on ";
/* clang-format on */

enum { LONGEST_WORD = 40 };

static bool has_word(const char *words, const char *word)
{
    char padded[LONGEST_WORD + 3];
    const size_t n = strlen(word);
    if (n == 0 || n > LONGEST_WORD || strchr(word, ' '))
        return false;
    padded[0] = padded[n + 1] = ' ';
    memcpy(padded + 1, word, n);
    padded[n + 2] = '\0';
    return strstr(words, padded) != NULL;
}

/* Does a row hold for these languages? */
static bool holds(const struct row *row, unsigned languages)
{
    return (row->languages & languages & ALL) &&
           (!(row->languages & NOT_SHARED) || (languages & NOT_SHARED));
}

enum hd_abbreviation hd_abbreviation_find(const char *word, unsigned languages)
{
    /* A language's own rows come after those of all, and say more. */
    for (size_t i = sizeof abbreviations / sizeof *abbreviations; i-- > 0;)
        if (holds(&abbreviations[i], languages) && has_word(abbreviations[i].words, word))
            return abbreviations[i].kind;
    const size_t n = strlen(word);
    const bool is_street = (languages & DE) && n > 4 && strcmp(word + n - 3, "str") == 0;
    return is_street ? HD_ABBREVIATION_NUMBER : HD_ABBREVIATION_NONE;
}

bool hd_word_begins_sentence(const char *word, unsigned languages)
{
    for (size_t i = 0; i < sizeof starters / sizeof *starters; i++)
        if (holds(&starters[i], languages) && has_word(starters[i].words, word))
            return true;
    return false;
}

bool hd_word_before_ordinal(const char *word, unsigned languages)
{
    return (languages & DE) && has_word(ordinal_before, word);
}

bool hd_word_after_ordinal(const char *word, unsigned languages)
{
    return (languages & DE) && has_word(ordinal_after, word);
}

bool hd_word_is_speech(const char *word)
{
    return has_word(speech, word);
}

bool hd_word_before_letter(const char *word)
{
    return has_word(before_letter, word);
}

bool hd_word_has_exclamation(const char *word)
{
    return has_word(exclamations, word);
}

bool hd_word_is_time_preposition(const char *word)
{
    return has_word(time_prepositions, word);
}
