// SPDX-License-Identifier: MPL-2.0
import { Clipboard } from 'lucide-react';
import { useEffect, useId, useRef } from 'react';
import { useApi } from '../../api/api-context.ts';
import { PlaceText } from '../../components/content/place-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { ChooseFolder } from '../../components/controls/choose-folder.tsx';
import { CodeField } from '../../components/controls/code-field.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { ErrorText } from '../../components/feedback/error-text.tsx';
import { Card } from '../../components/layout/card.tsx';
import { Disclosure } from '../../components/layout/disclosure.tsx';
import { codeIn, spelled } from '../../store/code-text.ts';
import { setReceiveCode, type Trial, useReceiveCode, useTrial } from '../../store/receive-code.ts';
import { receiveRequestOf, useReceiveOptions } from '../../store/receive-options.ts';
import { limitOf } from '../../store/send-options.ts';
import { useAction } from '../../store/use-action.ts';
import { useStatus } from '../../store/use-status.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './receive.module.css';
import { ReceiveOptionFields } from './receive-option-fields.tsx';

/** Form for the code and the options of a receive. */
export function ReceiveForm() {
  const { t } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAction();
  const options = useReceiveOptions();
  const savePath = useStatus()?.savePath;
  const errorId = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const { code, near } = useReceiveCode();
  const whole = codeIn(code);
  const trial = useTrial(whole);
  const failure = trial.state === 'failed' ? trial.transfer.error : undefined;
  useEffect(() => {
    if (failure !== undefined) input.current?.focus();
  }, [failure]);
  const receive = (from: string) =>
    act(async (signal) => {
      const request = { ...receiveRequestOf(from, options), ...(near !== undefined && { near }) };
      const { transfer } = await api.call('receive', request, { signal });
      if (transfer !== undefined) useReceiveCode.setState({ tried: { code: from, transfer: transfer.id } });
    });
  const paste = async () => {
    const text = await navigator.clipboard.readText().catch(() => '');
    if (text !== '') setReceiveCode(codeIn(text) ?? spelled(text.trim()));
    input.current?.focus();
  };
  const place = options.out || savePath;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (whole !== undefined && mayTry(trial)) void receive(whole);
      }}
    >
      <Card className={styles.form}>
        <div className={styles.line}>
          <CodeField
            label={t('receive.code')}
            value={code}
            errorId={failure && errorId}
            onChange={setReceiveCode}
            inputRef={input}
          />
          <Button
            type="submit"
            look="primary"
            className={styles.go}
            busy={busy || trial.state === 'trying'}
            disabled={whole === undefined || !mayTry(trial) || Number.isNaN(limitOf(options.limit))}
          >
            {t('receive.go')}
          </Button>
        </div>
        {failure && (
          <p id={errorId} className={styles.wrong} role="alert">
            <ErrorText error={failure} />
          </p>
        )}
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

/** Whether the code may be tried again. A wrong code may not: further tries would use up the offer. */
function mayTry(trial: Trial): boolean {
  return trial.state === 'none' || (trial.state === 'failed' && trial.transfer.retriable);
}
