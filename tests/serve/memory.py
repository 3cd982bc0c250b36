"""memory.py -- better translations are suggested, used at once, listed and forgotten; none is lost at a kill."""
import os
import signal
import tempfile
import threading
from server import TOY, Server, beside, check, finish, same

folder = tempfile.TemporaryDirectory()
FILE = os.path.join(folder.name, 'memory.tsv')
ONE = {'q': 'eins zwei drei', 'source': 'de', 'target': 'en'}


def lines():
    with open(FILE) as f:
        return f.read().split('\n')[:-1]


with Server('--memory', FILE) as s:
    same('a memory may be new', (lines(), s.get('/heed/memory').json), ([], {'lines': 0, 'pairs': []}))
    check('the page is told', s.get('/frontend/settings').json['suggestions'] is True)
    before = s.post_json('/heed/translate', {'q': 'eins zwei drei vier'}).text
    same('nothing is remembered yet', s.post_json('/translate', ONE).json, {'translatedText': 'three two one'})
    a = s.post_form('/suggest', {'q': ' eins\tzwei\ndrei ', 's': 'nine "quoted" <b>', 'source': 'de', 'target': 'en'})
    same('a suggestion is taken', (a.status, a.json), (200, {'success': True}))
    same('as a line', lines(), ['eins zwei drei\tnine "quoted" <b>\tde\ten'])
    same('and used at once', s.post_json('/translate', ONE).json, {'translatedText': 'nine "quoted" <b>'})
    a = s.post_json('/heed/translate', {'q': 'eins zwei drei vier'})
    same('others say which they looked at', [(m['line'], m['source']) for m in a.json['memory']], [(1, 'eins zwei drei')])
    check('and how like it is', 0 < a.json['memory'][0]['similarity'] < 1, a)
    same('a client may do without', s.post_json('/translate', {**ONE, 'q': 'vier'}).json['translatedText'], 'four')
    same('or ask for none', 'memory' in s.post_json('/heed/translate', {'q': 'eins zwei drei', 'memory': False}).json, False)
    for field in ('q', 's', 'source', 'target'):
        said = {'q': 'a', 's': 'b', 'source': 'de', 'target': 'en'}
        del said[field]
        same(f'{field} is needed', s.post_json('/suggest', said).json, {'error': f'Invalid request: missing {field} parameter'})
    same('with something in it', s.post_json('/suggest', {**ONE, 's': ' \n'}).status, 400)
    same('and a language that is known', s.post_json('/suggest', {**ONE, 's': 'x', 'target': 'zz'}).json, {'error': 'zz is not supported'})
    same('a page of a stranger may not', s.post_form('/suggest', {**ONE, 's': 'x'}, Origin='https://evil.example').status, 403)
    same('nothing of this was kept', len(lines()), 1)
    for path in ('/etc/passwd', FILE, 'none'):
        same(f'a client names no file: {path}', s.post_json('/heed/translate', {'q': 'eins', 'memory': path}).json,
             {'error': "memory is the server's own choice"})
    same('nor a glossary', s.post_json('/heed/translate', {'q': 'eins', 'glossary': '/etc/passwd'}).json,
         {'error': "glossary is the server's own choice"})

    same('the other direction is another one', s.post_json('/suggest', {'q': 'eins', 's': 'un', 'source': 'en', 'target': 'de'}).status, 200)
    same('which is not used here', s.post_json('/translate', {**ONE, 'q': 'eins'}).json, {'translatedText': 'one'})
    s.post_json('/suggest', {**ONE, 'q': 'zwei', 's': 'two'})
    a = s.get('/heed/memory?limit=2').json
    same('what is remembered is listed, the newest first', (a['lines'], [(p['line'], p['source'], p['target'], p['from'], p['to'])
                                                                       for p in a['pairs']]),
         (3, [(3, 'zwei', 'two', 'de', 'en'), (2, 'eins', 'un', 'en', 'de')]))
    same('page by page', [p['line'] for p in s.get('/heed/memory?offset=2').json['pairs']], [1])
    same('a line that has moved is not forgotten', s.ask('DELETE', '/heed/memory?line=1&source=zwei').status, 409)
    same('nor one that is not there', s.ask('DELETE', '/heed/memory?line=9').status, 404)
    same('nor none', s.ask('DELETE', '/heed/memory').status, 404)
    same('but the right one is', s.ask('DELETE', '/heed/memory?line=1&source=eins+zwei+drei').json, {'success': True})
    same('and its answer is gone', s.post_json('/translate', ONE).json, {'translatedText': 'three two one'})
    same('the others are still there', [x.split('\t')[0] for x in lines()], ['eins', 'zwei'])
    s.ask('DELETE', '/heed/memory?line=1')
    s.ask('DELETE', '/heed/memory?line=1')
    same('with all forgotten all is as before', s.post_json('/heed/translate', {'q': 'eins zwei drei vier'}).text, before)
    with open(FILE, 'w') as f:
        f.write('vier\tquattro\tde\ten')
    same('a line without an end is one', s.post_json('/suggest', {**ONE, 'q': 'sechs', 's': 'sei'}).status, 200)
    same('and stays one', lines(), ['vier\tquattro\tde\ten', 'sechs\tsei\tde\ten'])
    same('both are used', s.post_json('/translate', {**ONE, 'q': ['vier', 'sechs']}).json['translatedText'], ['quattro', 'sei'])

    # Suggestions from many sides at once, and then no more server.
    told = []

    def suggest(k):
        for i in range(12):
            if s.post_json('/suggest', {**ONE, 'q': f'text {k} {i}', 's': f'wanted {k} {i}'}).status == 200:
                told.append(f'text {k} {i}\twanted {k} {i}\tde\ten')
            s.post_json('/translate', {**ONE, 'q': f'eins {i}'})
    threads = [threading.Thread(target=suggest, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    s.process.send_signal(signal.SIGKILL)
same('all that was told to be kept is kept', sorted(told), sorted(x for x in lines() if x.startswith('text')))
same('which was all', len(told), 48)
with Server('--memory', FILE) as s:
    same('and used by the next server', s.post_json('/translate', {**ONE, 'q': 'text 3 11'}).json, {'translatedText': 'wanted 3 11'})

# A long memory: to read it takes a while, for which nobody else waits.
with open(FILE, 'w') as f:
    f.writelines(f'satz {i} {i * 7 % 1000} {i * 13 % 1000}\tsentence {i}\tde\ten\n' for i in range(60000))
with Server('--quiet', '--memory', FILE) as s:
    for name, ask in (('a suggestion', lambda: s.post_json('/suggest', {**ONE, 'q': 'eins zwei', 's': 'late'})),
                      ('forgetting', lambda: s.ask('DELETE', '/heed/memory?line=5'))):
        a, took, wait = beside(ask, lambda: [s.get('/health'), s.post_json('/translate', {**ONE, 'q': 'vier', 'memory': False})])
        check(f'others do not wait for {name}', a.status == 200 and wait < 0.6 * took, (a, took, wait))
    same('both have been done', (s.post_json('/translate', {**ONE, 'q': 'eins zwei'}).json, s.get('/heed/memory').json['lines']),
         ({'translatedText': 'late'}, 60000))

# Models that are read again: what is suggested meanwhile is there in the old fleet and in the new.
with open(FILE, 'w') as f:
    f.write('')
with Server(*['-m', 'de-en=' + TOY] * 40, '--memory', FILE) as s:
    lost = []
    for i in range(12):
        n_before = sum('read again' in x for x in s.log)
        s.process.send_signal(signal.SIGHUP)
        k = 0
        while sum('read again' in x for x in s.log) == n_before and k < 2000:
            s.post_json('/suggest', {**ONE, 'q': f'satz {i} {k}', 's': f'sentence {i} {k}'})
            k += 1
        lost += [j for j in range(k) if s.post_json('/translate', {**ONE, 'q': f'satz {i} {j}'}).json != {'translatedText': f'sentence {i} {j}'}]
    same('nothing that is suggested while models are read again is lost', lost, [])
with Server() as s:
    same('without a memory there is none', (s.get('/heed/memory').status, s.post_form('/suggest', {**ONE, 's': 'x'}).status), (403, 403))
finish()
