// memory.js -- what the server remembers: corrections that were given, used at once without any training. Here they are listed and taken out again.
import { button, make, percent } from './dom.js';
import { ask, remove } from './ask.js';

let changed = () => {}, from = 0;

export const onChange = (f) => { changed = f; };

// A better translation of a sentence.
export async function remember(source, target, direction) {
  await ask('suggest', { q: source, s: target, source: direction.from, target: direction.to });
  changed();
}

async function forget(pair, fail) {
  try {
    await remove(`heed/memory?line=${pair.line}&source=${encodeURIComponent(pair.source)}`);
    changed();
  } catch (error) {
    fail(error);
  }
}

const pairTable = (id, names, rows) => make('div', { class: 'wide' }, make('table', { id }, make('thead', null,
  make('tr', null, ...names.map((n) => make('th', { scope: 'col' }, n)))), make('tbody', null, ...rows)));

function used(list) {
  if (!list || list.length === 0) return make('p', null, 'No remembered sentence is like this one.');
  return make('div', null,
    make('p', null, list[0].similarity >= 1 ? 'This very sentence is remembered; its translation is the answer.' : 'Remembered sentences that had a say in this translation:'),
    pairTable('memory-used', ['line', 'source', 'translation', 'how alike'], list.map((m) => make('tr', null, make('td', null, String(m.line)),
      make('td', { dir: 'auto' }, m.source), make('td', { dir: 'auto' }, m.target), make('td', null, percent(m.similarity))))));
}

export function memoryView(box, detail) {
  const place = make('div'), problem = make('p', { class: 'problem', role: 'status' });
  const fail = (error) => { problem.textContent = error.message; };
  box.append(make('h3', null, 'Used for this sentence'), used(detail.result.memory), make('h3', null, 'All that is remembered'), place, problem,
    make('p', { class: 'note' }, 'Edit a translation and press Remember to add to it. To learn it for good:'), make('code', null, 'heed train --from MODEL --tsv MEMORY.tsv --out BETTER'));
  const list = (offset) => ask(`heed/memory?limit=200&offset=${offset}`).then(({ lines, pairs }) => {
    if (pairs.length === 0 && offset > 0) return list(0);
    place.replaceChildren(pairs.length === 0 ? make('p', null, 'Nothing yet.')
      : pairTable('memory-list', ['line', 'source', 'translation', ''], pairs.map((p) => make('tr', null, make('td', null, String(p.line)), make('td', { dir: 'auto' }, p.source),
        make('td', { dir: 'auto' }, p.target), make('td', null, button('Forget', () => forget(p, fail), { 'aria-label': `Forget line ${p.line}` }))))));
    if (lines > 200) place.append(make('p', { class: 'bar' }, button('‹ newer', () => list(offset - 200), { disabled: offset === 0 }),
      button('older ›', () => list(offset + 200), { id: 'older', disabled: offset + 200 >= lines }), `${pairs.length} of ${lines}`));
    from = offset;
  }).catch(fail);
  list(from);
}
