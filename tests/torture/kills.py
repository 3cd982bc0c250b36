"""kills.py -- a training run is killed again and again, with faults under it; its end must be that of an undisturbed one.

After every ending the model that is there loads, whatever ended it was told in a sentence unless it was a kill, and the same command goes
on. When a run is done its model has the sha256 of the undisturbed one, its figures are whole lines of JSON, and nothing half-written is left."""
import json
import os
import signal

from chamber import Finding, sha256

SMALL = ['--tokens', 'words', '--batch-tokens', '60', '--patience', '0', '--valid-every', '4', '--warmup', '3', '--updates', '24',
         '--src', 'train.en', '--tgt', 'train.fr', '--dev-src', 'dev.en', '--dev-tgt', 'dev.fr', '--out', 'm.safetensors']
TINY = ['--dim', '16', '--ffn', '16', '--heads', '2', '--layers', '1']
SETTINGS = [
    TINY,
    TINY + ['--average', '3', '--average-of', 'best', '--ema', '0'],
    TINY + ['--save-every', '1', '--store', 'f16'],
    TINY + ['--save-every', '3', '--valid-every', '5', '--valid-metric', 'ce'],
    TINY + ['--accumulate', '3', '--rdrop', '1', '--updates', '10'],
    TINY + ['--tokens', 'spm', '--vocab-size', '60', '--subword-sampling', '0.2', '--join', '0.2', '--copy', '0.1'],
    TINY + ['--valid-every', '100', '--updates', '22', '--optimizer', 'sgd', '--rate', '1000', '--warmup', '0', '--clip', '0'],
    ['--arch', 'bahdanau', '--dim', '12', '--embed', '8'],
    ['--arch', 'luong', '--dim', '12', '--layers', '2', '--schedule', 'plateau', '--simcut', '1'],
]
KILLS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
TOLD = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGHUP: 129}


def random_faults(draw):
    """Rules for the shim, and a limit on files; mostly none, or some that only disturb."""
    kind = draw.random()
    if kind < 0.3:
        return '', 0
    if kind < 0.45:
        return ','.join(draw.sample(['write:short', 'write:EINTR', 'read:short', 'read:EINTR', 'open:EINTR', 'write:slow', 'fsync:slow'],
                                    draw.randint(1, 3))), 0
    if kind < 0.7:
        call = draw.choice(['write', 'write', 'fsync', 'rename', 'mmap', 'open', 'close'])
        fault = {'write': draw.choice(['ENOSPC', 'EIO']), 'mmap': 'ENOMEM', 'open': draw.choice(['EMFILE', 'EIO'])}.get(call, 'EIO')
        return f'{call}:{fault}:{draw.randint(1, 30)}', 0
    if kind < 0.82:
        return draw.choice(['write:kill', 'write:torn', 'fsync:kill', 'rename:kill', 'open:kill', 'mmap:kill']) + f':{draw.randint(1, 40)}', 0
    if kind < 0.94:
        return f'memory:ENOMEM:{int(10 ** draw.uniform(0, 4.2))}', 0
    return '', draw.choice([512, 4096, 20000, 60000, 100000])


def reference(chamber, which):
    """What the undisturbed run of these settings leaves: its status, the model's sha256, and how long it takes."""
    if which not in chamber.references:
        trial = chamber.trial('reference', which)
        chamber.texts(trial)
        ending = trial.run(['train', *SMALL, *SETTINGS[which], '-q'], seconds=300)
        trial.check_sentence(ending)
        path = trial.path('m.safetensors')
        chamber.references[which] = (ending.status, sha256(path) if os.path.exists(path) else None, ending.seconds)
        trial.forget()
    return chamber.references[which]


def check_model(trial):
    if os.path.exists(trial.path('m.safetensors')):
        ending = trial.run(['info', 'm.safetensors'])
        trial.must(ending.status == 0, f'the model that is there does not load: {ending.err}')


def check_files(trial):
    for name in os.listdir(trial.folder):
        trial.must(not name.endswith('.tmp'), f'{name} was left behind')
    with open(trial.path('m.jsonl'), 'rb') as lines:
        for number, line in enumerate(lines, 1):
            try:
                json.loads(line)
            except ValueError:
                raise Finding(f'm.jsonl:{number}: {line!r} is no JSON') from None


def one_start(trial, words, seconds, last):
    """One start of the run, disturbed unless it is the last; the ending."""
    chamber, draw = trial.chamber, trial.random
    words = words + ['-j', str(draw.randint(1, 3))]
    env = {'HEED_KERNEL': draw.choice(chamber.kernels)} if draw.random() < 0.3 else {}
    if last:
        return trial.run(words, env=env, seconds=300)
    faults, file_size = random_faults(draw)
    sent = (draw.choice(KILLS), draw.uniform(0, 1.2) * seconds) if draw.random() < 0.75 else None
    ending = trial.run(words, faults=faults, file_size=file_size, signal=sent, env=env, seconds=300)
    if ending.status < 0 or ending.status > 2:
        chamber.counts['kills'] += 1
    chamber.counts['faults'] += bool(faults or file_size)
    if ending.status in (0, 1, 2):
        trial.check_sentence(ending)
        trial.must(ending.status != 1 or faults or file_size or trial.fails, f'it failed without a fault: {ending.err}')
        trial.must(ending.status != 2, f'what was right before is wrong usage now: {ending.err}')
    elif ending.status > 0:
        trial.must(sent and ending.status == TOLD.get(sent[0]), f'status {ending.status} after signal {sent}')
    else:
        trial.must(-ending.status == signal.SIGKILL or (sent and -ending.status == sent[0]), f'it died by signal {-ending.status}')
    return ending


def train(trial):
    """Kill a training run until it is done."""
    chamber, draw = trial.chamber, trial.random
    which = draw.randrange(len(SETTINGS))
    status, model, seconds = reference(chamber, which)
    trial.fails = status != 0
    chamber.texts(trial)
    words = ['train', *SMALL, *SETTINGS[which]] + (['-q'] if draw.random() < 0.5 else [])
    for start in range(12):
        ending = one_start(trial, words, seconds, start == 11)
        check_model(trial)
        if ending.status == 0 or (ending.status == 1 and trial.fails and 'diverges' in ending.err):
            break
    trial.must(ending.status == status, f'it ends with {ending.status}, undisturbed with {status}: {ending.err}')
    if model:
        trial.must(sha256(trial.path('m.safetensors')) == model, 'its model is another than that of the undisturbed run')
    check_files(trial)


def convert(trial):
    """Kill a conversion that takes the place of a good file: the old one or the new one stands there, whole."""
    chamber, draw = trial.chamber, trial.random
    model = chamber.toy_model(trial)
    store = draw.choice(['f32', 'f16', 'bf16', 'int8'])
    trial.must(trial.run(['convert', model, '--store', 'f32', '--licence', 'old', '-o', 'out.safetensors']).status == 0, 'no first file')
    trial.must(trial.run(['convert', model, '--store', store, '-o', 'new.safetensors']).status == 0, 'no second file')
    good = {sha256(trial.path('out.safetensors')): 'old', sha256(trial.path('new.safetensors')): 'new'}
    for _ in range(6):
        faults, file_size = random_faults(draw)
        sent = (draw.choice(KILLS), draw.uniform(0, 0.08)) if draw.random() < 0.6 else None
        ending = trial.run(['convert', model, '--store', store, '-o', 'out.safetensors'], faults=faults, file_size=file_size, signal=sent)
        chamber.counts['kills'] += ending.status < 0
        chamber.counts['faults'] += bool(faults or file_size)
        if ending.status >= 0:
            trial.check_sentence(ending)
        which = good.get(sha256(trial.path('out.safetensors')))
        trial.must(which, f'out.safetensors is neither the old file nor the new one after status {ending.status}')
        trial.must(ending.status != 0 or which == 'new', 'done, but the old file is still there')


def translate(trial):
    """Faults under translating, aligning and drawing: what comes out is what comes out undisturbed, or a sentence."""
    chamber, draw = trial.chamber, trial.random
    model = chamber.toy_model(trial)
    chamber.texts(trial)
    words = draw.choice([['translate', '-m', model, 'dev.en'], ['translate', '-m', model, '--json', 'dev.en'],
                         ['align', '-m', model, 'dev.en', 'dev.fr'], ['score', '-m', model, '-q', 'dev.en', 'dev.fr'],
                         ['translate', '-m', model, '--plot', 'p.svg', 'dev.en'], ['eval', '-m', model, '-q', 'dev.en', 'dev.fr']])
    undisturbed = trial.run(words)
    trial.must(undisturbed.status == 0, f'undisturbed it fails: {undisturbed.err}')
    for _ in range(5):
        faults, file_size = random_faults(draw)
        ending = trial.run(words, faults=faults, file_size=file_size)
        chamber.counts['faults'] += bool(faults or file_size)
        if ending.status >= 0:
            trial.check_sentence(ending)
            trial.must(ending.status != 0 or ending.out == undisturbed.out, 'done, with another result than undisturbed')
