// SPDX-License-Identifier: MPL-2.0

// Senders and receivers as separate processes, started when a row needs them, with their events.

const CODE_WORDS = 'guitar-pencil';

/** Any number works, since the runtime directory belongs to the benchmark. */
let lastNameplate = 0;

/** Starts a sender; receivers type its `code`. */
export function startSend(workspace, source, { receivers = 1, args = [], ...options } = {}) {
  const code = `${++lastNameplate}-${CODE_WORDS}`;
  const typed = ['send', source, '--json', '--code', code, '--listen', '127.0.0.1:0', '--receivers', `${receivers}`];
  return { code, ...start(workspace, [...typed, ...args], options) };
}

export function startReceive(workspace, code, out, { args = [], ...options } = {}) {
  return start(workspace, ['receive', code, '--json', '--yes', '--out', out, ...args], options);
}

/**
 * @param options.prefix   a command that runs this one, such as taskset
 * @param options.onEvent  gets each line of --json and the seconds from the command typed to that line
 * @returns                `said(name)`: resolves with the first such event, and its seconds as `at`
 */
function start(workspace, args, { prefix, onEvent = () => {} }) {
  const typed = performance.now();
  const { child, lines, report } = workspace.keibidrop(args, prefix);
  const first = new Map();
  lines.on('line', (line) => {
    const event = JSON.parse(line);
    const at = (performance.now() - typed) / 1000;
    if (!first.has(event.event)) first.set(event.event, { ...event, at });
    onEvent(event, at);
  });
  const said = (name) =>
    new Promise((resolve, reject) => {
      const look = () => first.has(name) && resolve(first.get(name));
      lines.on('line', look).once('close', () => reject(new Error(`${args[0]} ended without "${name}"`)));
      look();
    });
  return { child, report, said };
}

/** Runs one transfer, starting the sender first; resolves with both reports and the receiver's `done`. */
export async function transferOnce(workspace, source, out, { send = {}, receive = {}, watch = () => {} } = {}) {
  const sender = startSend(workspace, source, send);
  await sender.said('waiting');
  const receiver = startReceive(workspace, sender.code, out, receive);
  watch({ sender, receiver });
  const done = await receiver.said('done');
  const [sent, received] = await Promise.all([sender.report(), receiver.report()]);
  return { done, sent, received, cpu: sent.cpu + received.cpu, rss: Math.max(sent.rss, received.rss) };
}
