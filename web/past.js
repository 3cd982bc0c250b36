// past.js -- what was translated in this tab. It is kept in the tab's own store, so it survives a reload and ends with the tab.
import { at, button, make } from './dom.js';

const MOST = 50, NAME = 'heed-past';
let list = [];

function read() {
  try {
    list = JSON.parse(sessionStorage.getItem(NAME)) || [];
  } catch {
    list = [];
  }
}

function redraw(take) {
  at('past-none').hidden = list.length > 0;
  at('past-list').replaceChildren(...list.map((entry) => make('li', null, button('', () => {
    at('past').open = false;
    take(entry);
  }))));
  list.forEach((entry, i) => at('past-list').children[i].firstChild.append(
    make('span', { dir: 'auto' }, entry.q.slice(0, 120)), make('small', { dir: 'auto' }, entry.text.slice(0, 120))));
}

let taken = () => {};

// A text that somebody goes on typing replaces what it began with.
export function note(entry) {
  if (!entry.q.trim()) return;
  const last = list[0];
  if (last && (entry.q.startsWith(last.q) || last.q.startsWith(entry.q)) && last.to === entry.to) list.shift();
  list = [entry, ...list.filter((e) => e.q !== entry.q || e.to !== entry.to)].slice(0, MOST);
  try {
    sessionStorage.setItem(NAME, JSON.stringify(list));
  } catch { /* a store that is full forgets */ }
  redraw(taken);
}

export function begin(take) {
  taken = take;
  read();
  redraw(take);
}
