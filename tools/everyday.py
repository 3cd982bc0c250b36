#!/usr/bin/env python3
"""everyday.py -- what a model makes of inputs that people type: right answers by kind.

    tools/everyday.py [--heed build/heed] [-m MODEL] [-v] [--least N] [FILE.tsv...]

A file is named by its direction, en-fr.tsv (default: all of tests/cli/everyday). Each line is a kind, a TAB, the input, a TAB, and what is right:

    word       answers between |; capitals and the mark at the end do not matter
    copy       the same text, or ~PIECE&&PIECE: pieces that must be in the answer
    variant    ?TEXT: the answer is that of TEXT but for capitals, punctuation and white space
    sentences  how many there are, each of them translated
    markup     pieces between |, one of which must be in the answer, and all tags of the input (--markup html)

Prints right/total by kind for each file. -v shows what is wrong. --least N fails where the sum is less than N percent."""
import argparse
import json
import pathlib
import re
import subprocess
import sys

KINDS = ["word", "copy", "variant", "sentences", "markup"]
HERE = pathlib.Path(__file__).resolve().parent.parent


def translate(args, pair, texts, more=()):
    """The results of these texts, as JSON objects."""
    source, target = pair.split("-")
    command = [args.heed, "translate", "-q", "--json", *more]
    if args.model:
        command += ["-m", args.model]
    if args.has_languages:
        command += ["--from", source, "--to", target]
    done = subprocess.run(command, input="".join(t + "\n" for t in texts), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    return [json.loads(line) for line in done.stdout.splitlines()]


def plain(text):
    """Without capitals, punctuation, white space and the number of a list's item."""
    text = re.sub(r"^\s*\d+[.)]\s", "", text)
    return "".join(c for c in text.lower() if c.isalnum())


def is_right(kind, source, wanted, result, base):
    text = result["translations"][0]["text"]
    if kind == "word":
        return plain(text) in {plain(answer) for answer in wanted.split("|")}
    if kind == "copy":
        if not wanted.startswith("~"):
            return text == wanted
        return all(piece in text for piece in wanted[1:].split("&&"))
    if kind == "variant":
        return plain(text) == plain(base["translations"][0]["text"])
    if kind == "sentences":
        return len(re.findall(r"[.!?…]+(?=\s|$)", text)) >= int(wanted) and all(
            2 * (s["target"][1] - s["target"][0]) >= s["source"][1] - s["source"][0] for s in result["sentences"])
    tags = sorted(re.findall(r"<[^>]*>", source))
    return tags == sorted(re.findall(r"<[^>]*>", text)) and any(piece in text for piece in wanted.split("|"))


def judge(args, path):
    """[right, total] by kind."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    bad = [i + 1 for i, row in enumerate(rows) if len(row) != 3 or row[0] not in KINDS]
    if bad:
        sys.exit(f"{path}:{bad[0]}: a line is a kind ({', '.join(KINDS)}), the input and what is right, between TABs")
    counts = {kind: [0, 0] for kind in KINDS}
    for kind in KINDS:
        of_kind = [(source, wanted) for k, source, wanted in rows if k == kind]
        more = ("--markup", "html") if kind == "markup" else ()
        if not of_kind or (kind == "markup" and not args.has_markup):
            continue
        if kind == "markup":  # a text with tags is a document, however many lines it has
            results = [translate(args, path.stem, [source], more)[0] for source, _ in of_kind]
        else:
            results = translate(args, path.stem, [source for source, _ in of_kind], more)
        bases = translate(args, path.stem, [w[1:] for _, w in of_kind]) if kind == "variant" else [None] * len(of_kind)
        for (source, wanted), result, base in zip(of_kind, results, bases):
            right = is_right(kind, source, wanted, result, base)
            counts[kind][0] += right
            counts[kind][1] += 1
            if args.verbose and not right:
                other = f"   ({base['translations'][0]['text']})" if base else ""
                print(f"  {kind:9}  {source}  ->  {result['translations'][0]['text']}{other}")
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--heed", default=str(HERE / "build/heed"))
    parser.add_argument("-m", "--model")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--least", type=float, default=0)
    args = parser.parse_args()
    usage = subprocess.run([args.heed, "translate", "--help"], capture_output=True, text=True, check=True).stdout
    args.has_markup = "--markup" in usage
    info = subprocess.run([args.heed, "info", "--json"] + ([args.model] if args.model else []), capture_output=True, text=True,
                          check=True)
    facts = json.loads(info.stdout)
    directions = (facts if args.model else facts["model"])["directions"]
    args.has_languages = bool(directions)
    files = args.files or sorted((HERE / "tests/cli/everyday").glob("*.tsv"))
    right = total = 0
    for path in files:
        if directions and path.stem not in directions:
            continue
        counts = judge(args, path)
        told = "  ".join(f"{kind} {a}/{b}" for kind, (a, b) in counts.items() if b)
        n, of = (sum(c[i] for c in counts.values()) for i in (0, 1))
        print(f"{path.stem}  {n}/{of}  {told}")
        right, total = right + n, total + of
    if total == 0:
        sys.exit("the model translates in none of the directions that there are inputs for")
    print(f"all    {right}/{total}, {100 * right / total:.1f} %" + ("" if args.has_markup else "; this heed has no --markup"))
    if 100 * right < args.least * total:
        sys.exit(f"less than {args.least:g} %")


main()
