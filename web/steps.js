// steps.js -- the lecture, alive: how one word after the other was written. At each step the query, the scores, the weights, the context and the
// likeliest words appear in the order in which the model computes them, with its own formula beside them.
import { button, formula, make, percent } from './dom.js';
import { ask } from './ask.js';
import { readable, textOf } from './sentence.js';
import { table } from './table.js';
import { bodyOf } from './views.js';
import { termsOf } from './formulas.js';

const PACE_MS = 1100;
let head = 'mean';

const isCalm = () => window.matchMedia('(prefers-reduced-motion: reduce)').matches;

const bar = (className, size, isTall) => {
  const node = make('span', { class: className });
  node.style[isTall ? 'height' : 'width'] = Math.max(0, size).toFixed(1) + (isTall ? 'px' : '%');
  return node;
};

// ---- what a step shows ----------------------------------------------------------------------------------------------

// Raw scores where the server tells them; else the logarithms of the weights, which differ from them by a constant.
function scoresAt(best, t) {
  const told = best.subwords.scores && best.subwords.scores[t];
  return { list: told || best.subwords.attention[t].map((w) => Math.log(Math.max(w, 1e-9))), isRaw: Boolean(told) };
}

function columnOf(text, e, range, alpha, has, onTake) {
  const score = make('span', { class: 'score' }), weight = make('span', { class: 'weight' });
  if (has.scores) score.append(bar('bar', 8 + 46 * (e - range[0]) / Math.max(1e-6, range[1] - range[0]), true), make('small', null, e.toFixed(1)));
  if (has.weights) weight.append(bar('bar', 80 * alpha, true), make('small', null, alpha.toFixed(2)));
  return make('div', { class: 'position' }, button(text, onTake, { class: 'piece', title: 'What if it had looked here?' }), score, weight);
}

function sourceOf(lesson, has) {
  const { best, t } = lesson, { source, attention } = best.subwords;
  const { list, isRaw } = scoresAt(best, t), range = [Math.min(...list), Math.max(...list)];
  const columns = source.map((piece, s) => columnOf(readable(piece), list[s], range, attention[t][s], has, () => force(lesson, source.map((_, j) => Number(j === s)))));
  columns.forEach((column, s) => {
    column.addEventListener('pointerdown', () => { lesson.from = s; });
    column.addEventListener('pointerup', () => {
      const { from } = lesson, moved = attention[t][from] || 0;
      lesson.from = undefined;
      if (from !== undefined && from !== s) force(lesson, attention[t].map((w, j) => (j === from ? 0 : j === s ? w + moved : w)));
    });
  });
  return [
    make('div', { class: 'positions wide' }, make('div', { class: 'position names' }, make('span', { class: 'piece' }, 'source'),
      make('span', { class: 'score' }, isRaw ? 'e' : 'ln α'), make('span', { class: 'weight' }, 'α')), ...columns),
    make('p', { class: 'note' }, (isRaw ? '' : 'Of a mean there are no scores: ln α is shown. ') + lesson.origin
      + ' Drag weight from one word to another, or click a word, to see what would have been written.'),
  ];
}

// What would have been written if this step had looked elsewhere.
async function force(lesson, weights) {
  const { detail, t, says } = lesson;
  try {
    const answer = await ask('heed/translate', {
      ...bodyOf(detail.shown.sentence, detail.settings), steps: 0, tree: false, force: weights.flatMap((w, s) => (w > 0 ? [[t, s, w]] : [])),
    });
    const { text } = answer.translations[0];
    says.replaceChildren(`Looking there at step ${t + 1}: `, make('b', { id: 'forced', dir: 'auto' }, text), ' ',
      text === lesson.best.text ? '(the same)' : button('Take it', () => detail.redo(detail.shown, text, true)));
  } catch (error) {
    says.replaceChildren(error.message);
  }
}

function contextOf(lesson) {
  const { source, attention } = lesson.best.subwords, row = attention[lesson.t];
  const parts = row.map((weight, s) => ({ weight, text: readable(source[s]) })).sort((a, b) => b.weight - a.weight);
  const strip = make('div', { class: 'strip', role: 'img', 'aria-label': 'The context, a mixture' });
  for (const { weight, text } of parts.filter((p) => p.weight >= 0.02)) {
    const part = make('span', null, weight > 0.08 ? text : '');
    part.style.flexGrow = weight;
    part.style.setProperty('--weight', Math.min(1, 0.15 + weight));
    strip.append(part);
  }
  return [strip, make('p', { class: 'sum' }, formula('c_t'), ' = ' + parts.slice(0, 4).map((p) => `${p.weight.toFixed(2)} · ${lesson.value}(${p.text})`).join(' + ') + ' + …')];
}

// The one vector of a model without attention; every step looks at the same.
function vectorOf(lesson) {
  const { vector } = lesson.best;
  const strip = make('div', { class: 'vector', role: 'img', 'aria-label': 'The vector, the same at every step' });
  const most = vector ? Math.max(...vector.map(Math.abs), 1e-9) : 1;
  for (const x of vector || new Array(Math.min(lesson.width, 256)).fill(0)) {
    const cell = make('span', { class: x < 0 ? 'less' : '' });
    cell.style.setProperty('--weight', Math.abs(x) / most);
    strip.append(cell);
  }
  return [make('p', null, `${lesson.best.subwords.source.length} subwords of the source became ${vector ? vector.length : lesson.width} numbers; the decoder sees nothing else:`), strip];
}

function wordsAt(lesson) {
  const { best, t } = lesson, own = best.subwords.target[t];
  const list = best.steps[t].filter(([text]) => text);
  return make('ol', { class: 'likely' }, ...list.map(([text, logprob]) => {
    const p = Math.exp(logprob);
    return make('li', { class: text === own ? 'taken' : '' }, make('span', { class: 'piece' }, readable(text)),
      make('span', { class: 'track' }, bar('bar', 100 * p)), make('small', null, percent(p)), text === own ? make('span', { class: 'tick' }, '✓ written') : '');
  }));
}

function formulasOf(lesson) {
  return make('ol', { class: 'terms' }, ...lesson.terms.map(([id, text, says], i) => make('li', {
    class: i === lesson.phase ? 'lit' : i < lesson.phase ? 'done' : '', 'data-term': id, 'aria-current': i === lesson.phase ? 'step' : undefined,
  }, formula(text), make('small', null, says))));
}

// ---- moving -----------------------------------------------------------------------------------------------------------

function draw(lesson) {
  const { best, t, terms, phase } = lesson, ids = terms.slice(0, phase + 1).map(([id]) => id);
  const has = Object.fromEntries(ids.map((id) => [id, true]));
  const written = textOf(best.subwords.target.slice(0, t), lesson.kind);
  const now = has.words ? readable(best.subwords.target[t]) : '?';
  lesson.place.textContent = `Step ${t + 1} of ${best.subwords.target.length}`;
  lesson.slider.value = t;
  lesson.body.replaceChildren(
    make('p', { class: 'written', dir: 'auto' }, written ? written + ' ' : '', make('b', null, now)),
    make('div', { class: 'lecture' }, formulasOf(lesson), make('div', { class: 'board' },
      ...(lesson.hasAttention ? sourceOf(lesson, has) : []),
      ...(has.context ? (lesson.hasAttention ? contextOf(lesson) : vectorOf(lesson)) : []),
      ...(has.words ? [wordsAt(lesson)] : []))));
}

const last = (lesson) => lesson.best.subwords.target.length - 1;

// One term on or back, or a whole step.
function move(lesson, terms, steps) {
  lesson.phase += terms;
  lesson.t += steps;
  if (lesson.phase >= lesson.terms.length && lesson.t < last(lesson)) {
    lesson.t++;
    lesson.phase = 0;
  } else if (lesson.phase < 0 && lesson.t > 0) {
    lesson.t--;
    lesson.phase = lesson.terms.length - 1;
  }
  lesson.t = Math.max(0, Math.min(last(lesson), lesson.t));
  lesson.phase = Math.max(0, Math.min(lesson.terms.length - 1, lesson.phase));
  draw(lesson);
}

function pause(lesson) {
  clearInterval(lesson.timer);
  lesson.timer = null;
  lesson.play.textContent = '▶ Play';
}

function play(lesson) {
  if (lesson.timer) {
    pause(lesson);
    return;
  }
  const isAtEnd = () => lesson.t === last(lesson) && lesson.phase === lesson.terms.length - 1;
  if (isAtEnd()) Object.assign(lesson, { t: 0, phase: 0 });
  lesson.play.textContent = '❚❚ Pause';
  lesson.timer = setInterval(() => {
    if (isAtEnd()) pause(lesson);
    else move(lesson, isCalm() ? 0 : 1, isCalm() ? 1 : 0);
  }, PACE_MS);
  draw(lesson);
}

function onKey(lesson, event) {
  if (/INPUT|SELECT/.test(event.target.tagName) || event.altKey || event.ctrlKey || event.metaKey) return;
  const act = {
    ArrowRight: () => move(lesson, 0, 1), ArrowLeft: () => move(lesson, 0, -1), ArrowDown: () => move(lesson, 1, 0), ArrowUp: () => move(lesson, -1, 0),
    Home: () => move(lesson, -lesson.phase, -lesson.t), End: () => move(lesson, 0, last(lesson)),
  }[event.key] || (event.key === ' ' && event.target.tagName !== 'BUTTON' && event.target.tagName !== 'SUMMARY' ? () => play(lesson) : null);
  if (!act) return;
  event.preventDefault();
  act();
}

function allSteps(lesson) {
  const { best } = lesson;
  return table('What was likely at each step', ['written', 'likeliest, with probabilities'], best.steps.map((list, t) => [
    String(t + 1), readable(best.subwords.target[t]), list.filter(([x]) => x).slice(0, 5).map(([x, p]) => readable(x) + ' ' + percent(Math.exp(p))).join(', ')]));
}

// ---- the view -----------------------------------------------------------------------------------------------------------

function headField({ detail, reload }) {
  const select = make('select', { id: 'step-head', onchange: () => { head = select.value; reload(); } },
    ...['mean', ...new Array(detail.model.heads).keys()].map((h) => make('option', { value: h }, h)));
  select.value = head;
  return make('label', null, 'Head ', select);
}

function begin(box, lesson) {
  lesson.play = button('▶ Play', () => play(lesson), { id: 'play', class: 'main' });
  lesson.place = make('output', { id: 'step-place' });
  lesson.slider = make('input', {
    type: 'range', id: 'step-slider', min: 0, max: last(lesson), value: 0, 'aria-label': 'Step',
    oninput: () => move(lesson, 0, Number(lesson.slider.value) - lesson.t),
  });
  lesson.body = make('div', { class: 'step' });
  lesson.says = make('p', { role: 'status' });
  box.append(make('div', { class: 'bar' }, lesson.play,
    button('‹ term', () => move(lesson, -1, 0)), button('term ›', () => move(lesson, 1, 0), { id: 'next-term' }),
    button('‹ word', () => move(lesson, 0, -1)), button('word ›', () => move(lesson, 0, 1), { id: 'next-word' }), lesson.slider, lesson.place,
    lesson.detail.model.heads > 1 && lesson.hasAttention ? headField(lesson) : null),
  lesson.says, lesson.body, make('p', { class: 'note' }, 'Keys: ← → a word, ↑ ↓ a term, space plays.'), allSteps(lesson));
  draw(lesson);
}

function lessonOf(detail, result) {
  const best = result.translations[0], c = detail.model.info.config;
  const list = c.alignment_heads || [];
  const heads = head !== 'mean' ? 'head ' + head : list.length > 0 ? 'heads ' + list.join(', ') : `the mean of ${detail.model.heads} heads`;
  const terms = termsOf(detail.model);
  return {
    detail, best, terms, t: 0, phase: terms.length - 1, timer: null, kind: detail.model.info.vocabularies.target.kind,
    hasAttention: Boolean(best.subwords.attention), width: c.encoder_dim || c.dim, value: c.arch === 'transformer' ? 'v' : 'h',
    origin: c.arch === 'transformer' ? `Weights of layer ${c.alignment_layer}, ${heads}.` : '',
  };
}

export function stepsView(box, detail) {
  let lesson = null, isGone = false;
  const leave = () => { if (lesson) clearInterval(lesson.timer); };
  const fill = (result) => {
    const best = result.translations[0];
    box.replaceChildren();
    lesson = null;
    if (!best.steps || best.steps.length === 0) {
      box.append(make('p', null, 'Nothing was written step by step here.'));
      return;
    }
    lesson = { ...lessonOf(detail, result), reload };
    begin(box, lesson);
  };
  const reload = () => {
    leave();
    ask('heed/translate', { ...bodyOf(detail.shown.sentence, detail.settings), tree: false, shift: '0', head: head < detail.model.heads ? head : 'mean' })
      .then((result) => { if (!isGone) fill(result); }).catch((error) => box.append(make('p', { class: 'problem' }, error.message)));
  };
  box.addEventListener('keydown', (e) => { if (lesson) onKey(lesson, e); });
  box.tabIndex = 0;
  reload();
  return () => {
    isGone = true;
    leave();
  };
}
