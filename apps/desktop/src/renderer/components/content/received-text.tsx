// SPDX-License-Identifier: MPL-2.0
import { useTexts } from '../../texts/texts.ts';
import { CopyButton } from '../controls/copy-button.tsx';
import { Card } from '../layout/card.tsx';
import styles from './received-text.module.css';

/** A received text. Copying gives the exact text; the display isolates it, so that it cannot deceive. */
export function ReceivedText({ text }: { text: string }) {
  const { t } = useTexts();
  return (
    <Card className={styles.card} aria-label={t('receive.text')}>
      <div className={styles.head}>
        <h2>{t('receive.text')}</h2>
        <CopyButton look="primary" text={text} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
      <pre className={styles.text} dir="auto" tabIndex={0}>
        {text}
      </pre>
    </Card>
  );
}
