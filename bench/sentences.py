"""sentences.py -- cutting text into sentences, against pysbd, NLTK's Punkt, Moses' rules (sentence-splitter) and sentencex.

usage: sentences.py BUILD SHARED      run by `make bench-sentences` with the Python of build/peers/sentences

Two yardsticks. The cases of tests/text/data/sentences.tsv, each of one kind of difficulty: a case counts when all of its cuts are right and there is
no other. And real sentences, three joined to a line by a space: the share of the joints that are found (recall), and of the cuts that
are joints (precision; a few of the sentences are two, which nobody is blamed for more than the others).
Punkt's lists are taken from the package llama-index-core, which carries them. "-" stands where a program does not know a language.
"""
import collections
import os
import random
import subprocess
import sys
import time
import warnings

warnings.filterwarnings("ignore")
build, shared = sys.argv[1:3]
verbose = "-v" in sys.argv
here = os.path.dirname(os.path.abspath(__file__))
CUT = "¶"


def heed(language_known):
    def cut_all(lines):
        text = "".join("%s\t%s\n" % (language if language_known else "-", text) for language, text in lines)
        out = subprocess.run([os.path.join(build, "bench", "bench_sentences")], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
        for (_, text), answer in zip(lines, out.decode().splitlines()):
            data = text.encode()
            yield {len(data[:int(end)].decode()) for end in answer.split()} - {len(text)}
    return cut_all


def places(text, sentences):
    """Cuts as places in the text, from sentences without their white space."""
    cuts, at = set(), 0
    for sentence in sentences:
        sentence = sentence.strip()
        if not sentence:
            continue
        at = text.find(sentence, at)
        if at < 0:
            return None
        at += len(sentence)
        cuts.add(at)
    return cuts


def normal(text, cuts):
    """Cuts as the number of characters before them that are not white space."""
    return None if cuts is None else {len("".join(text[:cut].split())) for cut in cuts} - {0, len("".join(text.split()))}


def peer(name):
    known = {}

    def segmenter(language):
        if name == "pysbd":
            import pysbd
            return pysbd.Segmenter(language=language, clean=False).segment
        if name == "punkt":
            import nltk
            nltk.data.path.insert(0, os.path.join("build", "peers", "sentences", "nltk"))
            names = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian", "ru": "russian", "el": "greek"}
            if language not in names:
                raise ValueError(language)
            return nltk.tokenize.PunktTokenizer(names[language]).tokenize
        if name == "moses":
            import sentence_splitter
            return sentence_splitter.SentenceSplitter(language=language).split
        import sentencex
        return lambda text: list(sentencex.segment(language, text))

    def cut_all(lines):
        for language, text in lines:
            if language not in known:
                try:
                    known[language] = segmenter(language)
                except Exception:
                    known[language] = None
            split = known[language]
            yield places(text, split(text)) if split else "unknown"
    return cut_all


systems = {"heed": heed(True), "heed, language not given": heed(False), "pysbd": peer("pysbd"), "Punkt": peer("punkt"),
           "sentencex": peer("sentencex"), "Moses": peer("moses")}


def cases():
    with open(os.path.join(here, "..", "tests", "text", "data", "sentences.tsv"), encoding="utf8") as lines:
        for line in lines:
            if not line.startswith("#"):
                language, kind, marked = line.rstrip("\n").split("\t")
                cuts, text = set(), ""
                for part in marked.split(CUT):
                    cuts.add(len(text))
                    text += part
                yield language, kind, text, normal(text, cuts)


def judge_cases():
    rows = list(cases())
    languages = list(dict.fromkeys(row[0] for row in rows))
    total = collections.Counter(row[0] for row in rows)
    print("| cases all right | " + " | ".join(languages) + " | all |\n|---|" + "--:|" * (len(languages) + 1))
    print("| number of cases | " + " | ".join(str(total[l]) for l in languages) + " | %d |" % len(rows))
    for name, cut_all in systems.items():
        right, unknown = collections.Counter(), set()
        for (language, kind, text, wanted), cuts in zip(rows, cut_all([(row[0], row[2]) for row in rows])):
            if cuts == "unknown":
                unknown.add(language)
                continue
            got = normal(text, cuts)
            right[language] += got == wanted
            if verbose and got != wanted and name in sys.argv:
                print("   ", language, kind, text, sorted(wanted), got and sorted(got))
        print("| %s | " % name + " | ".join("-" if l in unknown else str(right[l]) for l in languages) +
              " | %d of %d |" % (sum(right.values()), sum(n for l, n in total.items() if l not in unknown)))


def joined(path, language, n=900):
    """Lines of three sentences, and where they are joined."""
    with open(path, encoding="utf8") as lines:
        sentences = [" ".join(line.split()) for line in lines]
    sentences = [s for s in sentences if s and s[-1] in ".!?。！？"]
    random.Random(1).shuffle(sentences)
    space = "" if language == "ja" else " "
    for i in range(0, min(n, len(sentences) - 2), 3):
        text = space.join(sentences[i:i + 3])
        yield language, text, normal(text, {len(sentences[i]), len(sentences[i] + space + sentences[i + 1])})


def judge_text():
    data = os.path.join(shared, "data")
    texts = [("Tatoeba en", "tatoeba/test.en-fr.en", "en"), ("Tatoeba fr", "tatoeba/test.en-fr.fr", "fr"), ("Tatoeba de", "tatoeba/test.en-de.de", "de"),
             ("Multi30k en", "multi30k/test2016.raw.en", "en"), ("Multi30k de", "multi30k/test2016.raw.de", "de"), ("enja ja", "enja/test.ja", "ja")]
    texts = [t for t in texts if os.path.exists(os.path.join(data, t[1]))]
    print("\n| recall / precision, % | " + " | ".join(t[0] for t in texts) + " |\n|---|" + "--:|" * len(texts))
    for name, cut_all in systems.items():
        cells = []
        for _, path, language in texts:
            rows = list(joined(os.path.join(data, path), language))
            hits = n_cuts = n_joints = 0
            for (_, text, wanted), cuts in zip(rows, cut_all([row[:2] for row in rows])):
                if cuts == "unknown":
                    continue
                got = normal(text, cuts) or set()
                hits, n_cuts, n_joints = hits + len(got & wanted), n_cuts + len(got), n_joints + len(wanted)
                if verbose and wanted - got and name in sys.argv:
                    print("   ", text)
            cells.append("%.1f / %.1f" % (100 * hits / n_joints, 100 * hits / n_cuts) if n_joints else "-")
        print("| %s | " % name + " | ".join(cells) + " |")


def measure_speed():
    path = os.path.join(shared, "data", "tatoeba", "test.en-fr.en")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf8") as lines:
        text = " ".join(" ".join(lines.read().split()) for _ in [0])[:50000]
    out = subprocess.run([os.path.join(build, "bench", "bench_sentences"), "--time"], input=("en\t" + text + "\n").encode() * 20,
                         stdout=subprocess.PIPE, check=True).stdout.split()
    begin = time.process_time()
    import pysbd
    pysbd.Segmenter(language="en", clean=False).segment(text)
    print("\none line of 50 kB: heed %.2f ms, pysbd %.0f ms" % (float(out[0]) / 20 * 1000, (time.process_time() - begin) * 1000))
    print("headline sentences_ms_per_50kB %.2f" % (float(out[0]) / 20 * 1000))


judge_cases()
judge_text()
measure_speed()
