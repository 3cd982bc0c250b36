"""languages.py -- a model of several directions: all are offered, the language of a text is told, and answers are those of the command line."""
import os
import random
import subprocess
import sys
import tempfile
from server import HEED, Server, check, finish, same

NUMBERS = {'en': 'one two three four five six seven eight'.split(), 'de': 'eins zwei drei vier fünf sechs sieben acht'.split(),
           'fr': 'un deux trois quatre cinq six sept huit'.split()}
PAIRS = ['en-de', 'de-en', 'en-fr', 'fr-en']
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)


def write(name, n, seed):
    """n pairs of each direction; how well they are learned does not matter here."""
    r = random.Random(seed)
    for pair in PAIRS:
        source, target = (NUMBERS[x] for x in pair.split('-'))
        with open(f'{name}.{pair}.tsv', 'w') as f:
            for _ in range(n):
                picked = [r.randrange(8) for _ in range(r.randrange(2, 5))]
                f.write(' '.join(source[i] for i in picked) + '\t' + ' '.join(target[i] for i in picked) + '\n')


write('train', 300, 1)
write('dev', 20, 2)
done = subprocess.run([HEED, 'train', '--pair', *(f'{p}=train.{p}.tsv' for p in PAIRS), '--dev-pair', *(f'{p}=dev.{p}.tsv' for p in PAIRS),
                       '--tokens', 'words', '--arch', 'bahdanau', '--dim', '16', '--updates', '60', '--valid-every', '60', '-j', '1', '-q',
                       '--out', 'four.safetensors'], stderr=subprocess.PIPE)
if done.returncode != 0:
    sys.exit(done.stderr.decode())


def printed(*options, text):
    out = subprocess.run([HEED, 'translate', '-m', 'four.safetensors', *options], input=text.encode(), stdout=subprocess.PIPE, check=True)
    return out.stdout.decode().rstrip('\n')


with Server('-m', 'four.safetensors', model=False) as s:
    same('all directions are offered', {x['code']: sorted(x['targets']) for x in s.get('/languages').json},
         {'en': ['de', 'en', 'fr'], 'de': ['de', 'en'], 'fr': ['en', 'fr']})
    same('each by the model that has it', [(m['model'], m['from'], m['to']) for m in s.get('/heed/model').json],
         [('four.safetensors', *p.split('-')) for p in PAIRS])
    for pair in PAIRS:
        source, target = pair.split('-')
        text = ' '.join(NUMBERS[source][2:6])
        wanted = printed('--from', source, '--to', target, text=text + '\n')
        same(f'{pair} is what heed translate says', s.post_json('/translate', {'q': text, 'source': source, 'target': target}).json,
             {'translatedText': wanted})
        a = s.post_json('/translate', {'q': text, 'source': 'auto', 'target': target}).json
        same(f'{source} is told from the text', (a['detectedLanguage']['language'], a['translatedText']), (source, wanted))
        check('with a confidence', 50 < a['detectedLanguage']['confidence'] <= 100, a)
        a = s.post_form('/detect', {'q': text}).json
        check('so says /detect', a[0]['language'] == source and len(a) <= 3 and a == sorted(a, key=lambda x: -x['confidence']), a)
        a = s.post_json('/heed/translate', {'q': text, 'to': target})
        same('and the own interface', a.text, printed('--to', target, '--json', text=text + '\n'))
        same('which may be told', s.post_json('/heed/translate', {'q': text, 'from': source, 'to': target}).json['from'], source)
    same('all that is asked of /detect is answered', [x['language'] for x in s.post_json('/detect', {'q': ['eins drei', 'deux trois']}).json
                                                     if x['confidence'] > 50], ['de', 'fr'])
    same('no letters, no language', s.post_form('/detect', {'q': '123 !'}).json[0]['confidence'], 0.0)
    same('what is of the target language already stays', s.post_json('/translate', {'q': 'un deux trois', 'source': 'auto', 'target': 'fr'})
         .json['translatedText'], 'un deux trois')
    same('a pair that there is not is refused', s.post_json('/translate', {'q': 'eins', 'source': 'de', 'target': 'fr'}).json,
         {'error': 'French (fr) is not available as a target language from German (de)'})
    a = s.post_json('/translate', {'q': '<p class="one two">drei vier</p>', 'source': 'auto', 'target': 'en', 'format': 'html'}).json
    same('tags are no text', a['detectedLanguage']['language'], 'de')
    same('DeepL tells it, too', s.post_json('/v2/translate', {'text': ['trois quatre'], 'target_lang': 'EN'}, Authorization='x')
         .json['translations'][0]['detected_source_language'], 'FR')

with Server('-m', 'fr-en=four.safetensors', '-m', 'en-de=four.safetensors', model=False) as s:
    same('some of the directions may be served', {x['code']: sorted(x['targets']) for x in s.get('/languages').json},
         {'fr': ['en', 'fr'], 'en': ['de', 'en'], 'de': ['de']})
    same('by two models one text is told', s.post_json('/translate', {'q': 'deux trois', 'source': 'auto', 'target': 'en'})
         .json['detectedLanguage']['language'], 'fr')
os.chdir('/')
finish()
