"""options.py -- options drawn from the program's own tables (heed --tables) over toy text: every set of them must do its work, be refused
with a sentence, or stop in time when asked; no crash, hang or leak under the address sanitizer."""

TRAIN = ['train', '--src', 'train.en', '--tgt', 'train.fr', '--dev-src', 'dev.en', '--dev-tgt', 'dev.fr', '--out', 'm.safetensors']
SMALL = ['--updates', '3', '--tokens', 'words', '--batch-tokens', '60', '--dim', '8', '--ffn', '8', '--heads', '2', '--layers', '1']
FILES = ['train.en', 'dev.fr', 'dev.tsv', 'links.svg', 'nowhere', 'toy.safetensors', '.', '', 'glossary.tsv', 'en-fr=dev.tsv', '/dev/null']
TEXTS = ['', 'x', '0', '-1', 'none', 'en-fr', 'é\t\n', '%s%n', 'a' * 300, '[', '(a', '</s>', '*', '1,2', 'power:0.5', 'gnmt:1', 'topk=3',
         'topp=0.5', 'all', 'mean', '0,1', 'auto', '<b>', 'bleu,wer']


def read_tables(text):
    """The rows of all commands: name -> [(option, value, least, most)]."""
    commands = {}
    for line in text.split('\n'):
        cells = line.split('\t')
        if cells[0] == 'command':
            rows = commands.setdefault(cells[1], [])
        elif cells[0] == 'option':
            rows.append(tuple(cells[i] for i in (1, 3, 4, 5)))
    return commands


def number(draw, least, most, whole):
    """A number of the range, often small or at an edge, sometimes beside it."""
    low, high = float(least), float(most)
    kind = draw.random()
    if kind < 0.1:
        value = draw.choice([low - 1, high + 1, 1e300, -1e300])
    elif kind < 0.25:
        value = draw.choice([low, high])
    else:
        value = min(max(low, 10 ** draw.uniform(-3, 3) if not whole else draw.choice([0, 1, 2, 3, 5, 8, 17, 100, 1000])), high)
    return str(int(value)) if whole else f'{value:g}'


def value_of(draw, value, least, most):
    if draw.random() < 0.05:
        return draw.choice(TEXTS)
    if '|' in value and not least:
        choice = draw.choice(value.split('|'))
        return choice.replace('=N', '=5').replace('=X', '=0.9').replace(':X', ':0.7').replace('FILE.svg', 'p.svg')
    if least:
        return number(draw, least, most, value == 'N')
    return draw.choice(FILES if 'FILE' in value or 'MODEL' in value else TEXTS)


def random_words(draw, rows, n):
    words = []
    for name, value, least, most in draw.sample(rows, min(n, len(rows))):
        if name in ('out', 'hours'):
            continue
        words.append('--' + name)
        if value:
            words.append(value_of(draw, value, least, most))
    return words


def options(trial):
    chamber, draw = trial.chamber, trial.random
    chamber.texts(trial)
    model = chamber.toy_model(trial)
    command = draw.choice(['train'] * 5 + ['translate'] * 4 + ['align', 'score', 'eval', 'info', 'convert'])
    extra = random_words(draw, chamber.tables[command], draw.choice([0, 1, 2, 3, 4, 6, 9]))
    words = {
        'train': TRAIN + SMALL,
        'translate': ['translate', '-m', model, draw.choice(['dev.en', 'odd.txt'])],
        'align': ['align', '-m', model, 'dev.en', 'dev.fr'],
        'score': ['score', '-m', model, 'dev.en', 'dev.fr'],
        'eval': draw.choice([['eval', '-m', model, 'dev.en', 'dev.fr'], ['eval', '--hyp', 'dev.fr', '--ref', 'dev.fr']]),
        'info': ['info', model],
        'convert': ['convert', model, '-o', 'out.safetensors'],
    }[command] + extra
    ending = trial.run(words, sanitized=True, seconds=20)
    chamber.counts['option sets'] += 1
    if ending.is_late:
        chamber.counts['stopped in time'] += 1
        is_done = ending.status == 0 and 'done: ' in ending.err  # the signal came when all had been saved
        trial.must(is_done or ending.status in (143, -15), f'asked to stop, it ends with status {ending.status}: {ending.err[-500:]}')
    else:
        trial.check_sentence(ending)
