// page.js -- the page: what is typed on the left is translated on the right, line by line, the newest request first of all; whatever is known of a
// line is kept, so that typing into a long text asks for the line that changed.
import { at, make, percent } from './dom.js';
import { ask, follow, giveKey, isAbort, keyGiven, newest } from './ask.js';
import { asked, readState, state, writeState } from './state.js';
import { sentencesOf, whole } from './sentence.js';
import * as panes from './panes.js';
import * as views from './views.js';
import * as choices from './choices.js';
import * as save from './save.js';
import * as past from './past.js';
import * as memory from './memory.js';

const PAUSE_MS = 220, CHUNK = 3000, KEPT = 5000;
const request = newest(), lines = new Map(), growing = new Map(), replaced = new Map(), undone = [];
let models = [], names = {}, limit = 0, hasMemory = false, direction = null, chosen = null, wait = 0;

const say = (text) => { at('news').textContent = text; };
const fail = (error) => { if (!isAbort(error)) say(error.message); };

// ---- languages ---------------------------------------------------------------------------------------------------------

const nameOf = (code) => names[code] || code;
const unique = (list) => [...new Set(list)];
const options = (node, list, value) => {
  node.replaceChildren(...list.map(([id, text]) => make('option', { value: id }, text)));
  node.value = list.some(([id]) => id === value) ? value : list[0][0];
  return node.value;
};

// The menus, as far as models go: what is chosen on the left decides what there is on the right.
function fillMenus() {
  const from = unique(models.map((m) => m.from)), many = from.length > 1;
  state.from = options(at('from'), [...(many ? [['auto', 'Detect language']] : []), ...from.map((c) => [c, nameOf(c)])], state.from || (many ? 'auto' : from[0]));
  const fits = models.filter((m) => state.from === 'auto' || m.from === state.from);
  state.to = options(at('to'), unique(fits.map((m) => m.to)).map((c) => [c, nameOf(c)]), state.to);
  const served = unique(fits.filter((m) => m.to === state.to).map((m) => m.model));
  state.model = options(at('model'), served.map((m) => [m, m]), state.model);
  at('model').hidden = served.length < 2;
  at('swap').disabled = !models.some((m) => m.to === state.from || (state.from === 'auto' && m.from === state.to));
}

// {from, to, model, row}: what the text is translated by.
async function resolve(text, signal) {
  let { from, to } = state;
  at('from').firstChild.textContent = from === 'auto' ? 'Detect language' : at('from').firstChild.textContent;
  if (from === 'auto') {
    const [found] = await ask('detect', { q: text.slice(0, 2000) }, signal);
    from = found.language;
    at('from').firstChild.textContent = `Detected: ${nameOf(from)}`;
  }
  const fits = models.filter((m) => m.from === from);
  if (fits.length === 0) throw new Error(`This seems to be ${nameOf(from)}, and no model translates from it; choose the language if it is another.`);
  if (!fits.some((m) => m.to === to)) to = fits[0].to;
  const row = fits.find((m) => m.to === to && m.model === state.model) || fits.find((m) => m.to === to);
  if (state.from === 'auto' && to !== state.to) at('to').value = state.to = to;
  return { from, to, model: row.model, row };
}

function tellAbout() {
  const { row } = direction || { row: models[0] };
  at('about').replaceChildren(make('b', null, row.model), `: ${row.info.arch}, ${row.parameters.toLocaleString('en')} parameters, ${nameOf(row.from)} to ${nameOf(row.to)}. `,
    row.info.paper ? row.info.paper + '. ' : '', 'Nothing you type leaves the server that this page came from.');
}

// ---- translating ----------------------------------------------------------------------------------------------------------

const settings = () => ({ from: direction.from, to: direction.to, model: direction.model });
const keyOf = (text) => JSON.stringify([direction.from, direction.to, direction.model, state.beam, state.norm, text]);

// A line's sentences, with those that were changed by hand in their places.
function sentencesShown(line) {
  if (!line.sentences.list.some((s) => replaced.has(keyOf(s.source)))) return line.sentences;
  const list = line.sentences.list.map((s) => {
    const other = replaced.get(keyOf(s.source));
    return other ? { ...other, before: s.before } : s;
  });
  const isSame = line.changed && line.changed.list.every((s, i) => s.target === list[i].target && s.given === list[i].given);
  line.changed = isSame ? line.changed : { ...line.sentences, list };
  return line.changed;
}

let before = [];

function draw() {
  const texts = state.q.split('\n');
  const list = texts.map((text, i) => {
    const line = direction && lines.get(keyOf(text));
    if (line) return { source: text, sentences: sentencesShown(line) };
    return { source: text, stale: text.trim() ? (growing.get(text) || []).join(' ') || before[i] || '' : '' };
  });
  before = list.map((l) => (l.sentences ? l.sentences.list.map((s) => s.before.target + s.target).join('') + l.sentences.after.target : l.stale));
  panes.show(list);
  at('count').textContent = state.q ? `${Array.from(state.q).length}${limit > 0 ? ' of ' + limit : ''} characters` : '';
  at('count').classList.toggle('problem', limit > 0 && state.q.length > limit);
}

export const translation = () => before.join('\n');

function chunksOf(list) {
  const chunks = [];
  let size = CHUNK;
  for (const text of list) {
    if (size + text.length > CHUNK) {
      chunks.push([]);
      size = 0;
    }
    chunks.at(-1).push(text);
    size += text.length;
  }
  return chunks;
}

const keep = (text, result) => lines.set(keyOf(text), {
  sentences: sentencesOf(result), warnings: result.warnings, confidence: result.translations[0].confidence, memory: result.memory || [],
});

// Sentences are shown as they are written: a long text is read while the rest of it is translated.
async function fetchLines(signal) {
  const wanted = unique(state.q.split('\n')).filter((text) => text.trim() && !lines.has(keyOf(text)));
  if (lines.size > KEPT) lines.clear();
  for (const chunk of chunksOf(wanted)) {
    growing.clear();
    await follow('heed/translate', { ...asked(settings()), q: chunk }, signal, (event, { part, sentence, text, result }) => {
      if (event === 'sentence') keep(chunk[part], result);
      else if (text !== undefined) growing.set(chunk[part], Object.assign(growing.get(chunk[part]) || [], { [sentence]: text }));
      else return;
      draw();
    });
  }
}

function tellResult() {
  const shown = state.q.split('\n').map((text) => lines.get(keyOf(text))).filter(Boolean);
  at('warnings').replaceChildren(...unique(shown.flatMap((l) => l.warnings)).slice(0, 20).map((w) => make('li', null, w)));
  const least = Math.min(...shown.map((l) => l.confidence));
  const n = shown.reduce((sum, l) => sum + l.memory.length, 0);
  at('sure').textContent = (shown.length > 0 && Number.isFinite(least) ? `confidence ${percent(least)}` : '')
    + (n > 0 ? ` · with the memory (${n})` : '');
  at('sure').classList.toggle('problem', least < 0.6);
  at('spoken').textContent = translation();
  past.note({ q: state.q, text: translation(), from: state.from, to: state.to, model: state.model });
}

async function translate() {
  clearTimeout(wait);
  const signal = request.begin();
  state.q = at('source').value;
  writeState();
  choices.close();
  if (!state.q.trim()) {
    before = [];
    draw();
    lookAt(null);
    for (const id of ['sure', 'news', 'warnings']) at(id).replaceChildren();
    return;
  }
  at('target').setAttribute('aria-busy', 'true');
  try {
    direction = await resolve(state.q, signal);
    draw();
    tellAbout();
    await fetchLines(signal);
    say('');
    tellResult();
    lookAgain();
  } catch (error) {
    fail(error);
  }
  if (!signal.aborted) at('target').removeAttribute('aria-busy');
}

// ---- the sentence that is looked at -------------------------------------------------------------------------------------

function lookAt(shown) {
  chosen = shown;
  panes.mark(shown);
  const list = panes.all(), bar = at('sentence-bar');
  bar.hidden = list.length < 2;
  at('sentence').replaceChildren(...list.map((s, i) => make('option', { value: i }, `${i + 1}. ${s.sentence.source.slice(0, 60)}`)));
  at('sentence').value = list.indexOf(shown);
  views.look(shown && { shown, models, model: direction.row, settings: settings(), redo }, fail);
}

// The same place in the text, or the last sentence there is.
function lookAgain() {
  const list = panes.all();
  const i = chosen ? Math.max(0, list.findIndex((s) => s.sentence.source === chosen.sentence.source)) : 0;
  lookAt(list.includes(chosen) ? chosen : list[Math.min(i, list.length - 1)] || null);
}

function step(by) {
  const list = panes.all(), to = list.indexOf(chosen) + by;
  if (list[to]) lookAt(list[to]);
}

// ---- changing a translation -----------------------------------------------------------------------------------------------

// Words between what both begin with and what both end with.
function markNew(words, old) {
  let first = 0, last = 0;
  while (first < words.length && first < old.length && words[first].text === old[first].text) first++;
  while (last < words.length - first && last < old.length - first && words.at(-1 - last).text === old.at(-1 - last).text) last++;
  words.forEach((w, i) => { w.isNew = i >= first && i < words.length - last; });
}

// A sentence anew: it begins with `prefix`, or is that as a whole.
async function redo(shown, prefix, isWhole) {
  const { sentence } = shown, given = isWhole ? { target: prefix } : { prefix }, key = keyOf(sentence.source);
  try {
    const fresh = whole(await ask('heed/translate', { ...asked(settings()), q: sentence.source, ...given }));
    markNew(fresh.targetWords, sentence.targetWords);
    undone.push({ key, old: replaced.get(key) });
    replaced.set(key, { ...fresh, source: sentence.source, given });
    redrawChanged();
    say(isWhole ? 'Your translation is looked at as it is.' : 'The rest was written anew.');
  } catch (error) {
    fail(error);
  }
}

function redrawChanged() {
  const i = panes.all().indexOf(chosen);
  draw();
  at('undo').hidden = undone.length === 0;
  lookAt(panes.all()[Math.max(0, i)] || null);
  at('spoken').textContent = translation();
}

function undo() {
  const { key, old } = undone.pop();
  if (old) replaced.set(key, old);
  else replaced.delete(key);
  redrawChanged();
}

function edit() {
  const area = at('edit'), isOpen = area.hidden;
  if (!isOpen && chosen && area.value.trim() && area.value !== chosen.sentence.target) redo(chosen, area.value.trim(), true);
  if (isOpen && chosen) area.value = chosen.sentence.target;
  if (isOpen && !chosen) return;
  area.hidden = at('rest').hidden = !isOpen;
  at('remember').hidden = !isOpen || !hasMemory;
  at('edit-button').textContent = isOpen ? 'Done' : 'Edit';
  if (isOpen) area.focus();
  else at('edit-button').focus();
}

function closeEdit() {
  for (const id of ['edit', 'rest', 'remember']) at(id).hidden = true;
  at('edit-button').textContent = 'Edit';
}

async function remember() {
  const text = at('edit').value.trim();
  if (!chosen || !text) return;
  closeEdit();
  try {
    await memory.remember(chosen.sentence.source, text, direction);
    say('Remembered, and used from now on.');
  } catch (error) {
    fail(error);
  }
}

// The memory is another one: nothing that was translated with the old one holds.
async function forgetAll() {
  lines.clear();
  replaced.clear();
  undone.length = 0;
  at('undo').hidden = true;
  await translate();
}

function restAnew() {
  const area = at('edit'), text = area.value.slice(0, area.selectionStart);
  closeEdit();
  if (chosen && text.trim()) redo(chosen, text);
}

// ---- the rest ------------------------------------------------------------------------------------------------------------------

async function copy() {
  try {
    await navigator.clipboard.writeText(translation());
    say('Copied.');
  } catch { // a page that did not come by https may not
    const range = document.createRange();
    range.selectNodeContents(at('target'));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    say('Press Ctrl+C to copy what is selected.');
  }
}

function swap() {
  const text = translation();
  const from = direction ? direction.from : state.from, to = direction ? direction.to : state.to;
  if (!models.some((m) => m.from === to)) return;
  Object.assign(state, { from: to, to: from, model: '' });
  fillMenus();
  if (text.trim()) at('source').value = text;
  translate();
}

function listen() {
  const on = (id, name, f) => at(id).addEventListener(name, f);
  on('source', 'input', () => {
    state.q = at('source').value;
    draw();
    clearTimeout(wait);
    wait = setTimeout(translate, PAUSE_MS);
  });
  for (const id of ['from', 'to', 'model']) on(id, 'change', () => {
    state[id] = at(id).value;
    fillMenus();
    translate();
  });
  on('beam', 'change', () => {
    state.beam = at('beam').value;
    translate();
  });
  on('norm', 'change', () => {
    state.norm = at('norm').value;
    translate();
  });
  on('key', 'change', () => {
    giveKey(at('key').value);
    translate();
  });
  const clicks = { swap, copy, undo, remember, 'edit-button': edit, rest: restAnew, 'sentence-before': () => step(-1), 'sentence-after': () => step(1) };
  for (const [id, f] of Object.entries(clicks)) on(id, 'click', f);
  on('clear', 'click', () => {
    at('source').value = '';
    at('source').focus();
    translate();
  });
  on('edit', 'keydown', (e) => {
    if (e.key === 'Escape') edit();
    else if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) restAnew();
  });
  on('sentence', 'change', () => lookAt(panes.all()[at('sentence').value]));
  document.addEventListener('pointerdown', (e) => {
    for (const menu of document.querySelectorAll('.menu[open]')) if (!menu.contains(e.target)) menu.open = false;
  });
  window.addEventListener('hashchange', load);
}

function load() {
  readState();
  fillMenus();
  at('source').value = state.q;
  at('beam').value = state.beam;
  at('norm').value = state.norm;
  translate();
}

async function begin() {
  panes.begin({
    choose: (shown) => { if (shown !== chosen) lookAt(shown); },
    open: (word) => choices.open(word, { model: direction.row, settings: settings(), redo }, fail),
  });
  choices.begin();
  save.begin(say);
  past.begin((entry) => {
    Object.assign(state, { from: entry.from, to: entry.to, model: entry.model });
    fillMenus();
    at('source').value = entry.q;
    translate();
  });
  const [served, languages, told] = await Promise.all([ask('heed/model'), ask('languages'), ask('frontend/settings')]);
  models = served;
  names = Object.fromEntries(languages.map((l) => [l.code, l.name]));
  limit = told.charLimit;
  hasMemory = told.suggestions;
  views.begin(hasMemory);
  memory.onChange(forgetAll);
  at('key-field').hidden = !told.keyRequired && !told.apiKeys;
  at('key').value = keyGiven();
  listen();
  load();
  tellAbout();
}

begin().catch(fail);
