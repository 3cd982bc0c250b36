"""own.py -- heed's own interface: results whole, equal to what the command line prints."""
import json
import math
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
    weights, scores = t['subwords']['attention'], t['subwords']['scores']

    def softmax(row):
        total = sum(math.exp(e) for e in row)
        return [math.exp(e) / total for e in row]
    check('raw scores are told beside the weights, which are their softmax',
          all(abs(w - p) < 1e-5 for ws, es in zip(weights, scores) for w, p in zip(ws, softmax(es))), (weights, scores))
    forced = s.post_json('/heed/translate', {'q': 'eins zwei', 'force': [[0, 0]]}).json['translations'][0]
    same('where it looks can be forced', forced['subwords']['attention'][0], [1] + [0] * (len(weights[0]) - 1))
    check('and something else is written', forced['text'].startswith('one') and t['text'] == 'two one', forced)
    same('weights can be shared out', [round(w, 4) for w in s.post_json('/heed/translate', {'q': 'eins zwei', 'force': [[1, 0, 3], [1, 1, 1]]})
                                       .json['translations'][0]['subwords']['attention'][1][:2]], [0.75, 0.25])
    same('what is free is free', s.post_json('/heed/translate', {'q': 'eins zwei', 'force': []}).text,
         s.post_json('/heed/translate', {'q': 'eins zwei'}).text)
    same('a neighbour is not forced', [x['translations'][0]['text'] for x in
                                       s.post_json('/heed/translate', {'q': ['eins zwei', 'eins zwei'], 'force': [[0, 0]]}).json],
         [forced['text']] * 2)
    ends = [n for n in a['beam'] if 'rank' in n]
    best = next(n for n in ends if n['rank'] == 0)
    words, n = [], best
    while n:
        words.insert(0, n['text'])
        n = a['beam'][n['parent']] if n['parent'] is not None else None
    same('the tree has the best', words, t['subwords']['target'])
    check('and what was given up', len(a['beam']) > len(words) and len(ends) >= 1, a['beam'])
    same('with its score', best['score'], t['score'])

    # a form has words for yes and no
    for yes in ('true', 'True', 'yes', 'on', '1'):
        same(f'a stream can be asked for with {yes}', s.post_form('/heed/translate', {'q': 'eins', 'stream': yes}).headers['content-type'], 'text/event-stream')
    for no in ('false', 'no', '0'):
        same(f'and not, with {no}', s.post_form('/heed/translate', {'q': 'eins', 'stream': no, 'memory': no, 'dark': no}).json['source'], 'eins')
    check('an option, too', 'beam' in s.post_form('/heed/translate', {'q': 'eins', 'tree': 'true'}).json and
          'beam' not in s.post_form('/heed/translate', {'q': 'eins', 'tree': 'false'}).json)
    same('but not with any word', s.post_form('/heed/translate', {'q': 'eins', 'stream': 'perhaps'}).json, {'error': 'stream must be true or false'})
    same('with a dash or otherwise, limits hold', [s.post_json('/heed/translate', {'q': 'eins', 'beam': 20, name: 100}).status for name in ('n-best', 'n_best')], [400, 400])
    same('and what is the server\'s stays so', s.post_json('/heed/translate', {'q': 'eins', 'memory_cache': False}).json, {'error': "memory-cache is the server's own choice"})

    a = s.get('/heed/model').json
    same('models are told', [(m['model'], m['from'], m['to']) for m in a], [('toy.safetensors', 'de', 'en')])
    n_layers, n_heads = a[0]['cross_layers'], a[0]['heads']
    a = s.post_json('/heed/align', {**open_pair, 'heads': 'all'}).json
    check('all heads are told', 'attention' in a and len(a['attention']) == n_layers and len(a['attention'][0]) == n_heads and
          len(a['attention'][0][0]) == a['rows'] and len(a['attention'][0][0][0]) == a['columns'], a)
    plain = s.post_json('/heed/translate', {'q': 'eins zwei'}).json
    one = s.post_json('/heed/translate', {'q': 'eins zwei', 'layers': [1], 'heads': 0}).json
    same('layers and heads can be asked for by number', (one['layers'], one['heads'], one['result']['translations'][0]['text']), (1, 1, plain['translations'][0]['text']))
    pairs = list(zip(one['attention'][0][0], one['result']['translations'][0]['subwords']['attention']))
    check('with their weights', len(pairs) == one['rows'] and all(abs(x - y) < 1e-3 for row, other in pairs for x, y in zip(row, other)), pairs)
    same('in a form, too', s.post_form('/heed/translate', {'q': 'eins zwei', 'layers': '1', 'heads': 'all'}).json['attention'], s.post_json('/heed/translate', {'q': 'eins zwei', 'heads': 'all'}).json['attention'])
    same('of a pair as well', s.post_json('/heed/align', {**open_pair, 'layers': 'all', 'heads': [0]}).json, a)
    for path, said, sentence in (('/heed/translate', {'layers': [0]}, 'layers must be all, or different numbers from 1 to'), ('/heed/translate', {'heads': 'some'}, 'heads must be all'),
                                 ('/heed/translate', {'heads': [99]}, 'heads must be all'), ('/heed/translate', {'heads': []}, 'heads must be all'), ('/heed/translate', {'layers': {}}, 'layers must be all'),
                                 ('/heed/translate', {'heads': 'all', 'q': ['eins']}, 'of one text'), ('/heed/translate', {'heads': 'all', 'stream': True}, 'as a whole'),
                                 ('/heed/score', {'heads': 'all', 'target': 'one'}, 'are for /heed/translate'), ('/heed/plot', {'layers': 'all'}, 'are for /heed/translate'),
                                 ('/heed/translate', {'heads': 'all', 'attention': 'none'}, 'no such attention'), ('/heed/translate', {'layers': 'all', 'attention': 'encoder'}, 'no such attention')):
        x = s.post_json(path, {'q': 'eins', **said})
        check(f'what is wrong with layers and heads is told: {path} {said}', x.status == 400 and sentence in x.json['error'], x)
    check('by its name a model is chosen', s.post_json('/heed/translate', {'q': 'eins', 'model': 'toy.safetensors'}).status == 200)
    for said, sentence in (({'model': 'x'}, 'there is no model x'), ({'from': 'zz'}, 'zz is not supported'), ({'to': 'de'}, 'no model translates'),
                           ({'beam': 100}, 'at most 20'), ({'threads': 3}, "the server's own choice"), ({'baem': 1}, 'did you mean beam'),
                           ({'beam': [1]}, 'must be text, a number'), ({'q': ''}, 'missing q'), ({'prefix': 3}, 'prefix must be text'),
                           ({'layer': 60}, 'layer'), ({'force': [[0]]}, 'force must be a list'), ({'force': [[0, 99]]}, 'no subword 99'),
                           ({'force': [[-1, 0]]}, 'force must be'), ({'force': 'x'}, 'force must be'),
                           ({'q': 'eins. zwei.', 'force': [[0, 0]]}, 'of one sentence')):
        a = s.post_json('/heed/translate', {'q': 'eins', **said})
        check(f'what is wrong is told: {said}', a.status == 400 and sentence in a.json['error'], a)

    def stream(**said):
        """The events of a stream, as (name, data)."""
        a = s.post_json('/heed/translate', {'stream': True, **said})
        check('a stream has events', a.headers['content-type'] == 'text/event-stream', a)
        return [(e.split('\n')[0][7:], e.split('\n')[1][6:]) for e in a.text.strip().split('\n\n')]

    def of(events, name):
        return [json.loads(data) for n, data in events if n == name]

    events = stream(q=['eins', 'zwei drei'])
    same('texts come in their order', [e['part'] for e in of(events, 'sentence')], [0, 1])
    same('and the whole at its end', events[-1], ('done', s.post_json('/heed/translate', {'q': ['eins', 'zwei drei']}).text))
    same('a beam tells sentences', sorted((e['part'], e['sentence'], e['text']) for e in of(events, 'written')), [(0, 0, 'one'), (1, 0, 'three two')])
    same('and no words', of(events, 'words'), [])
    events = stream(q='eins zwei drei vier', beam=1)
    same('greedy search tells words as they are written', [e['text'] for e in of(events, 'words')],
         ['four', 'four three', 'four three two', 'four three two one'])
    same('and the sentence', [e['text'] for e in of(events, 'written')], ['four three two one'])
    events = stream(q='eins zwei. drei vier.', beam=1)
    same('each sentence by itself', sorted((e['sentence'], e['sentences']) for e in of(events, 'written')), [(0, 2), (1, 2)])
    same('nothing is replaced', of(events, 'replace'), [])
    loop = 'zwei ' * 30
    events = stream(q=loop, beam=1)
    if of(events, 'replace'):
        names = [n for n, _ in events]
        check('what is searched again is written anew', names.index('replace') < names.index('written'), names)

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
        same('in a form it may be dark, too', s.post_form('/heed/plot', {'q': 'eins', 'format': 'SVG', 'dark': 'true'}).bytes,
             s.post_json('/heed/plot', {'q': 'eins', 'dark': True}).bytes)
        same('a picture is no stream', s.post_json('/heed/plot', {'q': 'eins', 'stream': True}).status, 400)
        tikz = s.post_json('/heed/plot', {'q': 'eins zwei', 'format': 'tex'})
        check('or TikZ', tikz.headers['content-type'] == 'application/x-tex' and '\\begin{tikzpicture}' in tikz.text and '{eins};' in tikz.text, tikz.text[:300])
        check('but not any', s.post_json('/heed/plot', {'q': 'eins', 'format': 'gif'}).status == 400)
finish()
