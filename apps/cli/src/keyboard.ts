// SPDX-License-Identifier: MPL-2.0
import { readFileSync } from 'node:fs';
import type { ReadStream } from 'node:tty';

/** What a terminal would have done by itself with these keys, were it not asked to hand over each of them. */
const SIGNALS: Readonly<Record<string, NodeJS.Signals>> = {
  '\u0003': 'SIGINT',
  '\u001a': 'SIGTSTP',
  '\u001c': 'SIGQUIT',
};

/** Single keys of a terminal, while a command runs that is no dialogue. */
export interface Keyboard {
  /** Leaves the terminal as it was while `question` is on it. */
  during<T>(question: () => Promise<T>): Promise<T>;
  /** Leaves the terminal as it was. Idempotent. */
  close(): void;
}

/**
 * Hands over each key as it is pressed, without showing it, until it is closed.
 *
 * Ctrl-C, Ctrl-Z and Ctrl-\ stay what they are. In the background nothing is read, as the terminal is another's; `fg` brings the keys back.
 * Node gives the terminal back at every end of the process but SIGKILL.
 */
export function openKeyboard(stdin: ReadStream, onKey: (key: string) => void): Keyboard {
  const take = (bytes: Buffer) => {
    for (const key of String(bytes)) {
      const signal = SIGNALS[key];
      if (signal === undefined) onKey(key);
      // To the whole group, as from the terminal.
      else process.kill(0, signal);
    }
  };
  const listen = () => {
    if (!isInForeground()) return;
    stdin.setRawMode(true);
    stdin.on('data', take).resume();
  };
  const leave = () => {
    stdin.off('data', take).pause();
    if (isInForeground()) stdin.setRawMode(false);
  };
  const suspend = () => {
    leave();
    process.kill(process.pid, 'SIGSTOP');
  };
  let open = true;
  process.on('SIGTSTP', suspend).on('SIGCONT', listen);
  listen();
  return {
    async during(question) {
      if (!open) return question();
      leave();
      try {
        return await question();
      } finally {
        if (open) listen();
      }
    },
    close() {
      if (!open) return;
      open = false;
      process.off('SIGTSTP', suspend).off('SIGCONT', listen);
      leave();
    },
  };
}

/** Whether the terminal is ours: who touches it from the background is stopped. Where the system does not say so (/proc), it is not. */
function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // After the name, which may have anything in it: state, parent, group, session, terminal, the terminal's foreground group.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === foreground;
  } catch {
    return false;
  }
}
