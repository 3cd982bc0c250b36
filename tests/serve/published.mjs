// published.mjs -- npm's translate and libretranslate-ts, pointed at a server.    published.mjs ADDRESS
import translate from 'translate';
import * as module from 'libretranslate-ts';

const libre = module.default ?? module;

const address = process.argv[2];
function same(name, seen, wanted) {
  if (JSON.stringify(seen) !== JSON.stringify(wanted)) {
    console.log(`[  FAILED  ] ${name}: ${JSON.stringify(seen)} instead of ${JSON.stringify(wanted)}`);
    process.exit(1);
  }
  console.log(`[       OK ] ${name}`);
}

translate.engine = 'libre';
translate.url = address + '/translate';
same('translate translates', await translate('eins zwei', { from: 'de', to: 'en' }), 'two one');
const client = libre.libreTranslate;
client.setApiEndpoint(address);
same('libretranslate-ts translates', (await client.translate('eins zwei', 'de', 'en')).translatedText, 'two one');
same('libretranslate-ts detects', (await client.detect('eins zwei')).language, 'de');
same('libretranslate-ts lists', (await client.listLanguages()).map((x) => x.code), ['de', 'en']);
