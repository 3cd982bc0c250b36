// formulas.js -- the formulas of a model's decoder, term by term, as docs/models.md has them.

const STATE = { before: 's_{t-1}', after: 's_t', inside: "s'_t" };

const CELL = {
  before: (c) => `s_t = ${c}([y_{t-1}; c_t], s_{t-1})`,
  after: (c) => `s_t = ${c}(y_{t-1}, s_{t-1})`,
  inside: (c) => `s'_t = ${c}(y_{t-1}, s_{t-1}), s_t = ${c}(c_t, s'_t)`,
};

const READOUT = {
  linear: 'W_o s_t',
  tanh: 'W_o tanh(W_s s_t + W_y y_{t-1} + W_c c_t)',
  attended: 'W_o h̃_t, h̃_t = tanh(W_c [c_t; s_t])',
  maxout: 'W_o maxout(U s_{t-1} + V y_{t-1} + C c_t)',
};

const words = (readout) => `p(y_t) = softmax(${readout})`;

function transformer(c) {
  return [
    ['query', 'q_t = W_q x_t', 'What the decoder has made of the words written so far asks a question.'],
    ['scores', `e_tj = q_t · k_j / √${c.dim / c.heads}`, 'Each source position answers with a score: how well its key fits.'],
    ['weights', 'α_tj = exp(e_tj) / Σ_k exp(e_tk)', 'The softmax makes weights of the scores: positive, and 1 in all.'],
    ['context', `c_t = Σ_j α_tj v_j`, `The values are mixed by these weights, in each of ${c.heads} heads.`],
    ['words', 'p(y_t) = softmax(W_o z_t)', 'What comes out of the last layer gives every word a probability.'],
  ];
}

function fixedVector(c) {
  const cell = c.cell.toUpperCase();
  return [
    ['query', 's_{t-1}', 'The decoder remembers what it has written.'],
    ['context', c.context === 'every' ? 'c = h_S' : 's_0 = h_S', c.context === 'every'
      ? 'It is given one vector, the encoder’s last state: the same at every step, however long the sentence is.'
      : 'All it knows of the source is one vector, the encoder’s last state, with which it began.'],
    ['words', `s_t = ${cell}(${c.context === 'every' ? '[y_{t-1}; c]' : 'y_{t-1}'}, s_{t-1}), p(y_t) = softmax(W_o s_t)`, 'Every word has to come out of that bottleneck.'],
  ];
}

// [[term, formula, sentence]] in the order in which they are computed.
export function termsOf(model) {
  const c = model.info.config;
  if (c.arch === 'transformer') return transformer(c);
  if (!model.cross_layers || c.context !== 'attention') return fixedVector(c);
  const cell = (c.cell || 'gru').toUpperCase(), attend = c.attend || 'before';
  const [score, ...local] = model.info.attention.split(/, (?=\|j|p_t|α)/);
  const value = model.info.attention.includes('v_j =') ? 'v_j' : 'h_j';
  return [
    ['query', attend === 'before' ? STATE.before : CELL[attend](cell).split(', s_t')[0], 'The decoder’s state asks: what do I need now?'],
    ['scores', score, 'Each source position j gets a score.'],
    ['weights', 'α_tj = exp(e_tj) / Σ_k exp(e_tk)' + (local.length > 0 ? ' within ' + local.join(', ') : ''),
      'The softmax makes weights of the scores: positive, and 1 in all.'],
    ['context', `c_t = Σ_j α_tj ${value}`, 'The source’s states are mixed by these weights.'],
    ['words', (attend === 'before' ? CELL.before(cell) + ', ' : '') + words(READOUT[c.readout] || READOUT.linear),
      'Context and state give every word a probability.' + (c.input_feeding ? ' The next step is fed what came out of this one.' : '')],
  ];
}
