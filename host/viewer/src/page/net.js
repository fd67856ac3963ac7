// Asks the server, and nobody else.

/** An error that the server explained. */
export class Problem extends Error {
  constructor(status, message, hint) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

async function answer(response) {
  if (response.status === 204) return null;
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(response.status, body.error ?? `the server answered with ${response.status}`, body.hint);
  return body;
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: 'same-origin', cache: 'no-store', redirect: 'error', ...options });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem(0, 'the viewer has ended', 'run `throughline view` again');
  }
  return answer(response);
}

/** Gets JSON. Empty parameters are left out. */
export function get(path, parameters = {}, signal) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== '' && value !== false) query.set(name, value);
  }
  const text = query.toString();
  return ask(`/api/${path}${text ? `?${text}` : ''}`, { signal });
}

/** Posts JSON. */
export function post(path, body) {
  return ask(`/api/${path}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
}

/** Follows the stream of what happens. Returns what ends it. */
export function follow(onMessage, onState, signal) {
  const source = new EventSource('/api/live');
  source.onmessage = (event) => {
    const message = JSON.parse(event.data);
    if (message.type === 'hello') onState(true);
    else onMessage(message);
  };
  source.onerror = () => onState(false);
  signal.addEventListener('abort', () => source.close());
}
