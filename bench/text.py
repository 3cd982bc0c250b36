"""text.py -- text to measure on, where there is none at hand: words and phrases of recipes/phrasebook.tsv, put together at random.

usage: text.py PHRASEBOOK FOLDER      writes FOLDER/train.en and train.de (30,000 lines), sentences.en (1,000 others), and words.txt,
                                      which has enough different words for a large vocabulary; always the same

Lines have 7 words on average, as everyday sentences have, and subwords as natural text has them, but say nothing: for speed, not for quality.
"""
import os
import random
import sys

phrasebook, folder = sys.argv[1:3]
with open(phrasebook, encoding="utf-8") as lines:
    rows = [line.rstrip("\n").split("\t") for line in lines]
numbers = random.Random(1)


def sentence():
    """Rows until there are words enough: English and German."""
    wanted, chosen = numbers.choice((3, 4, 5, 6, 6, 7, 8, 10, 12)), []
    while sum(len(row[0].split()) for row in chosen) < wanted:
        chosen.append(numbers.choice(rows))
    return [" ".join(row[column] for row in chosen) for column in (0, 2)]


def write(name, lines):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
        out.writelines(line + "\n" for line in lines)


os.makedirs(folder, exist_ok=True)
pairs = [sentence() for _ in range(31000)]
write("train.en", [pair[0] for pair in pairs[1000:]])
write("train.de", [pair[1] for pair in pairs[1000:]])
write("sentences.en", [pair[0] for pair in pairs[:1000]])
syllables = [a + b for a in "b d f g k l m n p r s t v z ch st tr".split() for b in "a e i o u ei ou".split()]
write("words.txt", [" ".join("".join(numbers.choices(syllables, k=numbers.randint(2, 4))) for _ in range(10)) for _ in range(30000)])
