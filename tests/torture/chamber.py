"""chamber.py -- what all tortures share: running heed, saying what is wrong with an ending, toy text, and findings that can be
replayed.

A trial is made by random numbers of its own, from the seed, the torture's name and the trial's number; so `--seed S --only NAME --trial N`
makes it again. What a trial did is written to a script as it goes, and stays with the files when there is a finding."""
import hashlib
import os
import random
import resource
import shlex
import shutil
import subprocess
import time

GIGABYTE = 1 << 30
ASAN = ('abort_on_error=0:exitcode=77:allocator_may_return_null=1:max_allocation_size_mb=1500:soft_rss_limit_mb=2500:'
        'detect_stack_use_after_return=0')


class Finding(Exception):
    """Something that must not be."""


class Ending:
    """How a run of the program ended."""

    def __init__(self, status, out, err, seconds, is_late):
        self.status, self.out, self.err, self.seconds, self.is_late = status, out, err, seconds, is_late

    def last_lines(self):
        """The end of what it says: the sentence, and what a signal's handler may have said at the same moment."""
        return [line for line in self.err.replace('\r', '\n').split('\n') if line.strip()][-2:]


class Trial:
    """One trial: its random numbers, its folder, its commands."""

    def __init__(self, chamber, torture, number):
        self.chamber, self.torture, self.number = chamber, torture, number
        self.random = random.Random(f'{chamber.seed} {torture} {number}')
        self.folder = os.path.join(chamber.folder, f'{chamber.seed}-{os.getpid()}-{torture}-{number}')
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.script = ['#!/bin/sh', f'# seed {chamber.seed}, {torture} {number}: run this in a copy of this folder', 'set -x']

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, words, *, faults='', sanitized=False, signal=None, seconds=60, env=None, file_size=0, stdin=None):
        """Run heed. `signal` is (number, seconds): what is sent and when. After `seconds` it is asked to stop, and killed when it does not."""
        program = self.chamber.asan if sanitized else self.chamber.plain
        extra = dict(env or {})
        if faults:
            extra.update(HEED_FAULTS=faults, LD_PRELOAD=self.chamber.shim)
        if sanitized:
            extra.update(ASAN_OPTIONS=ASAN, LSAN_OPTIONS=f'suppressions={self.chamber.leaks}:print_suppressions=0')
        self.note(program, words, extra, signal, file_size, stdin)

        def limits():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if not sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (6 * GIGABYTE, 6 * GIGABYTE))
            if file_size:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

        begin = time.monotonic()
        with open(self.path(stdin) if stdin else os.devnull, 'rb') as inward:
            process = subprocess.Popen([program] + words, cwd=self.folder, stdin=inward, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env={**os.environ, **extra}, preexec_fn=limits)
        out, err, is_late = wait(process, signal, seconds)
        ending = Ending(process.returncode, out.decode('utf-8', 'replace'), err.decode('utf-8', 'replace'),
                        time.monotonic() - begin, is_late)
        self.chamber.counts['runs'] += 1
        self.check_no_crash(ending)
        return ending

    def note(self, program, words, extra, signal, file_size, stdin):
        line = ' '.join(f'{name}={shlex.quote(value)}' for name, value in sorted(extra.items()))
        line += (' ' if line else '') + shlex.join(['timeout', '-s', str(signal[0]), f'{signal[1]:.3f}'] if signal else [])
        line += (' ' if line else '') + shlex.join([program] + words)
        line += f' <{shlex.quote(stdin)}' if stdin else ' </dev/null'
        self.script.append(f'( ulimit -f {max(file_size // 512, 1)}; {line} )' if file_size else line)

    def check_no_crash(self, ending):
        for word in ('AddressSanitizer', 'LeakSanitizer', 'runtime error:', 'Assertion', 'UndefinedBehavior', 'terminate called'):
            if word in ending.err and 'soft rss limit' not in ending.err.lower():
                raise Finding(f'a sanitizer or an assertion speaks:\n{ending.err[-3000:]}')
        if ending.status in (-4, -6, -7, -8, -11, 77, 99, 134, 139):
            raise Finding(f'a crash, status {ending.status}:\n{ending.err[-3000:]}')

    def check_sentence(self, ending):
        """An ending that is no success must be told in a sentence."""
        if ending.status not in (0, 1, 2):
            raise Finding(f'status {ending.status} is neither done, failed nor wrong usage:\n{ending.err[-2000:]}')
        if ending.status != 0 and not any(line.startswith('heed: ') for line in ending.last_lines()):
            raise Finding(f'status {ending.status} without a sentence; the last line is {ending.last_lines()!r}')

    def must(self, claim, sentence):
        if not claim:
            raise Finding(sentence)

    def keep(self, finding):
        """Keep the folder, with what was done."""
        with open(self.path('replay.sh'), 'w') as file:
            file.write('\n'.join(self.script) + '\n')
        with open(self.path('finding.txt'), 'w') as file:
            file.write(f'seed {self.chamber.seed}, {self.torture} {self.number}\n{finding}\n')
        kept = os.path.join(self.chamber.folder, f'finding-{self.chamber.seed}-{self.torture}-{self.number}')
        shutil.rmtree(kept, ignore_errors=True)
        os.rename(self.folder, kept)
        return kept

    def forget(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def wait(process, signal, seconds):
    """What it says until its end, and whether that had to be forced."""
    try:
        if signal:
            try:
                return *process.communicate(timeout=signal[1]), False
            except subprocess.TimeoutExpired:
                process.send_signal(signal[0])
        return *process.communicate(timeout=seconds), False
    except subprocess.TimeoutExpired:
        process.terminate()
    try:
        return *process.communicate(timeout=60), True
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Finding('it hangs: neither its time nor SIGTERM and 60 seconds more ended it') from None


def sha256(path):
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


def toy_text(folder, name, seed, n):
    """Sentence pairs of a made-up language: word by word, the adjective behind its noun."""
    nouns = 'cat:kato dog:hundo house:domo tree:arbo bird:birdo river:rivo child:infano'.split()
    adjectives = 'red:ruga big:granda old:velta green:verda quick:rapa'.split()
    verbs = 'sees:vide likes:ame finds:trove takes:preni hears:aude'.split()
    draw = random.Random(seed)
    with open(os.path.join(folder, name + '.en'), 'w') as source, open(os.path.join(folder, name + '.fr'), 'w') as target, \
            open(os.path.join(folder, name + '.tsv'), 'w') as both:
        for _ in range(n):
            words = [draw.choice(part).split(':') for part in (nouns, verbs, nouns)]
            word = draw.choice(adjectives).split(':')
            one = f'the {word[0]} {words[0][0]} {words[1][0]} a {words[2][0]}'
            other = f'le {words[0][1]} {word[1]} {words[1][1]} uno {words[2][1]}'
            source.write(one + '\n')
            target.write(other + '\n')
            both.write(f'{one}\t{other}\n')


def mutate(data, draw):
    """Bytes that are broken a little: flipped, cut, repeated, inserted, or replaced by numbers at the edge."""
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        at = draw.randrange(len(data)) if data else 0
        if draw.random() < 0.4:
            at = min(at, draw.randrange(4096))  # headers are where files are believed
        kind = draw.randrange(7)
        if kind == 0 and data:
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1 and data:
            data[at] = draw.choice((0, 255, 127, 128, ord('"'), ord('{'), ord('9'), 10, 9))
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at:at + draw.choice((1, 2, 8, 64, 1000))]
        elif kind == 4:
            n = draw.choice((1, 8, 64, 1000))
            data[at:at] = data[at:at + n]
        elif kind == 5:
            data[at:at] = draw.choice((b'\0', b'\xff' * 8, b'999999999999999999', b'-1', b'1e999', b'\n', b'\t', b'\xe2\x81\x87', b'%s'))
        elif len(data) >= 8:
            number = draw.choice((0, 1, -1, 1 << 31, (1 << 63) - 1, 1 << 32, 1 << 20)) & ((1 << 64) - 1)
            at = min(at, len(data) - 8)
            data[at:at + 8] = number.to_bytes(8, 'little')
    return bytes(data)
