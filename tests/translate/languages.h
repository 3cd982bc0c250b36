/* languages.h -- a sentence of each of many scripts, with what is hard about them: marks, joiners, no spaces, both directions. */
#ifndef HD_TEST_LANGUAGES_H
#define HD_TEST_LANGUAGES_H

/* clang-format off */ /* it does not come back from these */
static const struct {
    const char *name, *text;
} languages[] = {
    {"German", "Größere Straßen, schönere Häuser!"},
    {"French", "L’été à Noël : « ça va ? » Œuvre naïve."},
    {"Arabic", "اَلسَّلَامُ عَلَيْكُمْ، كيف حالك؟"},
    {"Hindi", "नमस्ते दुनिया, क्षत्रिय ज्ञानी है।"},
    {"Thai", "ฉันรักแมวของฉันที่น้ำตก"},
    {"Japanese", "私は猫が好きです。ﾊﾛｰ、ガギグ㌔！"},
    {"Chinese", "我爱我的猫，你呢？love 你"},
    {"Korean", "나는 고양이를 사랑해요. 한글"},
    {"emoji", "I ❤️ 👨‍👩‍👧‍👦 and 👍🏽 🇫🇷!"},
    {"combining marks", "e\xCC\x81te\xCC\x81 a\xCC\x8Ao\xCC\x88 x\xCC\x82\xCC\x83\xCC\x84y"},
    {"Hebrew", "שָׁלוֹם עוֹלָם, מַה שְׁלוֹמְךָ?"},
    {"Russian", "Я люблю свою кошку — очень!"},
    {"Vietnamese", "Tôi yêu con mèo của tôi."},
    {"Khmer", "ខ្ញុំស្រឡាញ់ឆ្មា"},
    {"ligatures", "ﬁne oﬃce ½ Ⅷ ™ ①"},
    {"odd spaces", "one\xC2\xA0two\xE2\x80\xAFthree\xE3\x80\x80 four  five\tsix"},
    {"right-to-left marks", "\xE2\x80\x8F" "abc\xE2\x80\x8E def\xE2\x80\xAE" "ghi\xE2\x80\xAC"},
    {"control characters", "a\x01" "b \x02 c\x7F" "d"},
    {"a literal space mark", "one ▁two ▁▁ three"},
    {"replacement", "caf\xEF\xBF\xBD \xEF\xBF\xBD"},
};
/* clang-format on */
enum { N_LANGUAGES = sizeof languages / sizeof *languages };

#endif
