"""mutations.py -- files of every kind, broken a little: models, states, vocabularies, corpora, glossaries, settings. A reader refuses
them with a sentence or makes something of them; a state that is taken leads to the bits of an undisturbed run."""
import os
import subprocess

import kills
from chamber import Finding, mutate, sha256


def write(trial, name, data):
    with open(trial.path(name), 'wb') as file:
        file.write(data)


def bytes_of(path):
    with open(path, 'rb') as file:
        return file.read()


def check(trial, words, **how):
    ending = trial.run(words, sanitized=True, seconds=60, **how)
    trial.chamber.counts['broken files'] += 1
    trial.must(not ending.is_late, f'a broken file takes more than a minute: {ending.err[-500:]}')
    trial.check_sentence(ending)
    return ending


def files(trial):
    """A broken file of some kind, given to the command that reads it."""
    chamber, draw = trial.chamber, trial.random
    chamber.texts(trial)
    model = chamber.toy_model(trial)
    train = ['train', *kills.TINY, '--tokens', 'words', '--batch-tokens', '60', '--updates', '2', '--patience', '0', '-q', '--out', 'm.safetensors']
    kind = draw.choice(['model', 'model', 'model', 'vocabulary', 'corpus', 'corpus', 'glossary', 'settings', 'lines', 'links'])
    if kind == 'model':
        write(trial, 'broken', mutate(bytes_of(trial.path(model)), draw))
        check(trial, draw.choice([['info', 'broken'], ['translate', '-m', 'broken', 'dev.en'], ['convert', 'broken', '-o', 'out.safetensors'],
                                  ['score', '-m', 'broken', 'dev.en', 'dev.fr'], train + ['--from', 'broken', '--tsv', 'train.tsv', '--dev-tsv', 'dev.tsv']]))
    elif kind == 'vocabulary':
        write(trial, 'broken', mutate(bytes_of(chamber.vocabulary), draw))
        check(trial, train + ['--tokens', 'spm', '--spm', 'broken', '--tsv', 'train.tsv', '--dev-tsv', 'dev.tsv'])
    elif kind == 'corpus':
        write(trial, 'broken', mutate(bytes_of(trial.path('train.tsv')), draw))
        check(trial, train + ['--tsv', 'broken', '--dev-tsv', draw.choice(['dev.tsv', 'broken'])] + draw.choice([[], ['--skip-bad']]))
    elif kind == 'glossary':
        name = next((row[0] for row in chamber.tables['translate'] if row[0] == 'glossary'), None)
        write(trial, 'broken', mutate(b'cat\tkato\nthe dog\thundo\thunda\n# note\nbird\tbirdo\n' * 3, draw))
        check(trial, ['translate', '-m', model, 'dev.en'] + (['--' + name, 'broken'] if name else ['--prefix', 'broken']))
    elif kind == 'settings':
        write(trial, 'broken', mutate(b'# how\nupdates = 2\ndim = 8\nffn = 8\nheads = 2\nlayers = 1\ntokens = words\nrate = 0.01\nseed = 3\n', draw))
        ending = trial.run(['train', '--config', 'broken', '--tsv', 'train.tsv', '--dev-tsv', 'dev.tsv', '--batch-tokens', '60', '--out', 'm.safetensors'],
                           sanitized=True, seconds=10)
        chamber.counts['broken files'] += 1
        if not ending.is_late:  # without its number of updates it may go on
            trial.check_sentence(ending)
    elif kind == 'lines':
        write(trial, 'broken', mutate(bytes_of(trial.path('dev.en')), draw))
        check(trial, draw.choice([['translate', '-m', model, '--json', 'broken'], ['align', '-m', model, 'broken', 'dev.fr'],
                                  ['eval', '--hyp', 'broken', '--ref', 'dev.en'], ['score', '-m', model, 'broken', 'dev.fr']]))
    else:
        write(trial, 'broken', mutate(b'1-1 2p2 3-3\n' * 12, draw))
        check(trial, ['align', '-m', model, '--gold', 'broken', 'dev.en', 'dev.fr'])


def states(trial):
    """A run stops half-way, its state is broken, and it goes on: refused by name, or to the same bits."""
    chamber, draw = trial.chamber, trial.random
    which = draw.choice([0, 1, 3])
    status, model, _ = kills.reference(chamber, which)
    trial.must(status == 0, 'the undisturbed run fails')
    chamber.texts(trial)
    words = ['train', *kills.SMALL, *kills.SETTINGS[which], '-q']
    ending = trial.run(words + ['--updates', str(draw.randint(5, 20))])
    trial.must(ending.status == 0, f'half of the run fails: {ending.err}')
    state = trial.path('m.state.safetensors')
    before = bytes_of(state)
    after = mutate(before, draw)
    write(trial, 'm.state.safetensors', after)
    ending = check(trial, words)
    if ending.status == 0:
        trial.must(sha256(trial.path('m.safetensors')) == model, 'a broken state was taken, and led to other bits')
    else:
        write(trial, 'm.state.safetensors', before)
        ending = trial.run(words)
        trial.must(ending.status == 0, f'with the right state again it does not go on: {ending.err}')
    chamber.counts['broken states'] += 1


def fuzz(trial):
    """Every fuzz target in turn: by libFuzzer where it was built (make fuzz), else with files of its corpus, broken."""
    chamber, draw = trial.chamber, trial.random
    name = chamber.fuzz_targets[trial.number % len(chamber.fuzz_targets)]
    corpus = os.path.join(chamber.root, 'tests/fuzz/corpus', name)
    env = {**os.environ, 'ASAN_OPTIONS': 'exitcode=77', 'LSAN_OPTIONS': f'suppressions={chamber.leaks}:print_suppressions=0'}
    guided = os.path.join(chamber.root, 'build/fuzz/tests/fuzz/fuzz_' + name)
    if os.path.exists(guided):
        grown = os.path.join(chamber.root, 'build/fuzz/corpus', name)
        os.makedirs(grown, exist_ok=True)
        command = [guided, f'-max_total_time={chamber.fuzz_seconds}', '-max_len=4096', '-rss_limit_mb=1500', '-malloc_limit_mb=256',
                   '-print_final_stats=1', '-verbosity=0', f'-seed={draw.randrange(1, 1 << 31)}', f'-artifact_prefix={trial.folder}/', grown, corpus]
    else:
        files = sorted(os.listdir(corpus))
        os.makedirs(trial.path('broken'))
        for i in range(200):
            write(trial, f'broken/{i}', mutate(bytes_of(os.path.join(corpus, draw.choice(files))), draw))
        command = [os.path.join(os.path.dirname(chamber.asan), 'tests/fuzz/fuzz_' + name), trial.path('broken')]
    trial.script.append(' '.join(command))
    done = subprocess.run(command, cwd=chamber.root, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)
    said = done.stdout.decode('utf-8', 'replace')
    if done.returncode != 0:
        raise Finding(f'fuzz_{name} ends with {done.returncode}:\n{said[-3000:]}')
    n = [line.split()[-1] for line in said.split('\n') if line.startswith('stat::number_of_executed_units')]
    chamber.counts['fuzz executions'] += int(n[0]) if n else 200
