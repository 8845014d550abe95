// SPDX-License-Identifier: MPL-2.0
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { Button } from '../../components/controls/button.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { useIdentity } from '../../store/own-identity.ts';
import { useAction } from '../../store/use-action.ts';
import { useStatus } from '../../store/use-status.ts';
import { useTexts } from '../../texts/texts.ts';
import { LinkNotice } from '../link-notice.tsx';
import { Where, Who } from './steps.tsx';
import { Way } from './way.tsx';
import styles from './welcome.module.css';

const STEPS = ['what', 'where', 'who'] as const;
type Step = (typeof STEPS)[number];

/** Answers so far, as typed; undefined: unchanged. */
export interface Answers {
  savePath: string | undefined;
  label: string | undefined;
}

const KEYS = { savePath: 'save_path', label: 'label' } as const;
const ASKED: Readonly<Partial<Record<Step, keyof Answers>>> = { where: 'savePath', who: 'label' };

/** The first page: what this program is, where files go, the user's name and words. Every step can be skipped. */
export function Welcome({ onDone }: { onDone(): void }) {
  const { t } = useTexts();
  const api = useApi();
  // Load the last step's data while the user reads the others.
  useIdentity();
  useStatus();
  const { act, busy, error, forget } = useAction();
  const [at, setAt] = useState(0);
  const [answers, setAnswers] = useState<Answers>({ savePath: undefined, label: undefined });
  const step = STEPS[at] ?? 'what';
  const last = at === STEPS.length - 1;
  const next = async (event: FormEvent) => {
    event.preventDefault();
    const asked = ASKED[step];
    const answer = asked && answers[asked];
    if (asked && answer !== undefined) {
      const values = { [KEYS[asked]]: answer.trim() };
      if (!(await act((signal) => api.call('changeSettings', { values }, { signal })))) return;
    }
    if (last) onDone();
    else setAt(at + 1);
  };
  const back = () => {
    forget();
    setAt(at - 1);
  };
  const answer = (changes: Partial<Answers>) => {
    forget();
    setAnswers({ ...answers, ...changes });
  };
  const wrong =
    error?.code === 'CONFIG_INVALID' && step !== 'what'
      ? t(`settings.${KEYS[ASKED[step] ?? 'label']}.wrong`)
      : undefined;
  const contents: Readonly<Record<Step, ReactNode>> = {
    what: null,
    where: <Where value={answers.savePath} error={wrong} onChange={(savePath) => answer({ savePath })} />,
    who: <Who value={answers.label} error={wrong} onChange={(label) => answer({ label })} />,
  };
  return (
    <main className={styles.page}>
      <header className={styles.top}>
        <p className={styles.name}>{t('frame.name')}</p>
        <Button look="quiet" onClick={onDone}>
          {t('welcome.skip')}
        </Button>
      </header>
      <LinkNotice />
      <form className={styles.step} onSubmit={(event) => void next(event)}>
        {step === 'what' && <Way />}
        <Heading key={step}>{t(`welcome.${step}Title`)}</Heading>
        <p className={styles.text}>{t(`welcome.${step}Text`)}</p>
        {contents[step]}
        {wrong === undefined && <ErrorNotice error={error} />}
        <footer className={styles.actions}>
          <Dots at={at} />
          {at > 0 && <Button onClick={back}>{t('welcome.back')}</Button>}
          <Button look="primary" type="submit" busy={busy}>
            {t(last ? 'welcome.start' : 'welcome.next')}
          </Button>
        </footer>
      </form>
    </main>
  );
}

/** Takes the focus, so that a screen reader announces the new step. */
function Heading({ children }: { children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <h1 ref={heading} tabIndex={-1} className={styles.title}>
      {children}
    </h1>
  );
}

function Dots({ at }: { at: number }) {
  const { t } = useTexts();
  return (
    <p className={styles.dots}>
      <span className="spoken">{t('welcome.step', { step: at + 1, count: STEPS.length })}</span>
      {STEPS.map((step, i) => (
        <span key={step} className={styles.dot} data-current={i === at} />
      ))}
    </p>
  );
}
