"""published.py -- libretranslatepy and DeepL's own library, pointed at a server.    published.py ADDRESS"""
import sys
import deepl
from libretranslatepy import LibreTranslateAPI

address = sys.argv[1]


def same(name, seen, wanted):
    if seen != wanted:
        sys.exit(f'[  FAILED  ] {name}: {seen!r} instead of {wanted!r}')
    print(f'[       OK ] {name}')


libre = LibreTranslateAPI(address + '/')
same('libretranslatepy translates', libre.translate('eins zwei', 'de', 'en'), 'two one')
same('libretranslatepy detects', libre.detect('eins zwei')[0]['language'], 'de')
same('libretranslatepy lists', [x['code'] for x in libre.languages()], ['de', 'en'])

translator = deepl.Translator('any-key', server_url=address)
same('deepl translates', translator.translate_text('eins zwei', target_lang='EN-US').text, 'two one')
several = translator.translate_text(['eins', 'zwei drei'], source_lang='DE', target_lang='EN-US')
same('deepl translates several', [x.text for x in several], ['one', 'three two'])
same('deepl tells the language', several[0].detected_source_lang, 'DE')
same('deepl keeps markup', translator.translate_text('<p>eins</p>', target_lang='EN-US', tag_handling='html').text, '<p>one</p>')
same('deepl lists sources', [x.code for x in translator.get_source_languages()], ['DE'])
same('deepl lists targets', [x.code for x in translator.get_target_languages()], ['EN'])
same('deepl knows its use', translator.get_usage().character.limit_exceeded, False)
