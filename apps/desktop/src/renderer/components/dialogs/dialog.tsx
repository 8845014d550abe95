// SPDX-License-Identifier: MPL-2.0
import * as Modal from '@radix-ui/react-dialog';
import { X } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { useTexts } from '../../texts/texts.ts';
import { Button } from '../controls/button.tsx';
import { Stack } from '../layout/stack.tsx';
import styles from './dialog.module.css';

export interface DialogProps {
  title: string;
  /** Called on Escape, the close button, or a click outside. */
  onClose(): void;
  /** Buttons; the last is the default choice. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A modal dialog. Keeps the focus inside, and returns it to the control that had it before. */
export function Dialog({ title, onClose, actions, children }: DialogProps) {
  const { t } = useTexts();
  const opener = useRef<Element>(null);
  const returnFocus = (event: Event) => {
    event.preventDefault();
    if (opener.current instanceof HTMLElement) opener.current.focus();
  };
  return (
    <Modal.Root open onOpenChange={(open) => !open && onClose()}>
      <Modal.Portal>
        {/* Not Modal.Overlay: its style element is against the content policy of the page. */}
        <div className={styles.scrim}>
          <Modal.Content
            className={styles.dialog}
            aria-modal="true"
            onOpenAutoFocus={() => {
              opener.current = document.activeElement;
            }}
            onCloseAutoFocus={returnFocus}
          >
            <header className={styles.head}>
              <Modal.Title>{title}</Modal.Title>
              <Modal.Close asChild>
                <Button look="quiet" icon={X} iconOnly>
                  {t('frame.close')}
                </Button>
              </Modal.Close>
            </header>
            <Stack gap={4}>{children}</Stack>
            {actions && <footer className={styles.actions}>{actions}</footer>}
          </Modal.Content>
        </div>
      </Modal.Portal>
    </Modal.Root>
  );
}
