// choices.js -- what else could stand where a word stands. Choosing one, or typing one, keeps what is left of it and lets the model write
// the rest anew.
import { at, button, make, percent } from './dom.js';
import { ask, isAbort, newest } from './ask.js';
import { asked } from './state.js';
import { bodyOf } from './views.js';
import { textOf, wordsOfPieces } from './sentence.js';

const MOST = 8, LEAST = 1e-4;
const request = newest();
let opened = null;

// The likeliest ways to go on at each subword of a word: [{prefix, probability, isEnd}], best first.
export function candidates(result, index, kind) {
  const best = result.translations[0], pieces = best.subwords.target;
  const places = wordsOfPieces(pieces, best.target_words);
  if (!places || !best.steps) return [];
  const list = [];
  let before = 0; // log-probability of the word's subwords so far
  places.forEach((word, i) => {
    if (word !== index) return;
    for (const [text, logprob] of best.steps[i]) {
      const probability = Math.exp(before + logprob);
      if (text && text !== pieces[i] && text !== '<unk>' && probability >= LEAST)
        list.push({ prefix: textOf([...pieces.slice(0, i), text], kind), probability, isEnd: text === '</s>' });
    }
    const own = best.steps[i].find(([text]) => text === pieces[i]);
    before += own ? own[1] : Math.log(LEAST);
  });
  return list.sort((a, b) => b.probability - a.probability).slice(0, MOST);
}

export function close(isBack) {
  request.stop();
  at('choices').hidden = true;
  if (opened && isBack && opened.word.node.isConnected) opened.word.node.focus();
  opened = null;
}

function place(node) {
  const box = at('choices'), r = node.getBoundingClientRect(), page = document.documentElement;
  box.hidden = false;
  box.style.left = Math.max(8, Math.min(r.left, page.clientWidth - box.offsetWidth - 8)) + window.scrollX + 'px';
  box.style.top = r.bottom + window.scrollY + 6 + 'px';
}

// What a beginning becomes: its last word bright, the rest of the sentence behind it.
function fillRow(row, candidate, left, text) {
  const rest = text.startsWith(left) ? text.slice(left.length) : text;
  const [word, ...others] = rest.trimStart().split(' ');
  row.replaceChildren(make('b', null, candidate.isEnd ? '⟨end⟩' : word), make('span', null, candidate.isEnd ? ' stop here' : ' ' + others.join(' ')),
    make('i', null, percent(candidate.probability)));
}

async function complete(rows, list, left, word, context, signal) {
  const open = list.filter((c) => !c.isEnd), source = word.shown.sentence.source;
  if (open.length === 0) return;
  const answers = await ask('heed/translate', { ...asked(context.settings), q: open.map(() => source), prefix: open.map((c) => c.prefix) }, signal);
  answers.forEach((answer, i) => fillRow(rows[list.indexOf(open[i])], open[i], left, answer.translations[0].text));
}

function moveAmong(event) {
  const rows = Array.from(at('choices').querySelectorAll('button, input'));
  const from = rows.indexOf(document.activeElement);
  if (event.key === 'Escape') close(true);
  else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    rows[(from + (event.key === 'ArrowDown' ? 1 : rows.length - 1)) % rows.length].focus();
  }
}

function draw(word, result, context) {
  const { sentence } = word.shown, own = sentence.targetWords[word.index];
  const left = Array.from(sentence.target).slice(0, own.start).join('');
  const list = candidates(result, word.index, context.model.info.vocabularies.target.kind);
  const take = (prefix, isWhole) => {
    close();
    context.redo(word.shown, prefix, isWhole);
  };
  const rows = list.map((c) => button('', () => take(c.isEnd ? left.trimEnd() : c.prefix, c.isEnd), { class: 'choice' }));
  list.forEach((c, i) => fillRow(rows[i], c, left, c.prefix));
  const typed = make('input', {
    type: 'text', 'aria-label': 'Another word', placeholder: 'or type how it goes on', dir: 'auto',
    onkeydown: (e) => { if (e.key === 'Enter' && typed.value.trim()) take(left + typed.value.trim()); },
  });
  at('choices').replaceChildren(
    make('p', null, make('b', null, own.text), ' was ' + percent(Math.exp(own.logprob)) + (result.memory ? ' likely here with the memory. Without it:' : ' likely here.' + (list.length > 0 ? ' Others:' : ' Nothing else was likely.'))),
    ...rows, typed);
  place(word.node);
  (rows[0] || typed).focus();
  return { rows, list, left };
}

// context: {model, settings, redo(shown, prefix, isWhole)}
export async function open(word, context, fail) {
  opened = { word };
  const signal = request.begin();
  try {
    const result = await ask('heed/translate', bodyOf(word.shown.sentence, context.settings), signal);
    const { rows, list, left } = draw(word, result, context);
    await complete(rows, list, left, word, context, signal);
  } catch (error) {
    if (!isAbort(error)) fail(error);
  }
}

export function begin() {
  at('choices').addEventListener('keydown', moveAmong);
  document.addEventListener('pointerdown', (e) => {
    if (!at('choices').hidden && !at('choices').contains(e.target)) close();
  });
}
