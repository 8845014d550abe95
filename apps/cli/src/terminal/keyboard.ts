// SPDX-License-Identifier: MPL-2.0
import { readFileSync } from 'node:fs';
import type { ReadStream } from 'node:tty';

/** Signals that the terminal sends for these keys itself when it is not in raw mode. */
const SIGNALS: Readonly<Record<string, NodeJS.Signals>> = {
  '\u0003': 'SIGINT',
  '\u001a': 'SIGTSTP',
  '\u001c': 'SIGQUIT',
};

/** Single keys of a terminal while a command runs. */
export interface Keyboard {
  /** Restores the terminal's mode while `question` is asked. */
  during<T>(question: () => Promise<T>): Promise<T>;
  /** Restores the terminal's mode. Idempotent. */
  close(): void;
}

/**
 * Reports each key when it is pressed, without echo, until closed. Ctrl-C, Ctrl-Z and Ctrl-\ keep their meaning.
 *
 * Reads nothing in the background, where the terminal belongs to another process; `fg` brings the keys back.
 * Node restores the terminal at every exit except SIGKILL.
 */
export function openKeyboard(stdin: ReadStream, onKey: (key: string) => void): Keyboard {
  const take = (bytes: Buffer) => {
    for (const key of String(bytes)) {
      const signal = SIGNALS[key];
      if (signal === undefined) onKey(key);
      // To the whole process group, as the terminal does.
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

/** Whether this process is in the foreground; the terminal stops others that use it. False without /proc. */
function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // Fields after the name, which may contain anything: state, parent, group, session, terminal, foreground group.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === foreground;
  } catch {
    return false;
  }
}
