#!/usr/bin/env python3
"""study.py -- what the lectures claim about attention, measured with heed, and written into docs/study.md.

usage: study.py [--smoke] [--report] [--build BUILD] [--shared SHARED] [--folder FOLDER] [STEP...]      run by `make study`

A step is a file of this folder: measure(lab) runs heed and keeps what it finds, report(lab, page) makes Markdown of it. Steps that were measured
are not measured again, a training that was stopped goes on. Some read texts that are no part of the project: it says at the start which, whether
they are there, and where they are to be had; a step without its text is left out. --report only writes the page, from what there is. --smoke tries everything in
a minute or two, with models that learned nothing, and writes its page to FOLDER.
"""
import argparse
import pathlib
import signal
import sys

import align
import beam
import bottleneck
import cost
import frames
import length
import order
import parallel
from lab import Lab, Missing, say
from page import Page

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS = {"bottleneck": bottleneck, "length": length, "align": align, "cost": cost, "parallel": parallel, "order": order, "beam": beam, "frames": frames}
# What steps read; the others make their text themselves.
TEXTS = {"length": ("multi30k", "tatoeba"), "align": ("multi30k", "tatoeba", "wordalign"), "beam": ("multi30k",), "frames": ("speech",)}


def stop(*_):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(description="repeats the study of docs/study.md")
    parser.add_argument("steps", nargs="*", metavar="STEP", help="of %s; without any, all" % ", ".join(STEPS))
    parser.add_argument("--smoke", action="store_true", help="try everything in a minute or two; the page goes to the folder")
    parser.add_argument("--report", action="store_true", help="measure nothing, write the page from what there is")
    parser.add_argument("--build", default="build", help="where heed was built")
    parser.add_argument("--shared", default="../shared", help="where the text is, in data/")
    parser.add_argument("--folder", default="build/study", help="models and results")
    asked = parser.parse_args()
    unknown = [step for step in asked.steps if step not in STEPS]
    if unknown:
        parser.error("there is no step %s; there are %s" % (unknown[0], ", ".join(STEPS)))
    signal.signal(signal.SIGTERM, stop)
    folder = pathlib.Path(asked.folder, "smoke") if asked.smoke else pathlib.Path(asked.folder)
    lab = Lab(asked.build, asked.shared, folder, asked.smoke)
    page = Page(ROOT / "docs" / "study.md", ROOT / "docs" / "images", lab)
    if asked.smoke:
        page.path, page.images = folder / "study.md", folder / "images"
        page.path.write_text((ROOT / "docs" / "study.md").read_text(encoding="utf-8"), encoding="utf-8")
    n_missing = 0
    if not asked.report:
        lab.tell_texts(sorted({text for step in asked.steps or STEPS for text in TEXTS.get(step, ())}))
    for name in asked.steps or STEPS:
        try:
            if not asked.report:
                say("step %s" % name)
                STEPS[name].measure(lab)
            page.fill(name, STEPS[name].report(lab, page))
            say("%s: in %s" % (name, page.path))
        except Missing as missing:
            n_missing += 1
            say("%s: left as it is on the page: %s" % (name, missing))
    return 1 if n_missing and not asked.report else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError) as error:
        sys.exit("study: %s" % error)
    except KeyboardInterrupt:
        sys.exit("study: stopped; the same command goes on")
