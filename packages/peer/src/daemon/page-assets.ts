// SPDX-License-Identifier: MPL-2.0

interface Asset {
  type: string;
  text: string;
}

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>KeibiDrop</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
</head>
<body>
<main>
<h1>KeibiDrop</h1>
<p id="status" role="status">Connecting to the daemon…</p>
<table hidden><thead><tr><th>#</th><th></th><th>what</th><th>with</th><th>state</th></tr></thead><tbody></tbody></table>
<h2>Events</h2>
<ol id="events"></ol>
</main>
</body>
</html>
`;

const CSS = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: start; padding: 0.25rem 0.75rem 0.25rem 0; }
ol { font: 0.8rem/1.6 ui-monospace, monospace; overflow-wrap: anywhere; padding-inline-start: 3rem; }
`;

const SCRIPT = `const shown = 200;
const status = document.querySelector('#status');
const rows = new Map();
// The token leaves the address at once, so that no copy of the address holds it.
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? sessionStorage.getItem('token') ?? '';
sessionStorage.setItem('token', token);
history.replaceState(null, '', location.pathname);

const call = (name, request = {}) =>
  fetch('/api/' + name, {
    method: 'POST',
    headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });

async function asked(name, request) {
  const response = await call(name, request);
  const reply = await response.json();
  if (!response.ok) throw new Error(reply.error.message);
  return reply;
}

async function* lines(response) {
  let text = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (text + value).split('\\n');
    text = parts.pop();
    yield* parts.map((part) => JSON.parse(part));
  }
}

function show(transfer, event) {
  if (event.event === 'removed') {
    rows.get(transfer)?.remove();
    rows.delete(transfer);
  }
  if (event.event !== 'transfer') return;
  const row = rows.get(transfer) ?? document.querySelector('tbody').insertRow();
  rows.set(transfer, row);
  document.querySelector('table').hidden = false;
  row.replaceChildren();
  for (const text of [transfer, event.kind, event.what, event.contact ?? event.peer ?? '', event.state]) {
    row.insertCell().textContent = text;
  }
}

function list(json) {
  const events = document.querySelector('#events');
  const item = document.createElement('li');
  item.textContent = json;
  events.append(item);
  while (events.children.length > shown) events.firstChild.remove();
}

try {
  const { label, version, pid } = await asked('Status');
  status.textContent = label + ', version ' + version + ', process ' + pid;
  for await (const { transfer, json, error } of lines(await call('Watch'))) {
    if (error) throw new Error(error.message);
    show(transfer, JSON.parse(json));
    list(json);
  }
  status.textContent = 'The daemon has ended. Run keibidrop ui to open this page again.';
} catch (error) {
  status.textContent = error.message;
}
`;

/** The page of the HTTP door, by its paths: what there is and what happens. */
export const assets: Readonly<Record<string, Asset>> = {
  '/': { type: 'text/html', text: HTML },
  '/page.css': { type: 'text/css', text: CSS },
  '/page.js': { type: 'text/javascript', text: SCRIPT },
};
