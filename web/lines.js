// lines.js -- attention as ribbons between two rows of words. A ribbon is as wide as its weight, and ribbons are stacked at their words, so
// none hides another. On a narrow screen the rows become columns.
import { draw, isFromRight, isNarrow, widthOf } from './dom.js';

const UNIT = 22, GAP = 14, FONT = '15px system-ui, sans-serif';

// Where each word lies along its row, and how much of it ribbons take.
function slots(words, masses, extent, isReversed) {
  const sizes = words.map((w, i) => Math.max(extent(w), masses[i] * UNIT) + GAP);
  const total = sizes.reduce((a, b) => a + b, 0);
  let from = 0;
  const list = sizes.map((size, i) => {
    const middle = from + size / 2;
    from += size;
    return { middle: isReversed ? total - middle : middle, next: -masses[i] * UNIT / 2 };
  });
  return { list, total };
}

const centre = ({ list, total }, length) => list.forEach((s) => { s.middle += (length - total) / 2; });

function path(isNarrowNow, a0, a1, b0, b1, near, far) {
  const m = (near + far) / 2;
  const p = isNarrowNow ? (along, across) => `${across.toFixed(1)},${along.toFixed(1)}` : (along, across) => `${along.toFixed(1)},${across.toFixed(1)}`;
  return `M${p(a0, near)}C${p(a0, m)} ${p(b0, m)} ${p(b0, far)}L${p(b1, far)}C${p(b1, m)} ${p(a1, m)} ${p(a1, near)}Z`;
}

// The ribbons of a matrix that are not below a threshold: [{s, t, weight}].
export function ribbonsOf(matrix, threshold) {
  const list = [];
  matrix.weights.forEach((row, t) => row.forEach((weight, s) => {
    if (weight >= threshold && weight > 0) list.push({ s, t, weight });
  }));
  return list;
}

function masses(ribbons, side, n) {
  const sum = new Array(n).fill(0);
  for (const r of ribbons) sum[r[side]] += r.weight;
  return sum;
}

function addRibbons(svg, ribbons, src, tgt, turned, near, far, matrix) {
  const byPlace = [...ribbons].sort((a, b) => src.list[a.s].middle - src.list[b.s].middle || tgt.list[a.t].middle - tgt.list[b.t].middle);
  const starts = new Map();
  for (const r of [...ribbons].sort((a, b) => tgt.list[a.t].middle - tgt.list[b.t].middle)) {
    starts.set(r, src.list[r.s].middle + src.list[r.s].next);
    src.list[r.s].next += r.weight * UNIT;
  }
  for (const r of byPlace) {
    const w = r.weight * UNIT, a = starts.get(r), b = tgt.list[r.t].middle + tgt.list[r.t].next;
    tgt.list[r.t].next += w;
    svg.append(draw('path', {
      class: 'ribbon', d: path(turned, a, a + w, b, b + w, near, far), 'data-s': r.s, 'data-t': r.t,
      'fill-opacity': (0.2 + 0.65 * r.weight).toFixed(3),
    }, draw('title', null, `${matrix.rows[r.t]} ← ${matrix.columns[r.s]}: ${r.weight.toFixed(3)}`)));
  }
}

function addWords(svg, words, row, side, turned, across, hasEnd, point) {
  words.forEach((text, i) => {
    const isEnd = hasEnd && side === 's' && i === words.length - 1;
    const place = turned ? { x: across, y: row.list[i].middle, 'text-anchor': side === 's' ? 'end' : 'start', dy: '.35em' }
      : { x: row.list[i].middle, y: across, 'text-anchor': 'middle' };
    svg.append(draw('text', {
      class: isEnd ? 'word end' : 'word', [`data-${side}`]: i, ...place,
      onpointerenter: () => point(side, i), onpointerleave: () => point(side, -1),
    }, text));
  });
}

// Only what belongs to the word stays bright.
function emphasise(svg, side, index) {
  for (const node of svg.querySelectorAll('.ribbon'))
    node.classList.toggle('dim', index >= 0 && node.dataset[side] !== String(index));
}

// `room`: how wide it may be; a short sentence is drawn larger, up to twice.
export function linesPicture(matrix, threshold, room, onPoint = () => {}) {
  const turned = isNarrow();
  const ribbons = ribbonsOf(matrix, threshold);
  const extent = turned ? () => 20 : (w) => widthOf(w, FONT);
  const src = slots(matrix.columns, masses(ribbons, 's', matrix.columns.length), extent, !turned && isFromRight(matrix.columns));
  const tgt = slots(matrix.rows, masses(ribbons, 't', matrix.rows.length), extent, !turned && isFromRight(matrix.rows));
  const length = Math.max(src.total, tgt.total);
  centre(src, length);
  centre(tgt, length);
  const widest = (words) => Math.max(...words.map((w) => widthOf(w, FONT)));
  const left = turned ? widest(matrix.columns) + 10 : 0, right = turned ? widest(matrix.rows) + 10 : 0;
  const span = turned ? 130 : 140;
  const [width, height] = turned ? [left + span + right, length] : [length, span + 60];
  const [near, far] = turned ? [left, left + span] : [30, 30 + span];
  const zoom = Math.max(1, Math.min(turned ? 1.15 : 1.4, room / width));
  const svg = draw('svg', {
    class: 'lines', viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, width: Math.ceil(width * zoom), height: Math.ceil(height * zoom), role: 'img',
    'aria-label': `Attention of ${matrix.rows.length} words on ${matrix.columns.length}; the table below has the numbers`,
  });
  const point = (side, i) => {
    emphasise(svg, side, i);
    onPoint(side === 's' ? 'source' : 'target', i);
  };
  addRibbons(svg, ribbons, src, tgt, turned, near, far, matrix);
  addWords(svg, matrix.columns, src, 's', turned, turned ? near - 8 : near - 10, matrix.hasEnd, point);
  addWords(svg, matrix.rows, tgt, 't', turned, turned ? far + 8 : far + 20, matrix.hasEnd, point);
  return svg;
}
