// compare.js -- the same sentence a second time: by another model, with other settings, or as somebody else translated it. Where both say
// the same words, the difference of their attention is drawn; where not, their probabilities stand side by side.
import { button, make, percent } from './dom.js';
import { ask } from './ask.js';
import { asked, state } from './state.js';
import { matrixOf } from './sentence.js';
import { matrixPicture } from './matrix.js';
import { matrixTable, table } from './table.js';

const other = { model: '', beam: '1', norm: 'power:1', reference: '' };

const said = ({ beam, norm }) => (beam ? 'beam ' + beam : 'beam as served') + (norm ? ', ' + norm : '');

// A word as likely as its ground is dark.
function wordChips(result) {
  return make('p', { class: 'chips', dir: 'auto' }, ...result.translations[0].target_words.map((w) => {
    const chip = make('span', { class: 'chip' }, w.text, make('small', null, w.logprob === null ? '' : percent(Math.exp(w.logprob))));
    chip.style.setProperty('--weight', w.logprob === null ? 0 : Math.exp(w.logprob));
    return chip;
  }));
}

function column(title, result) {
  const best = result.translations[0], m = matrixOf(result, 'words');
  return make('section', { class: 'column', 'aria-label': title }, make('h3', null, title), wordChips(result),
    make('p', { class: 'note' }, `log-probability ${best.logprob === null ? 'unknown' : best.logprob.toFixed(2)}, score ${best.score === null ? 'unknown' : best.score.toFixed(3)}`),
    m ? make('div', { class: 'wide' }, matrixPicture(m, { hasNumbers: m.columns.length < 16 }), matrixTable(m, title)) : make('p', null, 'without attention'));
}

const linksOf = (result) => new Set(result.translations[0].links.map(([s, t]) => s + '-' + t));

function difference(a, b) {
  const [x, y] = [a, b].map((r) => r.translations[0]);
  if (x.text !== y.text) {
    const said = new Set(x.target_words.map((w) => w.text));
    const common = y.target_words.filter((w) => said.has(w.text)).length;
    return make('p', { id: 'agreement' }, `${common} of ${y.target_words.length} words of the second are in the first, too.`);
  }
  const [m, n] = [matrixOf(a, 'words'), matrixOf(b, 'words')], [p, q] = [linksOf(a), linksOf(b)];
  const both = [...p].filter((l) => q.has(l)).length, all = new Set([...p, ...q]).size;
  const says = make('p', { id: 'agreement' }, `The same words. Links agree: ${both} of ${all}.`);
  if (!m || !n || m.columns.length !== n.columns.length) return says;
  if (m.weights.every((row, t) => row.every((w, s) => Math.abs(w - n.weights[t][s]) < 0.005))) {
    says.append(' Attention is the same.');
    return says;
  }
  const less = { ...m, weights: m.weights.map((row, t) => row.map((w, s) => w - n.weights[t][s])) };
  return make('section', { 'aria-label': 'Difference' }, says, make('h3', null, 'First minus second'),
    make('div', { class: 'wide' }, matrixPicture(less, { hasNumbers: less.columns.length < 16 }),
      table('Difference of attention', less.columns, less.weights.map((row, t) => [less.rows[t], ...row.map((w) => w.toFixed(2))]))));
}

async function compare(place, detail) {
  const reference = other.reference.trim();
  const body = { ...asked(detail.settings), q: detail.result.source, beam: Number(other.beam), 'length-norm': other.norm };
  if (other.model) body.model = other.model;
  if (reference) body.target = reference;
  const name = (other.model && other.model !== state.model ? other.model + ', ' : '') + (reference ? 'given' : said(other));
  try {
    const result = await ask('heed/translate', body);
    place.replaceChildren(make('div', { class: 'columns' }, column('Here: ' + said(state), detail.result), column('There: ' + name, result)),
      difference(detail.result, result));
  } catch (error) {
    place.replaceChildren(make('p', { class: 'problem' }, error.message));
  }
}

export function compareView(box, detail) {
  const place = make('div', { id: 'compared' });
  const set = (name) => (event) => { other[name] = event.target.value; };
  const models = detail.models.filter((m) => m.from === detail.model.from && m.to === detail.model.to);
  if (!models.some((m) => m.model === other.model)) other.model = (models.find((m) => m.model !== detail.model.model) || models[0]).model;
  const norms = ['power:1', 'power:0.6', 'gnmt:0.6', 'none'];
  box.append(
    make('div', { class: 'bar' },
      make('label', null, 'Model ', make('select', { id: 'other-model', onchange: set('model') }, ...models.map((m) => make('option', { value: m.model, selected: m.model === other.model }, m.model)))),
      make('label', null, 'Beam ', make('input', { id: 'other-beam', type: 'number', min: 1, max: 20, value: other.beam, oninput: set('beam') })),
      make('label', null, 'Length ', make('select', { id: 'other-norm', onchange: set('norm') }, ...norms.map((n) => make('option', { value: n, selected: n === other.norm }, n)))),
      button('Compare', () => compare(place, detail), { id: 'compare-go', class: 'main' })),
    make('label', { class: 'tall' }, 'Or a translation of your own, to see how likely the model finds it and where it looks',
      make('input', { id: 'reference', type: 'text', dir: 'auto', value: other.reference, oninput: set('reference'),
        onkeydown: (e) => { if (e.key === 'Enter') compare(place, detail); } })),
    place);
  compare(place, detail);
}
