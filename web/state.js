// state.js -- what the page is set to. It stands in the part of the address behind #, which browsers never send to a server, so a
// page can be kept, shared and reloaded without a text in any log.

const INITIAL = { q: '', from: '', to: '', model: '', beam: '', norm: '', view: 'lines' };

export const state = { ...INITIAL };

export function readState() {
  const said = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(INITIAL)) state[name] = said.get(name) ?? INITIAL[name];
  const beam = parseInt(state.beam, 10);
  state.beam = beam >= 1 ? String(beam) : '';
}

export function writeState() {
  const said = new URLSearchParams();
  for (const name of Object.keys(INITIAL)) if (state[name] !== INITIAL[name]) said.set(name, state[name]);
  const hash = said.toString();
  history.replaceState(null, '', hash ? '#' + hash : location.pathname);
}

// The fields of a request that belong to these settings.
export function asked(settings) {
  const s = { ...state, ...settings };
  const body = {};
  if (s.beam) body.beam = Number(s.beam);
  if (s.norm) body['length-norm'] = s.norm;
  if (s.model) body.model = s.model;
  if (s.from && s.from !== 'auto') body.from = s.from;
  if (s.to) body.to = s.to;
  return body;
}
