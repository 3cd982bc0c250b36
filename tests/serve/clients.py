"""clients.py -- what real clients send, as they send it, and what they need of the answer."""
import json
from server import Server, check, finish, same

with Server() as s:
    # Mastodon: languages with targets; a list of HTML, a list of languages behind it.
    languages = {x['code']: x['targets'] for x in s.get('/languages', User_Agent='Mastodon/4.5').json}
    same('Mastodon knows what is translated to what', languages, {'de': ['en', 'de'], 'en': ['en']})
    body = {'q': ['<p>eins <span translate="no">:blobcat:</span> zwei</p>', 'drei'], 'source': 'auto', 'target': 'en',
            'format': 'html', 'api_key': None}
    a = s.post_json('/translate', body).json
    check('Mastodon gets lists', len(a['translatedText']) == 2 and a['detectedLanguage'][1]['language'] == 'de' and
          '<span translate="no">:blobcat:</span>' in a['translatedText'][0], a)

    # Weblate: a list of texts, a list back, strings in it.
    a = s.post_json('/translate', {'api_key': '', 'q': ['eins', 'zwei', 'drei'], 'source': 'de', 'target': 'en'}).json
    same('Weblate gets as many as it sent', a['translatedText'], ['one', 'two', 'three'])

    # Discourse: forms.
    a = s.post_form('/detect', {'q': 'eins zwei', 'api_key': ''}).json
    same('Discourse detects', a[0]['language'], 'de')
    a = s.post_form('/translate', {'q': '<p>eins</p>', 'source': 'de', 'target': 'en', 'format': 'html', 'api_key': ''}).json
    same('Discourse translates', a['translatedText'], '<p>one</p>')

    # libretranslatepy: GET /languages with a form body.
    a = s.ask('GET', '/languages', 'api_key=', {'Content-Type': 'application/x-www-form-urlencoded'})
    same('libretranslatepy lists languages', [x['code'] for x in a.json], ['de', 'en'])

    # PHP jefs42/libretranslate: POST /, and GETs with multipart bodies, and an empty one.
    same('the PHP client posts to the page', s.post_parts('/', {'api_key': ''}).status, 405)
    empty = {'Content-Type': 'multipart/form-data; boundary=------------------------3f0f'}
    body = '--------------------------3f0f--\r\n'
    same('its GET has a body', s.ask('GET', '/frontend/settings', body, empty).json['charLimit'], 50000)
    same('and another', s.ask('GET', '/languages', body, empty).json[0]['name'], 'German')
    same('its POST has an empty one', s.ask('POST', '/detect?q=eins%20zwei', body, empty).json[0]['language'], 'de')

    # TranslateYou: everything in the query string, no body.
    a = s.ask('POST', '/translate?q=eins%20zwei&source=auto&target=en&format=text&api_key=&alternatives=3').json
    check('TranslateYou gets alternatives', a['translatedText'] == 'two one' and isinstance(a['alternatives'], list), a)
    long = 'eins ' * 4000
    a = s.ask('POST', '/translate?source=de&target=en&q=' + long.replace(' ', '%20'))
    same('a long address is read', a.status, 200)

    # Go SnakeSel/libretranslate: exactly one language.
    same('Go gets one language', len(s.post_form('/detect', {'q': 'eins', 'api_key': ''}).json), 1)

    # Rust, npm, Lingarr, MCP: strings and errors.
    a = s.post_json('/translate', {'q': 'eins', 'source': 'de', 'target': 'en'})
    check('Rust gets a string', isinstance(a.json['translatedText'], str), a)
    a = s.post_json('/translate', {'q': 'eins', 'source': 'xx', 'target': 'en'}, Accept='application/json')
    check('npm reads the error', a.json['error'] == 'xx is not supported', a)

    # DeepL's libraries.
    key = {'Authorization': 'DeepL-Auth-Key 279a2e9d'}
    a = s.post_json('/v2/translate', {'text': ['eins', 'zwei drei'], 'target_lang': 'EN-US', 'source_lang': 'DE'}, **key)
    same('DeepL translates JSON', a.json, {'translations': [{'detected_source_language': 'DE', 'text': 'one', 'billed_characters': 4},
                                                           {'detected_source_language': 'DE', 'text': 'three two', 'billed_characters': 9}]})
    a = s.ask('POST', '/v2/translate', 'text=eins&text=zwei&target_lang=EN', {'Content-Type': 'application/x-www-form-urlencoded', **key})
    same('and forms with several texts', [x['text'] for x in a.json['translations']], ['one', 'two'])
    a = s.post_json('/v2/translate', {'text': ['<p>eins</p>'], 'target_lang': 'EN', 'tag_handling': 'html'}, **key)
    same('and markup', a.json['translations'][0]['text'], '<p>one</p>')
    for said, sentence in (({'tag_handling': 'docx'}, "Value for 'tag_handling' not supported."), ({'formality': 'rude'}, "Value for 'formality' not supported."),
                           ({'formality': 'more'}, "'formality' is not supported for given 'target_lang'."), ({'glossary_id': 'a7'}, "Value for 'glossary_id' not supported")):
        a = s.post_json('/v2/translate', {'text': ['eins'], 'target_lang': 'EN', **said}, **key)
        check(f'what cannot be honoured is refused: {said}', a.status == 400 and a.json['message'].startswith(sentence), a)
    for said in ({'formality': 'default'}, {'formality': 'prefer_less'}, {'tag_handling': ''}, {'glossary_id': ''}, {'glossary_id': None}):
        same(f'what need not be is passed over: {said}', s.post_json('/v2/translate', {'text': ['eins'], 'target_lang': 'EN', **said}, **key).status, 200)
    same('it lists sources', s.get('/v2/languages?type=source').json, [{'language': 'DE', 'name': 'German'}])
    same('and targets', s.get('/v2/languages?type=target').json, [{'language': 'EN', 'name': 'English', 'supports_formality': False}])
    a = s.get('/v2/usage').json
    check('it tells what was used', a['character_limit'] > a['character_count'] >= 0, a)
    a = s.post_json('/v2/translate', {'text': ['eins'], 'target_lang': 'XX'}, **key)
    check('its errors are messages', a.status == 400 and 'message' in a.json, a)
finish()
