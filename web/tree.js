// tree.js -- the search as it went: a column for each step, in it the hypotheses that were kept, best on top. What led to no end is grey,
// the path of the translation is bold. Below, how ends were compared, and what dividing by length did to their order.
import { draw, make, widthOf } from './dom.js';
import { readable, textOf } from './sentence.js';
import { table } from './table.js';

const ROW = 26, FONT = '14px system-ui, sans-serif';

// Each node with its depth, its place in its column, and whether an end follows it.
export function layTree(beam) {
  const nodes = beam.map((node, i) => ({ ...node, i, depth: node.parent === null ? 0 : -1, isAlive: false, isBest: false }));
  for (const node of nodes) if (node.parent !== null) node.depth = nodes[node.parent].depth + 1;
  for (const end of nodes.filter((n) => n.rank !== undefined))
    for (let n = end; n; n = n.parent === null ? null : nodes[n.parent]) {
      n.isAlive = true;
      n.isBest = n.isBest || end.rank === 0;
    }
  const columns = [];
  for (const node of nodes) (columns[node.depth] = columns[node.depth] || []).push(node);
  for (const column of columns) column.sort((a, b) => b.total - a.total).forEach((node, row) => { node.row = row; });
  return { nodes, columns };
}

const pathTo = (nodes, node) => (node.parent === null ? [] : pathTo(nodes, nodes[node.parent])).concat(node.text);

function addNode(svg, node, nodes, places, choose) {
  const x = places[node.depth], y = 20 + node.row * ROW;
  if (node.parent !== null) {
    const from = nodes[node.parent], x0 = places[from.depth] + widthOf(readable(from.text) || '…', FONT) + 6, y0 = 20 + from.row * ROW;
    svg.append(draw('path', {
      class: node.isBest ? 'edge best' : node.isAlive ? 'edge' : 'edge pruned', d: `M${x0},${y0}C${(x0 + x) / 2},${y0} ${(x0 + x) / 2},${y} ${x - 4},${y}`,
    }));
  }
  const label = draw('text', {
    class: node.isBest ? 'node best' : node.isAlive ? 'node' : 'node pruned', x, y, dy: '.35em', tabindex: 0, role: 'button', 'data-i': node.i,
    onclick: () => choose(node), onkeydown: (e) => { if (e.key === 'Enter') choose(node); },
  }, readable(node.text) || '…', draw('title', null,
    `${textOf(pathTo(nodes, node), svg.kind)}\nthis word ${Math.exp(node.logprob).toFixed(3)}, log-probability so far ${node.total.toFixed(2)}`
    + (node.rank === undefined ? '' : `\nscore ${node.score.toFixed(3)}, place ${node.rank + 1}`)));
  svg.append(label);
}

function picture(laid, kind, choose) {
  const places = [];
  let x = 12;
  for (const column of laid.columns) {
    places.push(x);
    x += Math.max(...column.map((n) => widthOf(readable(n.text) || '…', FONT))) + 34;
  }
  const height = 24 + ROW * Math.max(...laid.columns.map((c) => c.length));
  const svg = draw('svg', {
    class: 'tree', viewBox: `0 0 ${Math.ceil(x)} ${height}`, width: Math.ceil(x), height, role: 'group',
    'aria-label': `${laid.nodes.length} words that the search kept; a table below has its ends`,
  });
  svg.kind = kind;
  for (const node of laid.nodes) addNode(svg, node, laid.nodes, places, choose);
  return svg;
}

// The ends, with the place that each would have by its log-probability alone.
function ends(laid, kind) {
  const list = laid.nodes.filter((n) => n.rank !== undefined).sort((a, b) => a.rank - b.rank);
  const plain = [...list].sort((a, b) => b.total - a.total);
  return list.map((n) => [
    String(n.rank + 1), textOf(pathTo(laid.nodes, n), kind) || '(nothing)', n.total.toFixed(3), String(n.depth + 1), n.score.toFixed(3),
    String(plain.indexOf(n) + 1),
  ]);
}

export function treeView(box, detail) {
  const beam = (detail.result.beam || []).filter((n) => n.sentence === 0);
  if (beam.length === 0) {
    box.append(make('p', null, 'This translation was not searched, so there is no beam.'));
    return;
  }
  const kind = detail.model.info.vocabularies.target.kind, laid = layTree(beam), rows = ends(laid, kind);
  const isTurned = rows.some((r) => r[0] !== r[5]);
  const choose = (node) => detail.redo(detail.shown, textOf(pathTo(laid.nodes, node), kind));
  const list = table('Ends of the search', ['text', 'log-probability', 'length', 'score', 'place without length'], rows);
  list.open = true;
  box.append(
    make('p', null, 'Each column is a step, with the hypotheses that were kept, best on top. Click a word to keep the way to it and translate the rest anew.'),
    make('div', { class: 'wide' }, picture(laid, kind, choose)),
    make('p', { id: 'length-says' }, isTurned ? 'Length changes the order here: by log-probability alone another end would come first or earlier, as shorter ones lose less.'
      : 'Length changes nothing here: by log-probability alone the order of the ends would be the same.'),
    list,
    make('p', { class: 'note' }, 'Beam size and length are under Search, at the top.'));
}
