// sentence.js -- a line's result, cut into its sentences: each has its texts, words, links and weights, counted from its own beginning.
// Places in results count Unicode characters, those of JavaScript do not, so texts are arrays of characters here.

const slice = (letters, from, to) => letters.slice(from, to).join('');

const within = (words, [from, to]) => {
  const first = words.findIndex((w) => w.start >= from);
  let n = 0;
  while (first >= 0 && words[first + n] && words[first + n].start < to) n++;
  return { first: Math.max(first, 0), n };
};

const moved = (words, { first, n }, by) =>
  words.slice(first, first + n).map((w) => ({ ...w, start: w.start - by, end: w.end - by }));

function cut(result, place, gaps) {
  const best = result.translations[0];
  const src = within(best.source_words, place.source), tgt = within(best.target_words, place.target);
  const links = best.links
    .filter(([s, t]) => s >= src.first && s < src.first + src.n && t >= tgt.first && t < tgt.first + tgt.n)
    .map(([s, t]) => [s - src.first, t - tgt.first]);
  const rows = best.attention && best.attention.slice(tgt.first, tgt.first + tgt.n);
  return {
    source: slice(gaps.source, ...place.source), target: slice(gaps.target, ...place.target),
    sourceWords: moved(best.source_words, src, place.source[0]),
    targetWords: moved(best.target_words, tgt, place.target[0]),
    links, attention: rows && rows.map((r) => r.slice(src.first, src.first + src.n)),
    end: best.attention_end && best.attention_end.slice(tgt.first, tgt.first + tgt.n),
  };
}

// [{before: {source, target}, …sentence}], and what follows the last one.
export function sentencesOf(result) {
  const best = result.translations[0];
  const letters = { source: Array.from(result.source), target: Array.from(best.text) };
  const whole = { source: [0, letters.source.length], target: [0, letters.target.length] };
  const places = result.sentences && result.sentences.length > 0 ? result.sentences : [whole];
  let atSource = 0, atTarget = 0;
  const list = places.map((place) => {
    const sentence = cut(result, place, letters);
    sentence.before = { source: slice(letters.source, atSource, place.source[0]), target: slice(letters.target, atTarget, place.target[0]) };
    [, atSource] = place.source;
    [, atTarget] = place.target;
    return sentence;
  });
  return { list, after: { source: slice(letters.source, atSource), target: slice(letters.target, atTarget) } };
}

// The one sentence that a result is about, whole.
export function whole(result) {
  const n = (text) => Array.from(text).length;
  const letters = { source: Array.from(result.source), target: Array.from(result.translations[0].text) };
  return cut(result, { source: [0, n(result.source)], target: [0, n(result.translations[0].text)] }, letters);
}

// ---- subwords -----------------------------------------------------------------------------------------------------

// What a person reads of a subword.
export const readable = (piece) => (piece === '</s>' ? '⟨end⟩' : piece);

// Subwords as text: SentencePiece has its spaces inside, words have them between.
export function textOf(pieces, kind) {
  const said = pieces.filter((p) => p !== '</s>');
  if (kind === 'spm') return said.join('').replace(/▁/g, ' ').replace(/^ /, '');
  return said.join(kind === 'chars' ? '' : ' ');
}

// For each subword the number of its word, or -1 for the end marker; null where letters were changed on the way.
export function wordsOfPieces(pieces, words) {
  const out = [];
  let word = 0, used = 0;
  for (const piece of pieces) {
    if (piece === '</s>') {
      out.push(-1);
      continue;
    }
    const n = Array.from(piece.replace(/▁/g, '')).length;
    while (words[word] && used >= Array.from(words[word].text).length) {
      word++;
      used = 0;
    }
    if (!words[word] && n > 0) return null;
    out.push(Math.min(word, words.length - 1));
    used += n;
  }
  return word >= words.length - 1 ? out : null;
}

// ---- weights as a matrix ----------------------------------------------------------------------------------------------

// {rows, columns, weights}: between words, with the end marker as a column of its own, or between subwords.
export function matrixOf(result, level) {
  const best = result.translations[0];
  if (level === 'subwords') {
    const { source, target, attention } = best.subwords;
    return attention && { rows: target.map(readable), columns: source.map(readable), weights: attention, hasEnd: source.at(-1) === '</s>' };
  }
  if (!best.attention) return null;
  const hasEnd = Boolean(best.attention_end);
  return {
    rows: best.target_words.map((w) => w.text),
    columns: best.source_words.map((w) => w.text).concat(hasEnd ? ['⟨end⟩'] : []),
    weights: best.attention.map((row, t) => (hasEnd ? [...row, best.attention_end[t]] : row)),
    hasEnd,
  };
}

const field = (text) => (/[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text);

// A line per target word, a column per source word.
export function csvOf(matrix) {
  const lines = [['', ...matrix.columns].map(field).join(',')];
  matrix.weights.forEach((row, t) => lines.push([field(matrix.rows[t]), ...row].join(',')));
  return lines.join('\n') + '\n';
}
