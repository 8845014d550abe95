// SPDX-License-Identifier: MPL-2.0
import { useState } from 'react';
import type { Asked } from '../../../shared/daemon-state.ts';
import { useTexts } from '../../texts/texts.ts';
import { PeerText } from '../content/peer-text.tsx';
import { PlaceText } from '../content/place-text.tsx';
import { Button } from '../controls/button.tsx';
import { ErrorNotice } from '../feedback/error-notice.tsx';
import { Card } from '../layout/card.tsx';
import styles from './prompts.module.css';
import { useAnswer } from './use-answer.ts';

/** Asks what to do when a file of the same name exists. */
export function CollisionPrompt({ asked }: { asked: Asked }) {
  const { t } = useTexts();
  const { answer, busy, error } = useAnswer(asked.question);
  const [always, setAlways] = useState(false);
  const { file, place } = asked.about as { file: string; place: string };
  return (
    <Card className={styles.card} aria-label={t('receive.collision')}>
      <div>
        <h2>{t('receive.collision')}</h2>
        <p>
          <PeerText text={file} /> · <PlaceText path={place} />
        </p>
      </div>
      <ErrorNotice error={error} />
      <div className={styles.actions}>
        <Button look="primary" busy={busy} onClick={() => answer('rename', { always })}>
          {t('receive.keepBoth')}
        </Button>
        <Button busy={busy} onClick={() => answer('skip', { always })}>
          {t('receive.skip')}
        </Button>
        <Button look="danger" busy={busy} onClick={() => answer('overwrite', { always })}>
          {t('receive.overwrite')}
        </Button>
        <label className={styles.always}>
          <input type="checkbox" checked={always} onChange={(event) => setAlways(event.target.checked)} />
          {t('receive.forAll')}
        </label>
      </div>
    </Card>
  );
}
