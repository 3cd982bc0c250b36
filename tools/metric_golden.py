#!/usr/bin/env python3
"""Golden values of the metrics: short texts of many languages and odd characters, and what sacreBLEU makes of them.

Needs Python 3 with sacrebleu (PyPI's):

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install sacrebleu==2.6.0
    /tmp/venv/bin/python tools/metric_golden.py

writes tests/text/metric_expected.h: how each of LINES is cut into words by every tokeniser, and the scores of each of TEXTS.
Word error rate and exact match are not sacreBLEU's; here they are computed in the plainest way.
"""
import pathlib

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

HEADER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "text" / "metric_expected.h"
TOKENISERS = ["13a", "none", "char", "intl", "zh"]

# Each is cut by every tokeniser, in lower case too.
LINES = [
    "",
    " ",
    "word",
    "Two words",
    "  spaces   everywhere\tand a tab  ",
    "A sentence, with a comma; a colon: and the end.",
    "Is it? Yes! (At least \"some\" of it [or {all}].)",
    "It's the dogs' bone, isn't it?",
    "1,000.50 and 3.14, then .5 and 5. or ,5 and 5,",
    "1999-2000, pages 3-4, A-4, 4-A, -5, 5-, x-y-z, 1--2",
    "v1.2.3, 10.000,00 EUR, 12:30, 50%, $5, #1, a/b, 1/2",
    "...",
    "wait... what.. no., yes,. so.,",
    ".,.,",
    ". start and end .",
    ".5",
    " .5",
    "2020.",
    "&quot;quoted&quot; &amp;amp; &lt;b&gt; &amp;lt; &amp;quot; &apos; &Amp; &quot &;",
    "a<skipped>b <skipped> <skip<skipped>ped> &am<skipped>p; <SKIPPED>",
    "user@example.com http://example.com/a?b=c&d=e#f C++ a*b a^b a_b ~x `y` \\z |w|",
    "-\ninner-\nline ends\nhere",
    "Größe, STRASSE, Straße, ẞ: „Ärger“ – so‚ na ja‘ …",
    "« Où est l’œuvre ? » demanda-t-il ; c’était à 9 h 30, l'été.",
    "¿Dónde está el niño? ¡Allí! 3.º, 2.ª, nº 5",
    "Zażółć gęślą jaźń; ČÁST ŘÍZENÍ, ŐŰ.",
    "Это — «кавычки», а это №5 и 3,5 °C.",
    "ΟΔΥΣΣΕΥΣ, ΟΔΟΣ. ΣΑΣ Σ ΑΣ' ΑΣ'Α Α.Σ. ΣΣ 1Σ Α\u0301Σ\u0301 ªΣ ⓐΣ ⅷΣ",
    "İstanbul'da IĞDIR, ışık, DİL",
    "Ǆungla ǅ ǆ ﬁ ﬂ Ω Å K",
    "مرحبا، كيف حالك؟ ١٢٣٫٥ و ٤٬٠٠٠؛ نعم.",
    "नमस्ते, आप कैसे हैं? मैं ठीक हूँ। १२.५ प्रतिशत",
    "สวัสดีครับ ราคา ๑๒.๕๐ บาท ฯลฯ ๆ",
    "日本語の文です。「はい」、と言った！ｶﾀｶﾅ１２３ＡＢＣ・ー",
    "我有3.5个苹果，你有2,000个“梨”……对吗？A型—B型",
    "𠀀𪛖 㐀䶵 龥龦龻龼 豈﨎 ⺀⼀⿰ ㄅㆠ ︐︰ ㈠㌀",
    "한국어 문장, 입니다. 3.5%",
    "😀 👍🏽 👨‍👩‍👧 🇩🇪 ❤️ ☃ ✓ → ∑ ≤ € £ ¥ © ™ ½ ² Ⅳ ①",
    "e\u0301 é n\u0303 ạ̈ Z͑ͫ̓ a\u200bb a\u200dc a\u00adb \ufeffx",
    "no\u00a0break thin\u2009space ideographic\u3000space line\u2028sep next\u0085line unit\u001fsep a\u180eb",
    "bell\u0007 tab\tvt\u000bff\u000ccr\rend\r",
    "ZWNJ می\u200cخواهم، \u200fright\u200e-to-left \u202bmark\u202c",
    "~!@#$%^&*()_+{}|:\"<>?`-=[]\\;',./",
    "'' `` \"\" ‘’ “” ‹› «» ‚‘ „“ ''",
    "a.b a,b a-b 1.a a.1 1,a a,1 1-a a-1 .a 1. ,1",
    "( a ) (a) ((a)) (a). \"a\", a.) !a a! !a!",
    "x" * 70 + ".",
]

# Name, hypotheses, references; a reference may be a list of several.
TEXTS = {
    "english": [
        ("The cat sat on the mat.", "The cat is sitting on the mat."),
        ("There is a cat on the mat, isn't there?", "There's a cat on the mat, isn't there?"),
        ("He paid $1,000.50 for 3-4 apples.", "He paid $1,000.50 for three or four apples."),
        ("She said: \"I will come tomorrow.\"", "She said, \"I'll come tomorrow.\""),
    ],
    "german": [
        ("Der Hund läuft über die Straße.", "Der Hund rennt über die Straße."),
        ("Das Haus ist größer als meins, oder?", "Das Haus ist größer als meines, oder nicht?"),
        ("Am 3. Oktober 1990 um 12:30 Uhr", "Am 3.10.1990 um 12.30 Uhr"),
        ("„Ärger“ sagte er – und ging.", "„Ärger!“, sagte er und ging."),
    ],
    "french": [
        ("Où est l’école ? Elle est là-bas.", "Où est l'école? Elle est là-bas."),
        ("« Bonjour », dit-il en souriant.", "« Bonjour ! » dit-il avec un sourire."),
        ("Il a acheté 2,5 kg de pommes à 3 €.", "Il a acheté 2,5 kg de pommes pour 3 €."),
    ],
    "russian": [
        ("Кошка сидит на ковре.", "Кошка сидела на ковре."),
        ("Он сказал: «Я приду завтра».", "Он сказал, что придёт завтра."),
        ("Температура была 3,5 градуса.", "Температура — 3,5 °C."),
    ],
    "arabic": [
        ("القط يجلس على السجادة.", "القط جالس على السجادة."),
        ("كيف حالك؟ أنا بخير، شكرا.", "كيف حالك؟ أنا بخير، شكراً لك."),
        ("السعر ١٢٣٫٥ دينار", "السعر هو ١٢٣٫٥ ديناراً"),
    ],
    "hindi": [
        ("बिल्ली चटाई पर बैठी है।", "बिल्ली चटाई पर बैठी हुई है।"),
        ("आप कैसे हैं? मैं ठीक हूँ।", "आप कैसे हो? मैं ठीक हूं।"),
    ],
    "thai": [
        ("แมวนั่งอยู่บนเสื่อ", "แมวกำลังนั่งบนเสื่อ"),
        ("ราคา 12.50 บาท", "ราคาคือ ๑๒.๕๐ บาท"),
    ],
    "japanese": [
        ("猫はマットの上に座っています。", "猫がマットの上に座っている。"),
        ("「はい」と彼は言った。", "「はい」、と彼は言いました。"),
        ("価格は１２３円です！", "価格は123円です!"),
    ],
    "chinese": [
        ("猫坐在垫子上。", "那只猫坐在垫子上。"),
        ("我有3.5个苹果，你有2,000个。", "我有3.5个苹果，而你有2,000个梨。"),
        ("“你好”——他说……", "他说：“你好。”"),
    ],
    "greek": [
        ("Ο ΟΔΥΣΣΕΥΣ ΗΡΘΕ ΣΤΟ ΣΠΙΤΙ.", "Ο Οδυσσεύς ήρθε στο σπίτι."),
        ("Ο ΔΡΟΜΟΣ ΕΙΝΑΙ ΜΕΓΑΛΟΣ", "ο δρόμος είναι μεγάλος"),
    ],
    "capitals": [
        ("THE İSTANBUL STRASSE IS OPEN TODAY", "The İstanbul Straße is open today"),
        ("ÜBER ALLEN GIPFELN IST RUHE", "Über allen Gipfeln ist Ruh'"),
    ],
    "emoji": [
        ("I love it 😀👍🏽 so much ❤️", "I love it 😀 👍 very much ❤"),
        ("👨‍👩‍👧 family 🇩🇪", "👨‍👩‍👧‍👦 family 🇫🇷"),
    ],
    "combining": [
        ("cafe\u0301 nin\u0303o re\u0301sume\u0301 is here", "café niño résumé is here"),
        ("a\u0323\u0308 b", "ạ̈ b"),
    ],
    "entities": [
        ("He said &quot;no&quot; &amp; left &lt;now&gt;.", "He said \"no\" & left <now>."),
        ("a &amp;lt; b <skipped> c", "a < b c"),
    ],
    "numbers": [
        ("1,000 2.000 3-4 5- -6 .7 8. ,9", "1,000 2,000 3 - 4 5 -6 0.7 8 9"),
        ("1999-2000 10:30 50% 1/2", "1999–2000 10.30 50 % ½"),
    ],
    "spaces": [
        ("  leading and trailing  ", "leading and trailing"),
        ("tabs\tand  double   spaces here", "tabs and double spaces here\r"),
        ("no\u00a0break\u3000space in it", "no break space in it"),
    ],
    "empty lines": [
        ("", "a reference without a hypothesis"),
        ("a hypothesis without a reference", ""),
        ("", ""),
        ("both are here today", "both are here today"),
    ],
    "nothing": [("", ""), ("", "")],
    "no hypothesis": [("", "all is lost in this one"), ("   ", "and here as well")],
    "no reference": [("all is lost in this one", ""), ("and here as well", "  ")],
    "nothing right": [("alpha beta gamma delta", "un deux trois quatre"), ("epsilon", "cinq six")],
    "only punctuation": [("... !!! ???", "... ! ?"), (".", "."), ("-- ,,", "-- ,")],
    "one word": [("yes", "yes")],
    "two words": [("yes yes", "yes no")],
    "three words": [("a b c", "a b c"), ("a", "a")],
    "no quadruple": [("a b x c d", "a b c d"), ("e f", "e f")],
    "no triple": [("a b x y a b", "a b c a b d")],
    "repeats": [("the the the the the the the", "the cat is on the mat"), ("a a a b b", "a b a b a")],
    "identical": [
        ("The same sentence, word for word.", "The same sentence, word for word."),
        ("Und noch einer: „so“!", "Und noch einer: „so“!"),
    ],
    "too short": [("a few words of it", "a few words of it are not enough to make it all right")],
    "too long": [("a few words of it are not enough to make it all right", "a few words of it")],
    "long": [
        (
            " ".join(f"w{(i * 7919) % 23}" for i in range(150)),
            " ".join(f"w{(i * 7919) % 23 if i % 11 else i}" for i in range(140)),
        )
    ],
    "two references": [
        ("the cat sat on the mat", ["the cat is on the mat", "a cat sat on a mat"]),
        ("one two three four five", ["one two three", "one two three four five six seven"]),
        ("yes", ["no no", ""]),
    ],
    "two or one reference": [
        ("the cat sat on the mat", ["the cat is on the mat", "the cat sat on the mat today"]),
        ("well done my friend", ["well done my old friend"]),
    ],
}


def literal(text):
    """A C string: UTF-8 where it can be seen, octal where it cannot."""
    out = ""
    for c in text:
        if c in '"\\':
            out += "\\" + c
        elif c.isprintable() and c != "\u00ad":
            out += c
        else:
            out += "".join(f"\\{byte:03o}" for byte in c.encode())
    return f'"{out}"'


def distance(a, b):
    rows = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            rows[i, j] = min(rows[i - 1, j] + 1, rows[i, j - 1] + 1, rows[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
    return rows[len(a), len(b)]


def errors(hyp, refs, lowercase):
    """Words in error, words of the reference, with the best reference."""
    words = [(t.lower() if lowercase else t).split() for t in [hyp, *refs]]
    return min(((distance(words[0], r), len(r)) for r in words[1:]), key=lambda pair: pair[0])


def number(x):
    return repr(float(x))


def flag(x):
    return "true" if x else "false"


def cuts():
    for line in LINES:
        for lowercase in (False, True):
            if lowercase and line.lower() == line:
                continue
            metrics = [BLEU(tokenize=tokeniser, lowercase=lowercase) for tokeniser in TOKENISERS]
            words = [literal(" ".join(m._preprocess_segment(line).split())) for m in metrics]
            listed = ",\n      ".join(words)
            yield f"{{{literal(line)}, {flag(lowercase)},\n     {{{listed}}}}}"


def texts():
    for name, pairs in TEXTS.items():
        rows = []
        for hyp, refs in pairs:
            refs = [refs] if isinstance(refs, str) else refs
            score = BLEU(effective_order=True).sentence_score(hyp, refs).score
            listed = ", ".join(literal(ref) for ref in refs)
            rows.append(f"{{{literal(hyp)}, {len(refs)}, {{{listed}}}, {number(score)}}}")
        listed = ",\n      ".join(rows)
        yield f"{{{literal(name)}, {len(pairs)},\n     {{{listed}}}}}"


def columns(pairs):
    refs = [[r] if isinstance(r, str) else r for _, r in pairs]
    n_refs = max(len(r) for r in refs)
    return [h for h, _ in pairs], refs, [[r[i] if i < len(r) else None for r in refs] for i in range(n_refs)]


def cases():
    """The texts with and without regard to case, where that makes a difference."""
    for i, pairs in enumerate(TEXTS.values()):
        hyps, lists, refs = columns(pairs)
        for lowercase in (False, True):
            if not lowercase or any(t.lower() != t for column in [hyps, *refs] for t in column if t is not None):
                yield i, lowercase, hyps, lists, refs


def bleus():
    for i, lowercase, hyps, _, refs in cases():
        for tokeniser in TOKENISERS:
            metric = BLEU(tokenize=tokeniser, lowercase=lowercase, force=True)
            s = metric.corpus_score(hyps, refs)
            metric = BLEU(tokenize=tokeniser, lowercase=lowercase, force=True, effective_order=True)
            effective = metric.corpus_score(hyps, refs)
            precisions = ", ".join(number(p) for p in s.precisions)
            yield (
                f"{{{i}, HEED_TOK_{tokeniser.upper()}, {flag(lowercase)}, {number(s.score)}, {number(effective.score)},\n"
                f"     {{{precisions}}}, {number(s.bp)}, {number(s.ratio)}, {s.sys_len}, {s.ref_len}}}"
            )


def others():
    for i, lowercase, hyps, lists, refs in cases():
        chrf, chrfpp = (CHRF(lowercase=lowercase, word_order=n).corpus_score(hyps, refs).score for n in (0, 2))
        counts = [errors(hyp, r, lowercase) for hyp, r in zip(hyps, lists)]
        n_errors, n_words = (sum(column) for column in zip(*counts))
        n_exact = sum(n == 0 for n, _ in counts)
        yield f"{{{i}, {flag(lowercase)}, {number(chrf)}, {number(chrfpp)}, {n_errors}, {n_words}, {n_exact}}}"


def table(declaration, rows):
    return f"static const struct {declaration}[] = {{\n    " + ",\n    ".join(rows) + ",\n};\n"


def main():
    HEADER.write_text(
        f"""/* metric_expected.h -- texts, and what sacreBLEU {sacrebleu.__version__} makes of them.
 *
 * Written by tools/metric_golden.py; do not edit by hand. */
#ifndef HD_TEST_METRIC_EXPECTED_H
#define HD_TEST_METRIC_EXPECTED_H
/* clang-format off */

#include <heed.h>

struct expected_cut {{
    const char *text;
    bool is_lowercase;
    const char *words[5]; /* by tokeniser, with a space between words */
}};

struct expected_text {{
    const char *name;
    int n;
    struct {{
        const char *hyp;
        int n_refs;
        const char *refs[2];
        double bleu; /* of this sentence; tok:13a, eff:yes */
    }} sentences[4];
}};

struct expected_bleu {{
    int text; /* its index */
    enum heed_tokeniser tok;
    bool is_lowercase;
    double score, effective; /* eff:no, eff:yes */
    double precisions[4], brevity_penalty, ratio;
    int hyp_len, ref_len;
}};

struct expected_others {{
    int text;
    bool is_lowercase;
    double chrf, chrfpp;
    int n_errors, n_words, n_exact;
}};

{table("expected_cut expected_cuts", cuts())}
{table("expected_text expected_texts", texts())}
{table("expected_bleu expected_bleus", bleus())}
{table("expected_others expected_others", others())}
/* clang-format on */
#endif
"""
    )


if __name__ == "__main__":
    main()
