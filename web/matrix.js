// matrix.js -- attention as a heat map: a row for each word of the translation, a column for each of the source, below them how much
// attention each source word got in all, beside them what each row sums to. Small ones are SVG, large ones are painted.
import { draw, make, widthOf } from './dom.js';

const FONT = '13px system-ui, sans-serif', PAINTED = 60;

const colourOf = (node, name) => getComputedStyle(node).getPropertyValue(name).trim();

function measures(m) {
  const cell = m.columns.length > PAINTED ? 8 : m.columns.length > 24 ? 20 : m.columns.length > 12 ? 30 : 38;
  const widest = (list) => Math.min(170, Math.max(20, ...list.map((w) => widthOf(w, FONT))));
  return { cell, left: widest(m.rows) + 12, top: widest(m.columns) * 0.8 + 22, width: cell * m.columns.length, height: cell * m.rows.length };
}

export const coverage = (m) => m.columns.map((_, s) => m.weights.reduce((sum, row) => sum + row[s], 0));

function addLabels(svg, m, { cell, left, top }) {
  m.columns.forEach((text, s) => svg.append(draw('text', {
    class: 'label', 'data-s': s, 'text-anchor': 'start', transform: `translate(${left + (s + 0.6) * cell},${top - 6}) rotate(-50)`,
  }, text)));
  m.rows.forEach((text, t) => svg.append(draw('text', {
    class: 'label', 'data-t': t, 'text-anchor': 'end', x: left - 6, y: top + (t + 0.5) * cell, dy: '.35em',
  }, text)));
}

function addCells(svg, m, { cell, left, top }, hasNumbers) {
  m.weights.forEach((row, t) => row.forEach((weight, s) => {
    const x = left + s * cell, y = top + t * cell, w = Math.min(1, Math.abs(weight));
    svg.append(draw('rect', {
      class: weight < 0 ? 'cell less' : 'cell', x, y, width: cell - 1, height: cell - 1, 'fill-opacity': w.toFixed(3), 'data-s': s, 'data-t': t,
      'data-weight': weight,
    }, draw('title', null, `${m.rows[t]} ← ${m.columns[s]}: ${weight.toFixed(3)}`)));
    if (hasNumbers && w >= 0.005) svg.append(draw('text', {
      class: w > 0.55 ? 'number high' : 'number', x: x + cell / 2, y: y + cell / 2, dy: '.35em', 'text-anchor': 'middle',
    }, w.toFixed(2).replace(/^0/, '')));
  }));
}

function addCoverage(svg, m, { cell, left, top, width, height }) {
  const sums = coverage(m), most = Math.max(1, ...sums);
  sums.forEach((sum, s) => svg.append(draw('rect', {
    class: 'cover', x: left + s * cell, y: top + height + 6, width: cell - 1, height: Math.max(0.5, 36 * sum / most), 'data-s': s,
  }, draw('title', null, `${m.columns[s]}: ${sum.toFixed(2)} in all`))));
  svg.append(draw('text', { class: 'label', x: left - 6, y: top + height + 20, 'text-anchor': 'end' }, 'sum'));
  svg.append(draw('text', { class: 'label', x: left + width + 6, y: top - 6 }, 'sum'));
  m.weights.forEach((row, t) => svg.append(draw('text', { class: 'label sum', 'data-t': t, x: left + width + 6, y: top + (t + 0.5) * cell, dy: '.35em' },
    row.reduce((sum, w) => sum + w, 0).toFixed(2))));
}

function follow(svg, onPoint) {
  const show = (t, s) => {
    for (const node of svg.querySelectorAll('.label')) node.classList.toggle('on', node.dataset.t === t || (s !== undefined && node.dataset.s === s));
    onPoint('target', t === undefined ? -1 : Number(t));
  };
  svg.addEventListener('pointerover', (e) => show(e.target.dataset.t, e.target.dataset.s));
  svg.addEventListener('pointerleave', () => show());
}

// A painted matrix: one square each, no words.
export function paint(canvas, weights, cell) {
  const rows = weights.length, columns = rows > 0 ? weights[0].length : 0, context = canvas.getContext('2d');
  canvas.width = columns * cell;
  canvas.height = rows * cell;
  context.fillStyle = colourOf(document.documentElement, '--weight-ink');
  weights.forEach((row, t) => row.forEach((w, s) => {
    context.globalAlpha = Math.min(1, w);
    context.fillRect(s * cell, t * cell, cell - (cell > 6), cell - (cell > 6));
  }));
}

export function matrixPicture(m, { hasNumbers = false, onPoint = () => {} } = {}) {
  if (m.columns.length > PAINTED || m.rows.length > PAINTED) {
    const canvas = make('canvas', { class: 'painted', role: 'img', 'aria-label': 'Attention matrix; the table below has the numbers' });
    paint(canvas, m.weights, 8);
    return canvas;
  }
  const size = measures(m), width = size.left + size.width + 60, height = size.top + size.height + 50;
  const svg = draw('svg', {
    class: 'matrix', viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, width: Math.ceil(width), height: Math.ceil(height), role: 'img',
    'aria-label': `Attention matrix of ${m.rows.length} rows and ${m.columns.length} columns; the table below has the numbers`,
  });
  addLabels(svg, m, size);
  addCells(svg, m, size, hasNumbers);
  addCoverage(svg, m, size);
  if (m.hasEnd) svg.append(draw('line', {
    class: 'apart', x1: size.left + size.width - size.cell - 0.5, x2: size.left + size.width - size.cell - 0.5, y1: size.top - 4, y2: size.top + size.height + 44,
  }));
  follow(svg, onPoint);
  return svg;
}
