// SPDX-License-Identifier: MPL-2.0
import { useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { withoutTilde } from '../../store/home-path.ts';
import { useHome } from '../../store/use-status.ts';
import { FolderDialog } from '../dialogs/folder-dialog.tsx';
import { Button, type ButtonProps } from './button.tsx';

export interface ChooseFolderProps extends Omit<ButtonProps, 'onClick'> {
  /** Folder to start in; undefined: the default folder. */
  start: string | undefined;
  onChoose(path: string): void;
}

/** A button that asks for a folder of this computer: in the system's dialog, or in ours in a browser. */
export function ChooseFolder({ start, onChoose, ...button }: ChooseFolderProps) {
  const { shell } = useApi();
  const home = useHome();
  const [choosing, setChoosing] = useState(false);
  const choose = async () => {
    if (shell === undefined) return setChoosing(true);
    const chosen = await shell.pickFolder(start && withoutTilde(start, home));
    if (chosen !== undefined) onChoose(chosen);
  };
  return (
    <>
      <Button {...button} onClick={choose} />
      {choosing && (
        <FolderDialog
          start={start}
          onClose={() => setChoosing(false)}
          onChoose={(path) => {
            setChoosing(false);
            onChoose(path);
          }}
        />
      )}
    </>
  );
}
