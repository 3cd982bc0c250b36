// save.js -- take away what is seen: pictures as heed translate --plot draws them, the result as --json prints it, weights as a table.
import { at, button } from './dom.js';
import { askBlob, askText } from './ask.js';
import { asked } from './state.js';
import { csvOf, matrixOf } from './sentence.js';
import { looked } from './views.js';

function download(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// As the command line would be asked: nothing but the text and what was set.
export const plain = (detail) => ({ ...asked(detail.settings), q: detail.shown.sentence.source, ...detail.shown.sentence.given });

const SAVERS = {
  SVG: async (d) => askBlob('heed/plot', { ...plain(d), format: 'svg' }),
  PNG: async (d) => askBlob('heed/plot', { ...plain(d), format: 'png' }),
  PDF: async (d) => askBlob('heed/plot', { ...plain(d), format: 'pdf' }),
  TikZ: async (d) => askBlob('heed/plot', { ...plain(d), format: 'tex' }),
  JSON: async (d) => new Blob([await askText('heed/translate', plain(d)), '\n'], { type: 'application/json' }),
  CSV: async (d) => {
    const m = matrixOf(d.result, 'words');
    if (!m) throw new Error('This sentence has no attention to save.');
    return new Blob([csvOf(m)], { type: 'text/csv' });
  },
};

const quoted = (text) => "'" + text.replace(/'/g, "'\\''") + "'";

export function curlOf(detail) {
  const address = new URL('heed/translate', location.href.replace(/[#?].*/, ''));
  return `curl -s ${address} -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(plain(detail)))}`;
}

const key = (letter, title = '') => ({ accesskey: letter, title: `${title}access key ${letter.toUpperCase()}` });

export function begin(say) {
  Object.entries(SAVERS).forEach(([name, make], i) => {
    at('save').append(button(name, async () => {
      try {
        download(await make(looked()), 'attention.' + (name === 'TikZ' ? 'tex' : name.toLowerCase()));
      } catch (error) {
        say(error.message);
      }
    }, key('snptjc'[i])));
  });
  at('save').append(button('curl', async () => {
    await navigator.clipboard.writeText(curlOf(looked()));
    say('The command is copied.');
  }, key('u', 'Copy the command that asks for the same; ')),
  button('Print', () => window.print(), key('r')));
}
