// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef, useState } from 'react';
import { bytesText } from '../../../shared/number-text.ts';
import { useApi } from '../../api/api-context.ts';
import { Button } from '../../components/controls/button.tsx';
import { Field } from '../../components/controls/field.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { ProgressBar } from '../../components/feedback/progress-bar.tsx';
import { Card } from '../../components/layout/card.tsx';
import { Disclosure } from '../../components/layout/disclosure.tsx';
import { clearDraft, draftText, sendDraft, stopTaking, useDraft } from '../../store/draft.ts';
import { limitOf, type SendOptions, USUAL_SEND } from '../../store/send-options.ts';
import { useTexts } from '../../texts/texts.ts';
import { GatheredItems } from './gathered-items.tsx';
import { People } from './people.tsx';
import styles from './send.module.css';
import { SendOptionFields } from './send-option-fields.tsx';

/** The draft: items, recipients and options. */
export function Compose() {
  const { t } = useTexts();
  const api = useApi();
  const { items, text, to, looking, taking, error } = useDraft();
  const [options, setOptions] = useState<SendOptions>(USUAL_SEND);
  const empty = text === undefined ? items.length === 0 : text === '';
  const send = () => void sendDraft(api, options);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Card className={styles.compose} aria-label={t('send.choose')}>
        {text === undefined ? <GatheredItems /> : <TextField text={text} onSend={send} />}
        <People />
        <Disclosure title={t('send.options')}>
          <SendOptionFields options={options} several={to.length === 0} onChange={setOptions} />
        </Disclosure>
        <ErrorNotice error={error} />
        {taking !== undefined && taking.total > 0 && <Taking taken={taking.taken} total={taking.total} />}
        <div className={styles.go}>
          <Button look="quiet" onClick={clearDraft}>
            {t('send.discard')}
          </Button>
          <Button
            type="submit"
            look="primary"
            className={styles.send}
            busy={taking !== undefined || looking}
            disabled={empty || Number.isNaN(limitOf(options.limit))}
          >
            {to.length === 0 ? t('send.makeCode') : t('send.sendTo', { count: to.length, name: to[0] ?? '' })}
          </Button>
        </div>
      </Card>
    </form>
  );
}

function TextField({ text, onSend }: { text: string; onSend(): void }) {
  const { t } = useTexts();
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.focus(), []);
  return (
    <Field label={t('send.textLabel')} hint={t('send.textHint')}>
      {({ className, ...control }) => (
        <textarea
          ref={area}
          {...control}
          className={[className, styles.textarea].join(' ')}
          value={text}
          dir="auto"
          rows={6}
          onChange={(event) => draftText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && text !== '') onSend();
          }}
        />
      )}
    </Field>
  );
}

/** Progress of a browser's upload to the daemon. */
function Taking({ taken, total }: { taken: number; total: number }) {
  const { t, language } = useTexts();
  return (
    <div className={styles.taking}>
      <p role="status">{t('send.taking')}</p>
      <ProgressBar label={t('send.taking')} share={taken / total} />
      <Button look="quiet" onClick={stopTaking}>
        {t('frame.cancel')}
      </Button>
      <p>{t('transfers.ofSize', { done: bytesText(taken, language), total: bytesText(total, language) })}</p>
    </div>
  );
}
