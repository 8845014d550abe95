// SPDX-License-Identifier: MPL-2.0
import { X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useTexts } from '../../texts/texts.ts';
import { Button } from '../controls/button.tsx';
import styles from './dialog.module.css';

export interface DialogProps {
  title: string;
  /** Called on Escape, the close button, or a click outside. */
  onClose(): void;
  /** Buttons; the last is the default choice. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A modal dialog. The browser keeps the focus in it, and returns it afterwards. */
export function Dialog({ title, onClose, actions, children }: DialogProps) {
  const { t } = useTexts();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    if (shown !== null && !shown.open) shown.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-labelledby={id}
      onKeyDown={(event) => {
        // One key press closes one dialog; a field inside may have used the key already.
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        const taken = event.defaultPrevented;
        event.preventDefault();
        if (!taken) onClose();
      }}
      onCancel={(event) => {
        // React bubbles the event of a nested dialog up to this one.
        event.stopPropagation();
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className={styles.inside}>
        <header className={styles.head}>
          <h2 id={id}>{title}</h2>
          <Button look="quiet" icon={X} iconOnly onClick={onClose}>
            {t('frame.close')}
          </Button>
        </header>
        <div className={styles.body}>{children}</div>
        {actions && <footer className={styles.actions}>{actions}</footer>}
      </div>
    </dialog>
  );
}
