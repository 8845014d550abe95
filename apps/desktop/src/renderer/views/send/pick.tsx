// SPDX-License-Identifier: MPL-2.0
import { useRef } from 'react';
import { useApi } from '../../api/api-context.ts';
import { Button, type ButtonProps } from '../../components/controls/button.tsx';
import { gather, itemOfPath } from '../../store/draft.ts';
import styles from './send.module.css';

export interface PickProps extends Pick<ButtonProps, 'look' | 'icon' | 'children'> {
  what: 'files' | 'folders';
}

/** A button that asks for files or a folder, in the system's dialog or the browser's. */
export function Pick({ what, ...button }: PickProps) {
  const api = useApi();
  const input = useRef<HTMLInputElement>(null);
  const pick = async () => {
    const { shell } = api;
    if (shell === undefined) return input.current?.click();
    const kind = what === 'files' ? 'file' : 'folder';
    await gather(shell.pick(what).then((paths) => paths.map((path) => itemOfPath(path, kind))));
  };
  return (
    <>
      <Button {...button} onClick={pick} />
      {api.shell === undefined && (
        <input
          ref={input}
          type="file"
          className={styles.hidden}
          data-testid={`pick-${what}`}
          aria-hidden="true"
          tabIndex={-1}
          multiple={what === 'files'}
          {...(what === 'folders' && { webkitdirectory: '' })}
          onChange={({ target }) => {
            const files = Array.from(target.files ?? []);
            // Allow the same choice again.
            target.value = '';
            void gather(api.gatherFiles(files));
          }}
        />
      )}
    </>
  );
}

declare module 'react' {
  interface InputHTMLAttributes<T> {
    /** Picks a folder instead of files. */
    webkitdirectory?: '' | undefined;
  }
}
