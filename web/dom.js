// dom.js -- elements without markup: whatever is typed or translated goes into text nodes, so it can never become a tag.

export const at = (id) => document.getElementById(id);

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((c) => c !== undefined && c !== null));
  return node;
}

// make('button', {type: 'button', onclick: f}, 'Go')
export const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

// The same for pictures.
export const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export const button = (text, onclick, attributes) => make('button', { type: 'button', onclick, ...attributes }, text);

export const percent = (p) => (p >= 0.9995 ? '100' : p >= 0.0995 ? (100 * p).toFixed(0) : (100 * p).toFixed(1)) + ' %';

// "s_{t-1}" and "h_j" with their indices below the line.
export function formula(text) {
  const out = make('span', { class: 'math' });
  for (const part of text.split(/(_\{[^}]*\}|_[A-Za-z0-9]+'?)/)) {
    if (!part.startsWith('_')) out.append(part);
    else out.append(make('sub', null, part.replace(/^_\{?|\}$/g, '')));
  }
  return out;
}

let ruler = null;

// How wide a text is, in pixels.
export function widthOf(text, font) {
  ruler = ruler || document.createElement('canvas').getContext('2d');
  ruler.font = font;
  return ruler.measureText(text).width;
}

export const isNarrow = () => document.documentElement.clientWidth < 720;

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const LETTER = /\p{L}/u;

// Is a text read from right to left? Its first letter decides, as it does for dir="auto".
export function isFromRight(words) {
  const first = Array.from(words.join(' ')).find((c) => LETTER.test(c));
  return first !== undefined && RIGHT_TO_LEFT.test(first);
}

// Keys that move among buttons or words, one of which is in the order of the tabulator.
export function rove(nodes, event) {
  const from = nodes.indexOf(document.activeElement);
  const isBack = event.key === 'ArrowLeft' || event.key === 'ArrowUp';
  const isOn = event.key === 'ArrowRight' || event.key === 'ArrowDown';
  const to = event.key === 'Home' ? 0 : event.key === 'End' ? nodes.length - 1
    : isBack ? Math.max(0, from - 1) : isOn ? Math.min(nodes.length - 1, from + 1) : -1;
  if (to < 0 || from < 0 || !nodes[to]) return false;
  event.preventDefault();
  for (const node of nodes) node.tabIndex = -1;
  nodes[to].tabIndex = 0;
  nodes[to].focus();
  return true;
}
