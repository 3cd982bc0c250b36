"""libre.py -- LibreTranslate's interface: fields, status codes and sentences."""
import re
import subprocess
from server import HEED, TOY, Server, check, finish, same

with Server() as s:
    one = {'q': 'eins zwei drei', 'source': 'de', 'target': 'en'}
    wanted = {'translatedText': 'three two one'}
    same('a JSON body is translated', s.post_json('/translate', one).json, wanted)
    same('a form is', s.post_form('/translate', one).json, wanted)
    same('a multipart body is', s.post_parts('/translate', one).json, wanted)
    same('a query string is', s.ask('POST', '/translate?q=eins+zwei%20drei&source=de&target=en').json, wanted)
    same('a list gives a list', s.post_json('/translate', {**one, 'q': ['eins', 'zwei drei']}).json,
         {'translatedText': ['one', 'three two']})
    same('lines stay lines', s.post_json('/translate', {**one, 'q': 'eins zwei\n\n drei vier \n'}).json,
         {'translatedText': 'two one\n\n four three \n'})
    same('a form may end its lines with two characters', s.post_form('/translate', {**one, 'q': 'eins\r\nzwei'}).json,
         {'translatedText': 'one\ntwo'})
    a = s.post_json('/translate', {**one, 'source': 'auto'})
    same('a language is detected', a.json['detectedLanguage']['language'], 'de')
    check('with a confidence that is a number with a dot', '"confidence": ' in a.text and
          isinstance(a.json['detectedLanguage']['confidence'], float), a)
    a = s.post_json('/translate', {**one, 'source': 'auto', 'q': ['eins', 'zwei']}).json
    same('once per text', len(a['detectedLanguage']), 2)
    a = s.post_json('/translate', {**one, 'alternatives': 3}).json
    check('there are alternatives', 1 <= len(a['alternatives']) <= 3 and a['translatedText'] not in a['alternatives'], a)
    a = s.post_form('/translate', {**one, 'alternatives': '2'}).json
    check('to a form, too', len(a['alternatives']) <= 2, a)
    a = s.post_json('/translate', {**one, 'q': ['eins', 'zwei'], 'alternatives': 1}).json
    check('of each text', [len(x) <= 1 for x in a['alternatives']] == [True, True], a)
    same('the language itself changes nothing', s.post_json('/translate', {**one, 'target': 'de'}).json,
         {'translatedText': 'eins zwei drei'})
    same('codes may be written otherwise', s.post_json('/translate', {**one, 'source': 'DE', 'target': 'en_US'}).json, wanted)
    same('white space comes back', s.post_json('/translate', {**one, 'q': '   '}).json, {'translatedText': '   '})

    html = {'q': '<p>eins <b>zwei</b><br>drei &amp; vier</p>', 'source': 'de', 'target': 'en', 'format': 'html'}
    def marked_up(text):
        """What the command line makes of a document."""
        out = subprocess.run([HEED, 'translate', '-m', TOY, '--markup', 'html'], input=text.encode(), stdout=subprocess.PIPE, check=True)
        return out.stdout.decode().rstrip('\n')

    a = s.post_json('/translate', html).json['translatedText']
    same('tags go with their words', a, '<p><b>two</b> one<br>four &lt;unk&gt; three</p>')
    same('as heed translate --markup html has it', a, marked_up(html['q']))
    a = s.post_json('/translate', {**html, 'q': '<span translate="no">:eins:</span> <code>zwei</code><script>drei<</script>vier'})
    same('what says so stays', a.json['translatedText'], '<span translate="no">:eins:</span> <code>zwei</code><script>drei<</script>four')
    a = s.post_json('/translate', {**html, 'q': 'eins <!-- zwei --> <a href="x?a=1&b=2" title=\'>\'>drei'}).json
    same('comments and attributes do', a['translatedText'], '<!-- zwei --> <a href="x?a=1&b=2" title=\'>\'>three</a> one')
    lines = '<ul>\n  <li>eins zwei</li>\n  <li>drei</li>\n</ul>\n'
    same('a document of several lines is one', s.post_json('/translate', {**html, 'q': lines}).json['translatedText'],
         '<ul>\n  <li>two one</li>\n  <li>three</li>\n</ul>\n')
    for text in ('< <b', '<', '<a href="x', '&', '&#; &#x; &foo; &#xFFFFFFFF;', '<p', '</', '<!--', '<b>' * 300):
        check(f'broken markup is no trouble: {text[:20]}', s.post_json('/translate', {**html, 'q': text}).status == 200)

    def refused(name, status, sentence, answer):
        same(name, (answer.status, answer.json), (status, {'error': sentence}))

    for field in ('q', 'source', 'target'):
        less = {k: v for k, v in one.items() if k != field}
        refused(f'{field} is needed', 400, f'Invalid request: missing {field} parameter', s.post_json('/translate', less))
        refused(f'{field} is needed in a form', 400, f'Invalid request: missing {field} parameter', s.post_form('/translate', less))
    for empty in ('', [], None):
        refused(f'an empty q is none: {empty}', 400, 'Invalid request: missing q parameter', s.post_json('/translate', {**one, 'q': empty}))
    refused('a language must be known', 400, 'zz is not supported', s.post_json('/translate', {**one, 'source': 'zz'}))
    refused('both must', 400, 'zz is not supported', s.post_json('/translate', {**one, 'target': 'zz'}))
    refused('and the pair', 400, 'German (de) is not available as a target language from English (en)',
            s.post_json('/translate', {**one, 'source': 'en', 'target': 'de'}))
    refused('and the format', 400, 'docx format is not supported', s.post_json('/translate', {**one, 'format': 'docx'}))
    refused('alternatives are a number', 400, 'Invalid request: alternatives parameter is not a number',
            s.post_form('/translate', {**one, 'alternatives': 'x'}))
    refused('in JSON as well', 400, 'Invalid request: alternatives parameter is not a number',
            s.post_json('/translate', {**one, 'alternatives': [1]}))
    refused('and not too large a one', 400, 'Invalid request: alternatives parameter must be <= 10',
            s.post_json('/translate', {**one, 'alternatives': 10000}))
    for body in ('[]', '"x"', '{', '', '{"q": 1, "q": 2}', '\xff'):
        a = s.ask('POST', '/translate', body, {'Content-Type': 'application/json'})
        check(f'broken JSON is refused: {body}', a.status == 400 and 'error' in a.json, a)
    refused('what is no object is no format', 400, 'Invalid JSON format',
            s.ask('POST', '/translate', '[1]', {'Content-Type': 'application/json'}))
    check('a number is no text', s.post_json('/translate', {**one, 'q': [1]}).status == 400)

    for name in ('html', 'HTML', 'Html'):
        same(f'a format may be written {name}', s.post_form('/translate', {**html, 'q': '<p>eins</p>', 'format': name}).json, {'translatedText': '<p>one</p>'})
    same('or TEXT', s.post_form('/translate', {**one, 'format': 'TEXT'}).json, wanted)

    def raw_json(q, before=b''):
        body = before + b'{"q": "' + q + b'", "source": "de", "target": "de"}'
        return s.ask('POST', '/translate', body, {'Content-Type': 'application/json'})
    same('JSON may have a byte order mark', raw_json(b'eins', b'\xef\xbb\xbf').json, {'translatedText': 'eins'})
    for escapes, text in (('\\u0000', '\ufffd'), ('\\ud83d', '\ufffd'), ('\\uDE00', '\ufffd'), ('\\ud83d\\ude00', '\U0001f600'), ('\\ud83d\\ud83d\\ude00', '\ufffd\U0001f600'),
                          ('\\\\u0000', '\\u0000'), ('\\ud83dx', '\ufffdx'), ('\\ud83d\\u0041', '\ufffdA')):
        a = raw_json(b'a' + escapes.encode() + b'b')
        check(f'what is no character becomes one: {escapes}', a.status == 200 and a.json == {'translatedText': 'a' + text + 'b'}, a)
    for broken in (b'\\u00', b'\\', b'\\ud83d\\u', b'\\uzzzz'):
        check(f'a broken escape is none: {broken}', raw_json(broken).json == {'error': 'Invalid JSON format'})

    same('languages are told', s.get('/languages').json,
         [{'code': 'de', 'name': 'German', 'targets': ['en', 'de']}, {'code': 'en', 'name': 'English', 'targets': ['en']}])
    a = s.post_form('/detect', {'q': 'eins zwei'})
    check('a text has a language', [x['language'] for x in a.json] == ['de'], a)
    refused('if there is one', 400, 'Invalid request: missing q parameter', s.post_json('/detect', {}))
    a = s.get('/frontend/settings').json
    check('settings are told', a['charLimit'] == 50000 and a['filesTranslation'] is True and a['keyRequired'] is False and
          a['language']['source']['code'] == 'auto' and '.txt' in a['supportedFilesFormat'], a)
    same('the server is well', s.get('/health').json, {'status': 'ok'})
    same('a health check may have a body', s.ask('GET', '/health', '{}', {'Content-Type': 'application/json'}).json, {'status': 'ok'})
    same('the interface is described', s.get('/spec').json['swagger'], '2.0')
    said = s.get('/spec').json['paths']
    routes = re.findall(r'\{"(/[^"]*)", ([A-Z_| ]*)', open('serve/routes.c').read())
    missing = [(path, m) for path, flags in routes if path not in ('/', '/web/', '/spec') for m in ('GET', 'POST', 'DELETE')
               if 'HD_ROUTE_' + m in flags and not any(p.startswith(path) and m.lower() in said[p] for p in said) and (path, m) not in (('/v2/languages', 'POST'), ('/v2/usage', 'POST'))]
    same('as a whole', missing, [])
    same('with its fields', {'steps', 'force', 'layers', 'heads', 'memory', 'beam', 'stream'} - {p['name'] for p in said['/heed/translate']['post']['parameters']}, set())
    refused('suggestions are off', 403, 'Suggestions are disabled on this server.',
            s.post_form('/suggest', {'q': 'a', 's': 'b', 'source': 'de', 'target': 'en'}))
    for method, path in (('POST', '/languages'), ('POST', '/health'), ('POST', '/spec'), ('GET', '/detect'), ('POST', '/'),
                         ('GET', '/translate'), ('PUT', '/translate'), ('DELETE', '/languages'), ('PATCH', '/')):
        same(f'{method} {path} is not allowed', s.ask(method, path).status, 405)
    same('elsewhere there is nothing', s.get('/nothing').status, 404)
    check('HEAD has no body', s.ask('HEAD', '/languages').bytes == b'' and s.ask('HEAD', '/languages').status == 200)

    a = s.post_parts('/translate_file', {'source': 'de', 'target': 'en'}, [('file', 'zahlen.txt', 'eins zwei\n\ndrei\n'.encode())])
    url = a.json['translatedFileUrl']
    check('a file is translated', url.startswith(f'http://127.0.0.1:{s.port}/download_file/') and url.endswith('.zahlen.txt'), a)
    a = s.get(url[url.index('/download'):])
    check('and fetched', a.bytes == b'two one\n\nthree\n' and 'attachment' in a.headers['content-disposition'], a)
    a = s.post_parts('/translate_file', {'source': 'de', 'target': 'en'}, [('file', '../../a b&<x>.html', b'<p>eins</p>')])
    url = a.json['translatedFileUrl']
    check('its name is made harmless', '..' not in url.split('/download_file/')[1].split('.', 1)[1][:2] and '<' not in url, url)
    same('markup is known by its name', s.get(url[url.index('/download'):]).bytes, b'<p>one</p>')
    a = s.post_parts('/translate_file', {'source': 'de', 'target': 'en'}, [('file', 'a.xml', b'<a><b>eins zwei</b></a>')])
    url = a.json['translatedFileUrl']
    same('so is XML', s.get(url[url.index('/download'):]).bytes, b'<a><b>two one</b></a>')
    cue = '1\n00:00:01,000 --> 00:00:02,500\neins zwei\n\n2\n00:00:03,000 --> 00:00:04,000\n<i>drei</i>\n'
    a = s.post_parts('/translate_file', {'source': 'de', 'target': 'en'}, [('file', 'film.srt', cue.encode())])
    url = a.json['translatedFileUrl']
    same('subtitles keep their times and tags', s.get(url[url.index('/download'):]).text,
         cue.replace('eins zwei', 'two one').replace('drei', 'three'))
    a = s.post_parts('/translate_file', {'source': 'de', 'target': 'de'}, [('file', 'film.srt', cue.encode())])
    url = a.json['translatedFileUrl']
    same('and are as they were where nothing is to be done', s.get(url[url.index('/download'):]).text, cue)
    po = 'msgid "eins zwei"\nmsgstr ""\n\nmsgid "drei"\nmsgstr "tri"\n'
    a = s.post_parts('/translate_file', {'source': 'de', 'target': 'en'}, [('file', 'a.po', po.encode())])
    url = a.json['translatedFileUrl']
    same('messages of programs get what they lack', s.get(url[url.index('/download'):]).text,
         '#, fuzzy\nmsgid "eins zwei"\nmsgstr "two one"\n\nmsgid "drei"\nmsgstr "tri"\n')
    a = s.post_parts('/translate_file', {'source': 'de', 'target': 'en'}, [('file', 'a.po', b'msgid "drei"\nmsgstr "tri"\n')])
    url = a.json['translatedFileUrl']
    same('and stay where they lack nothing', s.get(url[url.index('/download'):]).bytes, b'msgid "drei"\nmsgstr "tri"\n')
    a = s.post_parts('/translate_file', {'source': 'de', 'target': 'en'}, [('file', 'a.po', b'msgid eins\n')])
    check('a file that is none is refused with its line', a.status == 400 and a.json['error'].startswith('Invalid request: ')
          and ':1:' in a.json['error'], a)
    refused('a file has a format', 400, 'Invalid request: file format not supported',
            s.post_parts('/translate_file', {'source': 'de', 'target': 'en'}, [('file', 'a.docx', b'x')]))
    refused('and something in it', 400, 'Invalid request: empty file',
            s.post_parts('/translate_file', {'source': 'de', 'target': 'en'}, [('file', 'a.txt', b'')]))
    refused('a path leads nowhere', 400, 'Invalid filename', s.get('/download_file/..%2F..%2Fetc%2Fpasswd'))
    same('a file that is not there is not', s.get('/download_file/0123.txt').status, 404)

    a = s.get('/')
    check('there is a page', a.status == 200 and '<!doctype html>' in a.text, a)
    check('which loads from here alone', "default-src 'none'" in a.headers['content-security-policy'] and
          'unsafe' not in a.headers['content-security-policy'] and 'set-cookie' not in a.headers, a)
    for path in ('/web/page.css', '/web/page.js', '/web/icon.svg'):
        a = s.get(path, Accept_Encoding='gzip')
        check(f'{path} comes packed', a.status == 200 and a.headers.get('content-encoding') == 'gzip', a)
        same('and once', s.get(path, If_None_Match=a.headers['etag']).status, 304)
    a = s.get('/metrics')
    check('numbers are told', 'heed_requests_total{endpoint="/translate",code="200"}' in a.text and
          'version=0.0.4' in a.headers['content-type'] and a.text.endswith('\n'), a)
    check('without texts', 'zwei' not in a.text and '127.0.0.1' not in a.text, a)
    check('answers are not kept', s.get('/languages').headers['cache-control'] == 'no-store' and
          s.get('/languages').headers['x-content-type-options'] == 'nosniff')
same('it ends well', s.status, 0)
check('it says where it is, and one line a request', sum('/translate 200' in x for x in s.log) >= 10, s.log[:3])
check('texts are not logged', not any('zwei' in x or 'two' in x for x in s.log), s.log)

with Server('--files', 'no', '--metrics', 'no', '--web', 'no', '--log-text', '-v', '--max-texts', '3', '--max-characters', '20',
            '--max-alternatives', '1') as s:
    same('files can be off', (s.post_parts('/translate_file', {}).status, s.post_parts('/translate_file', {}).json['error']),
         (403, 'Files translation are disabled on this server.'))
    same('so can numbers', s.get('/metrics').status, 404)
    same('and the page', s.get('/').status, 404)
    one = {'q': 'x' * 21, 'source': 'de', 'target': 'en'}
    same('a text can be too long', s.post_json('/translate', one).json,
         {'error': 'Invalid request: request (21) exceeds text limit (20)'})
    same('characters count, not bytes', s.post_json('/translate', {**one, 'q': 'ä' * 20}).status, 200)
    same('there can be too many', s.post_json('/translate', {**one, 'q': ['eins'] * 4}).json,
         {'error': 'Invalid request: request (4) exceeds text limit (3)'})
    same('so can what is detected', s.post_json('/detect', {'q': 'x' * 21}).json, {'error': 'Invalid request: request (21) exceeds text limit (20)'})
    same('and its texts', s.post_json('/detect', {'q': ['eins'] * 4}).json, {'error': 'Invalid request: request (4) exceeds text limit (3)'})
    same('which are texts', s.post_json('/detect', {'q': [1]}).json, {'error': 'Invalid request: q must be text'})
    same('texts are logged if asked for', s.post_json('/translate', {**one, 'q': 'eins'}).status, 200)
check('and then they are', any('"eins"' in x for x in s.log), s.log)
check('a refusal is told where more is wanted', any('exceeds text limit (3)' in x for x in s.log), s.log)

with Server('-v', '--max-texts', '3') as s:
    one = {'q': 'eins', 'source': 'de', 'target': 'en'}
    for path, said in (('/translate', {**one, 'target': 'my secret'}), ('/translate', {**one, 'format': 'my secret'}), ('/translate', {**one, 'q': ['my secret'] * 4}),
                       ('/heed/translate', {'q': 'eins', 'beam': 'my secret'}), ('/heed/translate', {'q': 'eins', 'my secret': 1}),
                       ('/heed/translate', {'q': 'eins', 'model': 'my secret'}), ('/heed/translate', {'q': 'eins', 'my secret': [1]}),
                       ('/heed/plot', {'q': 'eins', 'format': 'my secret'}), ('/v2/translate', {'text': ['eins'], 'target_lang': 'my secret'})):
        a = s.post_json(path, said)
        check(f'the client is told: {path} {said}', a.status == 400, a)
    s.post_parts('/translate_file', {'source': 'de', 'target': 'en'}, [('file', 'a.po', b'msgid my secret\n')])
    s.get('/health', Host='strange.example')
check('the log tells why', all(any(x in line for line in s.log) for x in ('... is not supported', '(4) exceeds text limit (3)', 'an option is not as it must be',
                                                                        'not called strange.example')), s.log)
check('and not what was sent', not any('secret' in x for x in s.log), s.log)
finish()
