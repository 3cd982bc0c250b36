"""own.py -- heed's own interface: results whole, equal to what the command line prints."""
import json
import subprocess
from server import HEED, TOY, Server, check, finish, same


def printed(command, *options, text):
    out = subprocess.run([HEED, command, '-m', TOY, *options], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
    return out.decode().rstrip('\n')


with Server() as s:
    a = s.post_json('/heed/translate', {'q': 'eins zwei drei'})
    same('a result is what heed translate --json prints', a.text, printed('translate', '--json', text='eins zwei drei\n'))
    a = s.post_json('/heed/translate', {'q': ['eins', 'zwei vier'], 'beam': 1, 'n-best': 2, 'length-norm': 'gnmt:0.6'})
    lines = printed('translate', '--json', '--beam', '1', '--n-best', '2', '--length-norm', 'gnmt:0.6', text='eins\nzwei vier\n').split('\n')
    same('options are those of heed translate', a.text, '[' + ', '.join(lines) + ']')
    same('a form may say them, too', s.post_form('/heed/translate', {'q': 'eins zwei', 'attention': 'none'}).json['translations'][0]['attention'], None)
    a = s.post_json('/heed/translate', {'q': 'eins zwei', 'prefix': 'nine'}).json
    check('a translation begins as it must', a['translations'][0]['text'].startswith('nine'), a)
    a = s.post_json('/heed/translate', {'q': ['eins', 'zwei'], 'prefix': ['six', None]}).json
    check('each as its own must', a[0]['translations'][0]['text'].startswith('six') and a[1]['translations'][0]['text'] == 'two', a)

    open_pair = {'q': 'eins zwei', 'target': 'two one'}
    a = s.post_json('/heed/align', open_pair).json['translations'][0]
    same('given translations are aligned', (a['text'], a['links']), ('two one', [[1, 0], [0, 1]]))
    same('forced on the way of translate as well', s.post_json('/heed/translate', open_pair).json['translations'][0], a)
    a = s.post_json('/heed/score', open_pair).json['translations'][0]
    b = s.post_json('/heed/score', {**open_pair, 'target': 'nine one'}).json['translations'][0]
    check('and scored', a['logprob'] > b['logprob'] and a['attention'] is None, (a, b))
    same('a target is needed', s.post_json('/heed/align', {'q': 'eins'}).json, {'error': 'Invalid request: missing target parameter'})

    a = s.post_json('/heed/translate', {'q': 'eins zwei', 'steps': 3, 'tree': True, 'beam': 3}).json
    t = a['translations'][0]
    same('every step tells its likeliest words', [len(x) for x in t['steps']], [3] * len(t['subwords']['target']))
    same('of which the first was written', [x[0][0] for x in t['steps']], t['subwords']['target'])
    check('likeliest first', all(x[0][1] >= x[1][1] >= x[2][1] for x in t['steps']), t['steps'])
    ends = [n for n in a['beam'] if 'rank' in n]
    best = next(n for n in ends if n['rank'] == 0)
    words, n = [], best
    while n:
        words.insert(0, n['text'])
        n = a['beam'][n['parent']] if n['parent'] is not None else None
    same('the tree has the best', words, t['subwords']['target'])
    check('and what was given up', len(a['beam']) > len(words) and len(ends) >= 1, a['beam'])
    same('with its score', best['score'], t['score'])

    a = s.get('/heed/model').json
    same('models are told', [(m['model'], m['from'], m['to']) for m in a], [('toy.safetensors', 'de', 'en')])
    n_layers, n_heads = a[0]['cross_layers'], a[0]['heads']
    a = s.post_json('/heed/align', {**open_pair, 'heads': 'all'}).json
    check('all heads are told', 'attention' in a and len(a['attention']) == n_layers and len(a['attention'][0]) == n_heads and
          len(a['attention'][0][0]) == a['rows'] and len(a['attention'][0][0][0]) == a['columns'], a)
    check('by its name a model is chosen', s.post_json('/heed/translate', {'q': 'eins', 'model': 'toy.safetensors'}).status == 200)
    for said, sentence in (({'model': 'x'}, 'there is no model x'), ({'from': 'zz'}, 'zz is not supported'), ({'to': 'de'}, 'no model translates'),
                           ({'beam': 100}, 'at most 20'), ({'threads': 3}, "the server's own choice"), ({'baem': 1}, 'did you mean beam'),
                           ({'beam': [1]}, 'must be text, a number'), ({'q': ''}, 'missing q'), ({'prefix': 3}, 'prefix must be text'),
                           ({'layer': 60}, 'layer')):
        a = s.post_json('/heed/translate', {'q': 'eins', **said})
        check(f'what is wrong is told: {said}', a.status == 400 and sentence in a.json['error'], a)

    a = s.post_json('/heed/translate', {'q': ['eins', 'zwei drei'], 'stream': True})
    events = [x.split('\n') for x in a.text.strip().split('\n\n')]
    check('a stream has events', a.headers['content-type'] == 'text/event-stream' and
          [e[0] for e in events] == ['event: sentence', 'event: sentence', 'event: done'], a)
    same('in the order of the texts', [json.loads(e[1][6:])['part'] for e in events[:2]], [0, 1])
    same('and the whole at its end', events[2][1][6:], s.post_json('/heed/translate', {'q': ['eins', 'zwei drei']}).text)

    a = s.post_json('/heed/plot', {'q': 'eins zwei'})
    if a.status == 500 and 'heed_draw' in a.text:
        print('skipped: pictures, as there is no heed_draw.so')
    else:
        check('a picture is drawn', a.headers['content-type'] == 'image/svg+xml' and a.text.startswith('<'), a)
        subprocess.run([HEED, 'translate', '-m', TOY, '--plot', '/tmp/heed-own-%d.svg' % s.port], input=b'eins zwei\n', check=True,
                       stdout=subprocess.DEVNULL)
        with open('/tmp/heed-own-%d.svg' % s.port, 'rb') as f:
            same('the one that --plot draws', a.bytes, f.read())
        import os
        os.remove('/tmp/heed-own-%d.svg' % s.port)
        check('or another', s.post_json('/heed/plot', {'q': 'eins', 'format': 'png', 'dark': True}).bytes[:4] == b'\x89PNG')
        check('but not any', s.post_json('/heed/plot', {'q': 'eins', 'format': 'gif'}).status == 400)
finish()
