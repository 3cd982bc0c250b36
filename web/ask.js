// ask.js -- what the page asks of the server that it came from; nothing is asked of any other.

let key = sessionStorage.getItem('heed-key') || '';

export const keyGiven = () => key;

export function giveKey(text) {
  key = text.trim();
  sessionStorage.setItem('heed-key', key);
}

async function send(path, body, signal) {
  const headers = key ? { Authorization: 'Bearer ' + key } : {};
  const request = body === undefined
    ? { headers, signal }
    : { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal };
  let answer;
  try {
    answer = await fetch(path, request);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Error('The server does not answer; is heed serve still running?');
  }
  if (answer.ok) return answer;
  let said = {};
  try {
    said = await answer.json();
  } catch { /* it said nothing that can be read */ }
  throw new Error(said.error || said.message || answer.status + ' ' + answer.statusText);
}

// ask('heed/model') gets, ask('heed/translate', {q: …}) posts; JSON comes back.
export const ask = async (path, body, signal) => (await send(path, body, signal)).json();
export const askText = async (path, body) => (await send(path, body)).text();
export const askBlob = async (path, body) => (await send(path, body)).blob();

// An answer that is sent while it is made: on(event, data) for each of its events, until it ends.
export async function follow(path, body, signal, on) {
  const reader = (await send(path, { ...body, stream: true }, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = '', got; !(got = await reader.read()).done;) {
    const events = (rest + got.value).split('\n\n');
    rest = events.pop();
    for (const event of events) {
      const [head, data] = event.split('\ndata: ').map((s) => s.replace('event: ', ''));
      if (head === 'error') throw new Error(JSON.parse(data).error);
      on(head, JSON.parse(data));
    }
  }
}

// The newest of several requests wins: those before it are given up.
export function newest() {
  let under = null;
  return {
    begin() {
      if (under) under.abort();
      under = new AbortController();
      return under.signal;
    },
    stop() {
      if (under) under.abort();
      under = null;
    },
  };
}

export const isAbort = (error) => error.name === 'AbortError';

// Remove something: DELETE has its arguments in the address.
export async function remove(path) {
  const answer = await fetch(path, { method: 'DELETE', headers: key ? { Authorization: 'Bearer ' + key } : {} });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error || answer.statusText);
  return said;
}
