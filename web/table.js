// table.js -- the same numbers as a table, beside every picture, for those who read with their ears or with their fingers.
import { make } from './dom.js';

export function table(caption, columns, rows) {
  const head = make('tr', null, make('td'), ...columns.map((c) => make('th', { scope: 'col' }, c)));
  const body = rows.map(([name, ...cells]) => make('tr', null, make('th', { scope: 'row' }, name), ...cells.map((c) => make('td', null, c))));
  return make('details', { class: 'table' }, make('summary', null, 'As a table'),
    make('div', { class: 'wide' }, make('table', null, make('caption', null, caption), make('thead', null, head), make('tbody', null, ...body))));
}

export const matrixTable = (m, caption) =>
  table(caption || 'Attention: a row for each word of the translation', m.columns, m.weights.map((row, t) => [m.rows[t], ...row.map((w) => w.toFixed(2))]));
