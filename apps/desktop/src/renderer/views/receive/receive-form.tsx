// SPDX-License-Identifier: MPL-2.0
import { Clipboard } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useApi } from '../../api/api-context.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ChooseFolder } from '../../components/choose-folder.tsx';
import { CodeField } from '../../components/code-field.tsx';
import { Disclosure } from '../../components/disclosure.tsx';
import { ErrorNotice } from '../../components/error-notice.tsx';
import { PlaceText } from '../../components/place-text.tsx';
import { useAct } from '../../store/act.ts';
import { codeIn, spelled } from '../../store/code-text.ts';
import { receiveRequestOf, useReceiveOptions } from '../../store/receive-options.ts';
import { limitOf } from '../../store/send-options.ts';
import { useStatus } from '../../store/use-status.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './receive.module.css';
import { ReceiveOptionFields } from './receive-option-fields.tsx';

/** The code, and where what it leads to goes. */
export function ReceiveForm({ code, onCode }: { code: string; onCode(code: string): void }) {
  const { t } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAct();
  const options = useReceiveOptions();
  const savePath = useStatus()?.savePath;
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const whole = codeIn(code);
  const receive = async (from: string) => {
    const begun = await act((signal) => api.call('receive', receiveRequestOf(from, options), { signal }));
    if (!begun) return;
    onCode('');
    useReceiveOptions.setState({ save: '' });
  };
  const paste = async () => {
    const text = await navigator.clipboard.readText().catch(() => '');
    if (text !== '') onCode(codeIn(text) ?? spelled(text.trim()));
    input.current?.focus();
  };
  const place = options.out || savePath;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (whole !== undefined) void receive(whole);
      }}
    >
      <Card className={styles.form}>
        <div className={styles.line}>
          <CodeField label={t('receive.code')} value={code} onChange={onCode} inputRef={input} />
          <Button
            type="submit"
            look="primary"
            className={styles.go}
            busy={busy}
            disabled={whole === undefined || Number.isNaN(limitOf(options.limit))}
          >
            {t('receive.go')}
          </Button>
        </div>
        <div className={styles.where}>
          <Button look="quiet" icon={Clipboard} onClick={paste}>
            {t('receive.paste')}
          </Button>
          {place !== undefined && (
            <span className={styles.place}>
              {t('receive.goesTo')} <PlaceText path={place} />
              <ChooseFolder look="quiet" start={place} onChoose={(out) => useReceiveOptions.setState({ out })}>
                {t('receive.change')}
              </ChooseFolder>
            </span>
          )}
        </div>
        <ErrorNotice error={error} />
        <Disclosure title={t('receive.options')}>
          <ReceiveOptionFields savePath={savePath} />
        </Disclosure>
      </Card>
    </form>
  );
}
