// panes.js -- the text and its translation, word by word. A text area cannot mark its words, so below it lies a mirror: the same letters in
// the same places, whose words are lit. Where the pointer or the cursor is, there the partners of the word light up on the other side.
import { at, make, percent, rove } from './dom.js';

const UNSURE = 0.5, DOUBTFUL = 0.3, SHOWN = 0.05;
const words = new WeakMap(); // of nodes: {node, side, index, shown, line}
let lines = []; // as shown: {source, node, mirror, sentences: [shown]}
let told = { choose() {}, open() {} };
let chosen = null;

// ---- drawing --------------------------------------------------------------------------------------------------------

function addWords(box, text, list, side, shown) {
  const letters = Array.from(text);
  let from = 0;
  list.forEach((word, index) => {
    box.append(letters.slice(from, word.start).join(''));
    const node = make('span', { class: 'w' }, letters.slice(word.start, word.end).join(''));
    if (side === 'target') {
      node.setAttribute('role', 'button');
      node.tabIndex = -1;
      if (word.confidence < DOUBTFUL) node.classList.add('doubtful');
      else if (word.confidence < UNSURE) node.classList.add('unsure');
      if (word.isNew) node.classList.add('new');
    }
    words.set(node, { node, side, index, shown });
    shown[side].push(node);
    box.append(node);
    from = word.end;
  });
  box.append(letters.slice(from).join(''));
}

function drawLine(line) {
  const mirror = make('div', { class: 'line' }), node = make('div', { class: 'line' });
  const drawn = { ...line, mirror, node, shown: [] };
  if (!line.sentences) {
    mirror.append(line.source || '\u200b');
    node.append(line.stale || '\u200b');
    node.classList.toggle('stale', Boolean(line.stale));
    return drawn;
  }
  for (const sentence of line.sentences.list) {
    const shown = { sentence, source: [], target: [], line: drawn, boxes: {} };
    for (const [side, box] of [['source', mirror], ['target', node]]) {
      box.append(sentence.before[side]);
      shown.boxes[side] = make('span', { class: 'sentence' });
      addWords(shown.boxes[side], sentence[side], sentence[side + 'Words'], side, shown);
      box.append(shown.boxes[side]);
    }
    drawn.shown.push(shown);
  }
  mirror.append(line.sentences.after.source || '\u200b');
  node.append(line.sentences.after.target || '\u200b');
  return drawn;
}

// lines: {source, sentences} of each; lines that are as they were keep their nodes.
export function show(list) {
  const kept = new Map();
  for (const line of lines) {
    const key = line.sentences || line.source + '\n' + (line.stale || '');
    kept.set(key, [...(kept.get(key) || []), line]);
  }
  lines = list.map((line) => {
    const old = kept.get(line.sentences || line.source + '\n' + (line.stale || ''));
    return old && old.length > 0 ? old.shift() : drawLine(line);
  });
  at('mirror').replaceChildren(...lines.map((l) => l.mirror));
  at('target').replaceChildren(...lines.map((l) => l.node));
  const first = at('target').querySelector('.w');
  if (first && !at('target').querySelector('.w[tabindex="0"]')) first.tabIndex = 0;
  light(null);
  if (chosen && !all().includes(chosen)) mark(null);
}

export const all = () => lines.flatMap((l) => l.shown);

// The sentence that the views are about.
export function mark(shown) {
  if (chosen) for (const box of Object.values(chosen.boxes)) box.classList.remove('chosen');
  chosen = shown;
  if (shown && all().length > 1) for (const box of Object.values(shown.boxes)) box.classList.add('chosen');
}

// ---- light -------------------------------------------------------------------------------------------------------------

let lit = [];

// Weights of a word's partners: [{index, weight}]; of a model without attention those of its links.
function partners({ side, index, shown }) {
  const { attention, links } = shown.sentence;
  if (!attention) return links.filter((l) => l[side === 'source' ? 0 : 1] === index)
    .map((l) => ({ index: l[side === 'source' ? 1 : 0], weight: 1 }));
  return side === 'target' ? attention[index].map((weight, i) => ({ index: i, weight }))
    : attention.map((row, i) => ({ index: i, weight: row[index] }));
}

function tell(word, list) {
  const { side, index, shown } = word;
  const s = shown.sentence, other = side === 'target' ? s.sourceWords : s.targetWords;
  const said = list.filter((p) => p.weight >= SHOWN).sort((a, b) => b.weight - a.weight)
    .map((p) => other[p.index].text + ' ' + p.weight.toFixed(2));
  if (side === 'target' && s.end && s.end[index] >= SHOWN) said.push('⟨end⟩ ' + s.end[index].toFixed(2));
  const own = s[side + 'Words'][index];
  at('readout').replaceChildren(
    make('b', null, own.text), side === 'target' ? ' looked at ' : ' was looked at by ', said.join(' · ') || 'nothing in particular',
    own.confidence === undefined ? '' : ` — confidence ${percent(own.confidence)}`
      + (own.confidence < UNSURE ? ', unsure' : ''));
}

export function light(word) {
  for (const node of lit) {
    node.classList.remove('on', 'lit');
    node.style.removeProperty('--weight');
    delete node.dataset.weight;
  }
  lit = [];
  if (!word) {
    at('readout').replaceChildren();
    return;
  }
  const list = partners(word), others = word.shown[word.side === 'target' ? 'source' : 'target'];
  word.node.classList.add('on');
  lit.push(word.node);
  for (const { index, weight } of list) {
    if (weight < SHOWN || !others[index]) continue;
    others[index].classList.add('lit');
    others[index].style.setProperty('--weight', Math.min(1, 0.15 + weight));
    others[index].dataset.weight = weight.toFixed(2).replace(/^0/, '');
    lit.push(others[index]);
  }
  tell(word, list);
}

// A word of a sentence that a view names.
export const lightAt = (shown, side, index) => light(shown && shown[side][index] ? words.get(shown[side][index]) : null);

// ---- the pointer and the keys ------------------------------------------------------------------------------------------

const isIn = (r, x, y) => x >= r.left && x < r.right && y >= r.top && y < r.bottom;

function wordUnder(x, y) {
  const line = lines.find((l) => isIn(l.mirror.getBoundingClientRect(), x, y));
  for (const shown of line ? line.shown : [])
    for (const node of shown.source)
      if (Array.from(node.getClientRects()).some((r) => isIn(r, x, y))) return words.get(node);
  return null;
}

function wordAtCursor() {
  let place = at('source').selectionStart;
  for (const line of lines) {
    if (place <= line.source.length) {
      const letters = Array.from(line.source.slice(0, place)).length;
      let before = 0;
      for (const shown of line.shown) {
        before += Array.from(shown.sentence.before.source).length;
        const index = shown.sentence.sourceWords.findIndex((w) => letters >= before + w.start && letters <= before + w.end);
        if (index >= 0) return words.get(shown.source[index]);
        before += Array.from(shown.sentence.source).length;
      }
      return null;
    }
    place -= line.source.length + 1;
  }
  return null;
}

function followCursor() {
  const word = wordAtCursor();
  light(word);
  if (word) told.choose(word.shown);
}

function onTarget(event) {
  const word = words.get(event.target.closest('.w'));
  if (!word) return;
  if (event.type === 'pointerover') light(word);
  else if (event.type === 'focusin') {
    light(word);
    told.choose(word.shown);
  } else if (event.type === 'click') {
    event.preventDefault();
    for (const node of at('target').querySelectorAll('.w[tabindex="0"]')) node.tabIndex = -1;
    word.node.tabIndex = 0;
    word.node.focus();
    told.open(word);
  }
}

function onKey(event) {
  const word = words.get(event.target);
  if (!word) return;
  if (event.key === 'Enter' || event.key === ' ') {
    event.preventDefault();
    told.open(word);
  } else {
    const isTurned = getComputedStyle(at('target')).direction === 'rtl';
    const key = isTurned && event.key === 'ArrowLeft' ? 'ArrowRight' : isTurned && event.key === 'ArrowRight' ? 'ArrowLeft' : event.key;
    rove(Array.from(at('target').querySelectorAll('.w')), { key, preventDefault: () => event.preventDefault() });
  }
}

// Both panes show the same part of a long text.
function scrollTogether() {
  const boxes = [at('source-scroll'), at('target-scroll')];
  let leader = null;
  boxes.forEach((box, i) => {
    for (const name of ['pointerenter', 'wheel', 'keydown', 'touchstart'])
      box.addEventListener(name, () => { leader = box; }, { passive: true });
    box.addEventListener('scroll', () => {
      const other = boxes[1 - i], range = box.scrollHeight - box.clientHeight;
      if (leader === box && range > 0) other.scrollTop = (box.scrollTop / range) * (other.scrollHeight - other.clientHeight);
    });
  });
}

// choose(shown): a sentence was pointed out; open(word): what else could stand here?
export function begin(callbacks) {
  told = callbacks;
  const source = at('source'), target = at('target');
  source.addEventListener('pointermove', (e) => light(wordUnder(e.clientX, e.clientY)));
  for (const node of [source, target]) node.addEventListener('pointerleave', () => light(null));
  for (const name of ['keyup', 'click', 'select']) source.addEventListener(name, followCursor);
  for (const name of ['pointerover', 'focusin', 'click']) target.addEventListener(name, onTarget);
  target.addEventListener('focusout', () => light(null));
  target.addEventListener('keydown', onKey);
  scrollTogether();
}
