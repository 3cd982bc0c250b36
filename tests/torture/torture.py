#!/usr/bin/env python3
"""torture.py -- the torture chamber: for some minutes everything that can go wrong around heed does, and nothing may be lost or crash.

    tests/torture/torture.py BUILD ASAN_BUILD --minutes 10 --seed 1      (make torture MINUTES=10 SEED=1)
    tests/torture/torture.py BUILD ASAN_BUILD --seed 1 --only kills --trial 17      the same trial once more

Tortures take turns until the time is over. A finding does not end it: its folder stays in BUILD/torture with what was done (replay.sh) and
what is wrong (finding.txt), and the exit status is 1."""
import argparse
import collections
import os
import resource
import subprocess
import sys
import time

import kills
import mutations
import options
import serving
from chamber import Finding, Trial, toy_text

TORTURES = {'kills': kills.train, 'conversions': kills.convert, 'translations': kills.translate, 'options': options.options,
            'serving': serving.serve, 'files': mutations.files, 'states': mutations.states, 'fuzz': mutations.fuzz}
# How often each has its turn; a turn of kills is a dozen starts.
TURNS = ['kills', 'options', 'options', 'files', 'kills', 'options', 'files', 'states', 'kills', 'options', 'files', 'conversions',
         'kills', 'translations', 'serving', 'fuzz']


class Chamber:
    """What the trials of one session share."""

    def __init__(self, build, asan_build, seed):
        self.root = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
        build, asan_build = os.path.abspath(build), os.path.abspath(asan_build)
        self.plain, self.asan = os.path.join(build, 'heed'), os.path.join(asan_build, 'heed')
        self.shim = os.path.join(build, 'torture/faults.so')
        self.leaks = os.path.join(self.root, 'tests/leaks.txt')
        self.folder = os.path.join(build, 'torture')
        self.seed, self.fuzz_seconds = seed, 20
        self.counts, self.references = collections.Counter(), {}
        for path in (self.plain, self.asan, self.shim):
            if not os.path.exists(path):
                sys.exit(f'{path} is not there; make torture builds it')
        self.tables = options.read_tables(subprocess.run([self.plain, '--tables'], stdout=subprocess.PIPE, check=True).stdout.decode())
        version = subprocess.run([self.plain, 'info'], stdout=subprocess.PIPE, check=True).stdout.decode().split('\n')
        self.kernels = next(line.split()[1:] for line in version if line.startswith('kernels'))
        self.fuzz_targets = sorted(os.listdir(os.path.join(self.root, 'tests/fuzz/corpus')))
        vocabularies = os.path.join(self.root, 'tests/fuzz/corpus/spm')
        self.vocabulary = max((os.path.join(vocabularies, name) for name in os.listdir(vocabularies)), key=os.path.getsize)

    def trial(self, torture, number):
        return Trial(self, torture, number)

    def texts(self, trial):
        toy_text(trial.folder, 'train', 3, 60)
        toy_text(trial.folder, 'dev', 4, 12)
        with open(trial.path('odd.txt'), 'wb') as file:
            file.write(b'\xff\xfe\n\n   \nthe cat \xe2\x80\xa8 sees\0a dog\n' + b'cat ' * 300 + b'\n' + b'x' * 3000 + b'\nhttp://a.b/c?d=%s {0} <b>\n')
        with open(trial.path('glossary.tsv'), 'w') as file:
            file.write('cat\tkato\nthe dog\thundo\n')

    def toy_model(self, trial):
        name = trial.path('toy.safetensors')
        if not os.path.exists(name):
            os.symlink(os.path.join(self.root, 'tests/translate/toy.safetensors'), name)
        return 'toy.safetensors'

    def one(self, torture, number):
        """One trial; True when nothing was found."""
        trial = self.trial(torture, number)
        try:
            TORTURES[torture](trial)
            trial.forget()
            return True
        except Finding as finding:
            kept = trial.keep(finding)
            self.counts['findings'] += 1
            print(f'FOUND by {torture} {number} (seed {self.seed}): {finding}\n  kept in {kept}', flush=True)
            return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build')
    parser.add_argument('asan_build')
    parser.add_argument('--minutes', type=float, default=10)
    parser.add_argument('--seed', type=int, default=int(time.time()))
    parser.add_argument('--only', choices=sorted(TORTURES), help='one torture alone')
    parser.add_argument('--trial', type=int, help='one trial of it alone')
    args = parser.parse_args()
    chamber = Chamber(args.build, args.asan_build, args.seed)
    chamber.fuzz_seconds = max(2, min(60, int(args.minutes)))
    os.makedirs(chamber.folder, exist_ok=True)
    print(f'torture: {args.minutes:g} minutes, seed {args.seed}; findings stay in {chamber.folder}', flush=True)
    end, turn = time.monotonic() + 60 * args.minutes, 0
    numbers = collections.Counter()
    if args.trial is not None:
        chamber.one(args.only, args.trial)
        end = 0
    try:
        while time.monotonic() < end:
            torture = args.only or TURNS[turn % len(TURNS)]
            chamber.one(torture, numbers[torture])
            numbers[torture] += 1
            turn += 1
    except KeyboardInterrupt:
        print('torture: stopped', flush=True)
    used = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    told = ', '.join(f'{n} {name}' for name, n in sorted(chamber.counts.items()) if name != 'findings')
    print(f'torture: seed {args.seed}: {sum(numbers.values())} trials in {used / 3600:.2f} core-hours; {told}; {chamber.counts["findings"]} findings')
    sys.exit(1 if chamber.counts['findings'] else 0)


if __name__ == '__main__':
    main()
