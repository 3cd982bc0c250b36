// heads.js -- all layers and heads of a Transformer as small maps; one of them can be looked at in full. The head that agrees best with the
// links is marked: it is often one head that aligns, while the others look elsewhere.
import { button, make, percent } from './dom.js';
import { ask } from './ask.js';
import { asked } from './state.js';
import { readable, wordsOfPieces } from './sentence.js';
import { matrixPicture, paint } from './matrix.js';
import { matrixTable } from './table.js';

const KINDS = [
  ['cross', 'the translation on the source', 'cross_layers'],
  ['encoder', 'the source on itself', 'encoder_layers'],
  ['decoder', 'the translation on itself', 'decoder_layers'],
];

let kind = 'cross';

const mean = (maps) => maps[0].map((row, t) => row.map((_, s) => maps.reduce((sum, m) => sum + m[t][s], 0) / maps.length));
const most = (maps) => maps[0].map((row, t) => row.map((_, s) => Math.max(...maps.map((m) => m[t][s]))));

const largest = (row) => row.reduce((best, w, i) => (w > row[best] ? i : best), 0);

// The share of subwords whose largest weight lies on a word that is linked to theirs.
export function agreement(map, best) {
  const src = wordsOfPieces(best.subwords.source, best.source_words), tgt = wordsOfPieces(best.subwords.target, best.target_words);
  if (!src || !tgt || best.links.length === 0) return null;
  const rows = map.map((row, t) => [tgt[t], src[largest(row)]]).filter(([t]) => t >= 0 && best.links.some((l) => l[1] === t));
  return rows.filter(([t, s]) => best.links.some((l) => l[0] === s && l[1] === t)).length / Math.max(1, rows.length);
}

function labels(best, map) {
  const { source, target } = best.subwords;
  const fit = (list, n) => (list.length >= n ? list.slice(0, n) : [...new Array(n - list.length).fill('⟨start⟩'), ...list]).map(readable);
  const rows = kind === 'encoder' ? source : target, columns = kind === 'decoder' ? target : source;
  return { rows: fit(rows, map.length), columns: fit(columns, map[0].length), weights: map, hasEnd: false };
}

function enlarge(place, name, map, best) {
  const m = labels(best, map);
  place.replaceChildren(make('h3', null, name), make('div', { class: 'wide' }, matrixPicture(m, { hasNumbers: m.columns.length < 20 }), matrixTable(m, name)));
}

function tile(name, map, note, place, best, isMarked) {
  const canvas = make('canvas', { 'aria-hidden': 'true' });
  paint(canvas, map, Math.max(2, Math.min(8, Math.floor(96 / map[0].length))));
  const node = button('', () => {
    for (const other of node.parentNode.parentNode.querySelectorAll('[aria-pressed]')) other.setAttribute('aria-pressed', 'false');
    node.setAttribute('aria-pressed', 'true');
    enlarge(place, name, map, best);
  }, { class: isMarked ? 'tile best' : 'tile', 'aria-pressed': 'false', 'aria-label': name + (note ? ', ' + note : '') });
  node.append(canvas, make('span', null, name.replace('layer ', '').replace(', head ', '.')), make('small', null, note));
  return node;
}

function drawGrid(box, answer, detail) {
  const best = detail.result.translations[0], place = make('div', { id: 'head-large' }), all = answer.attention;
  const shares = all.map((heads) => heads.map((m) => (kind === 'cross' ? agreement(m, best) : null)));
  const top = Math.max(...shares.flat().map((x) => x ?? -1));
  const rows = all.map((heads, l) => make('div', { class: 'heads-row' }, ...heads.map((map, h) => tile(
    `layer ${l + 1}, head ${h}`, map, shares[l][h] === null ? '' : percent(shares[l][h]), place, best, top > 0 && shares[l][h] === top))));
  const flat = all.flat();
  rows.push(make('div', { class: 'heads-row' }, tile('mean', mean(flat), '', place, best), tile('largest', most(flat), '', place, best)));
  const words = kind !== 'cross' ? '' : ` Links and the other views are read from layer ${detail.model.info.config.alignment_layer} of ${answer.layers}`
    + `, ${(detail.model.info.config.alignment_heads || []).length > 0 ? 'heads ' + detail.model.info.config.alignment_heads.join(', ') : 'the mean of its heads'}.`
    + ' The number is how often a head’s largest weight lies on a linked word; the best is framed.';
  box.replaceChildren(make('p', null, `${answer.layers} layers of ${answer.heads} heads.${words}`), make('div', { class: 'heads-grid' }, ...rows), place);
  (box.querySelector('.tile.best') || box.querySelector('.tile')).click();
}

async function fetchGrid(box, detail) {
  try {
    const answer = await ask('heed/align', {
      ...asked(detail.settings), q: detail.result.source, target: detail.result.translations[0].text, heads: 'all', attention: kind,
    });
    drawGrid(box, answer, detail);
  } catch (error) {
    box.replaceChildren(make('p', { class: 'problem' }, error.message));
  }
}

export function headsView(box, detail) {
  const kinds = KINDS.filter(([, , field]) => detail.model[field] > 0);
  if (kinds.length === 0 || (detail.model.heads <= 1 && kinds.length === 1)) {
    box.append(make('p', null, kinds.length === 0 ? 'This model has no attention.' : 'This model has one attention and one head; the matrix shows it whole.'));
    return;
  }
  if (!kinds.some(([id]) => id === kind)) [[kind]] = kinds;
  const grid = make('div', { id: 'heads' });
  const select = make('select', { id: 'kind', onchange: () => { kind = select.value; fetchGrid(grid, detail); } },
    ...kinds.map(([id, text]) => make('option', { value: id, selected: id === kind }, text)));
  box.append(make('div', { class: 'bar' }, make('label', null, 'Attention of ', select)), grid);
  fetchGrid(grid, detail);
}
