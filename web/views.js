// views.js -- the ways to look at the sentence that was chosen, one tab each. A view gets a detail: {result, shown, model, redo, settings},
// and fills a box; what it returns is called when the box is wanted for something else.
import { at, button, make, rove } from './dom.js';
import { ask, isAbort, newest } from './ask.js';
import { asked, state, writeState } from './state.js';
import { matrixOf } from './sentence.js';
import { linesPicture, ribbonsOf } from './lines.js';
import { matrixPicture } from './matrix.js';
import { matrixTable } from './table.js';
import { lightAt } from './panes.js';
import { headsView } from './heads.js';
import { stepsView } from './steps.js';
import { treeView } from './tree.js';
import { compareView } from './compare.js';
import { memoryView } from './memory.js';

const options = { level: 'words', threshold: 0.1, hasNumbers: true };

// ---- lines and matrix ---------------------------------------------------------------------------------------------------

function levelField(redraw) {
  const choice = (level, text) => make('label', null, make('input', {
    type: 'radio', name: 'level', value: level, checked: options.level === level,
    onchange: () => { options.level = level; redraw(); },
  }), text);
  return make('span', { class: 'field', role: 'radiogroup', 'aria-label': 'Between' }, choice('words', 'words'), choice('subwords', 'subwords'));
}

const without = (model) => make('p', null, model.info.config.score === 'none' || !model.cross_layers
  ? 'This model has no attention: it reads the whole sentence into one vector and writes from that alone. Steps shows the vector.'
  : 'There are no weights for this sentence: its words were copied, not translated.');

function pointIn(detail) {
  return (side, index) => lightAt(options.level === 'words' ? detail.shown : null, side, index);
}

function linesView(box, detail) {
  const picture = make('div', { class: 'wide' }), count = make('output');
  const redraw = () => {
    const m = matrixOf(detail.result, options.level);
    if (!m) return picture.replaceChildren(without(detail.model));
    count.textContent = `${options.threshold.toFixed(2)}: ${ribbonsOf(m, options.threshold).length} lines`;
    return picture.replaceChildren(linesPicture(m, options.threshold, at('panel').clientWidth - 4, pointIn(detail)), matrixTable(m));
  };
  const slider = make('input', {
    type: 'range', min: 0, max: 0.5, step: 0.01, value: options.threshold, id: 'threshold',
    oninput: () => { options.threshold = Number(slider.value); redraw(); },
  });
  box.append(make('div', { class: 'bar' }, levelField(redraw), make('label', null, 'Weights from ', slider, count)), picture);
  redraw();
  window.addEventListener('resize', redraw);
  return () => window.removeEventListener('resize', redraw);
}

function matrixView(box, detail) {
  const picture = make('div', { class: 'wide' });
  const redraw = () => {
    const m = matrixOf(detail.result, options.level);
    picture.replaceChildren(...(m ? [matrixPicture(m, { hasNumbers: options.hasNumbers, onPoint: pointIn(detail) }), matrixTable(m)] : [without(detail.model)]));
  };
  const numbers = make('input', { type: 'checkbox', checked: options.hasNumbers, onchange: () => { options.hasNumbers = numbers.checked; redraw(); } });
  box.append(make('div', { class: 'bar' }, levelField(redraw), make('label', null, numbers, 'numbers')), picture);
  redraw();
}

// ---- tabs ------------------------------------------------------------------------------------------------------------------

let VIEWS = [
  { id: 'lines', title: 'Lines', show: linesView },
  { id: 'matrix', title: 'Matrix', show: matrixView },
  { id: 'steps', title: 'Steps', show: stepsView },
  { id: 'heads', title: 'Heads', show: headsView },
  { id: 'tree', title: 'Beam', show: treeView },
  { id: 'compare', title: 'Compare', show: compareView },
  { id: 'memory', title: 'Memory', show: memoryView },
];

let detail = null, leave = null;
const request = newest();

const current = () => VIEWS.find((v) => v.id === state.view) || VIEWS[0];

function redraw() {
  if (leave) leave();
  leave = null;
  for (const tab of at('tabs').children) {
    const isIt = tab.id === 'tab-' + current().id;
    tab.setAttribute('aria-selected', isIt);
    tab.tabIndex = isIt ? 0 : -1;
  }
  at('panel').setAttribute('aria-labelledby', 'tab-' + current().id);
  const box = make('div', { class: 'view ' + current().id });
  at('panel').replaceChildren(box);
  if (detail) leave = current().show(box, detail) || null;
}

function choose(id) {
  state.view = id;
  writeState();
  redraw();
}

export function begin(hasMemory) {
  if (!hasMemory) VIEWS = VIEWS.filter((v) => v.id !== 'memory');
  at('tabs').replaceChildren(...VIEWS.map((v) => button(v.title, () => choose(v.id), { id: 'tab-' + v.id, role: 'tab', 'aria-controls': 'panel' })));
  at('tabs').addEventListener('keydown', (e) => {
    if (rove(Array.from(at('tabs').children), e)) document.activeElement.click();
  });
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
}

// What is asked about one sentence: with the likeliest words of each step and the whole beam.
export function bodyOf(sentence, settings) {
  const given = sentence.given || {};
  return { ...asked(settings), q: sentence.source, ...given, steps: 10, tree: !given.target };
}

// Look at a sentence. context: {shown, model, settings, redo}
export async function look(context, fail) {
  if (!context) {
    request.stop();
    detail = null;
    at('views').hidden = true;
    return;
  }
  try {
    const result = await ask('heed/translate', bodyOf(context.shown.sentence, context.settings), request.begin());
    detail = { ...context, result };
    at('views').hidden = false;
    redraw();
  } catch (error) {
    if (!isAbort(error)) fail(error);
  }
}

export const looked = () => detail;
