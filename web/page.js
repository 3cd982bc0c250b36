// page.js -- two panes: what is typed on the left is translated on the right. The newest request wins.
'use strict';

const at = (id) => document.getElementById(id);
let models = [];
let underWay = null;
let wait = 0;

async function ask(path, body, signal) {
  const request = body
    ? { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal }
    : {};
  const answer = await fetch(path, request);
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error || answer.statusText);
  return said;
}

// The translation word by word; text between words stays as it is.
function show(result) {
  const best = result.translations[0];
  const letters = Array.from(best.text);
  const nodes = [];
  let from = 0;
  for (const word of best.target_words) {
    nodes.push(document.createTextNode(letters.slice(from, word.start).join('')));
    const span = document.createElement('span');
    span.textContent = letters.slice(word.start, word.end).join('');
    span.title = 'confidence ' + word.confidence.toFixed(2);
    if (word.confidence < 0.4) span.className = 'unsure';
    nodes.push(span);
    from = word.end;
  }
  nodes.push(document.createTextNode(letters.slice(from).join('')));
  at('target').replaceChildren(...nodes);
  at('news').textContent = result.warnings.join(' ');
}

async function translate() {
  const text = at('source').value;
  const model = models[at('direction').selectedIndex];
  history.replaceState(null, '', '#' + encodeURIComponent(text));
  if (underWay) underWay.abort();
  underWay = null;
  if (!text.trim() || !model) {
    at('target').replaceChildren();
    at('news').textContent = '';
    return;
  }
  const mine = new AbortController();
  underWay = mine;
  try {
    const result = await ask('heed/translate', { q: text, model: model.model, from: model.from, to: model.to }, mine.signal);
    if (underWay === mine) show(result);
  } catch (error) {
    if (error.name !== 'AbortError') at('news').textContent = error.message;
  }
}

function soon() {
  clearTimeout(wait);
  wait = setTimeout(translate, 250);
}

async function begin() {
  models = await ask('heed/model');
  at('direction').replaceChildren(...models.map((m) => new Option(m.from + ' → ' + m.to, m.model)));
  at('source').value = decodeURIComponent(location.hash.slice(1));
  at('source').addEventListener('input', soon);
  at('direction').addEventListener('change', translate);
  at('copy').addEventListener('click', () => navigator.clipboard.writeText(at('target').textContent));
  translate();
}

begin().catch((error) => { at('news').textContent = error.message; });
