// SPDX-License-Identifier: MPL-2.0
import { RotateCw } from 'lucide-react';
import { Component, type ReactNode } from 'react';
import { useTexts } from '../../texts/texts.ts';
import { Button } from '../controls/button.tsx';
import { Disclosure } from '../layout/disclosure.tsx';
import { Stack } from '../layout/stack.tsx';
import styles from './error-boundary.module.css';

interface State {
  error: unknown;
  failed: boolean;
}

/** Replaces a view that failed to render. Pass the view as `key`, so that another view gets a fresh attempt. */
export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: undefined, failed: false };

  static getDerivedStateFromError(error: unknown): State {
    return { error, failed: true };
  }

  override render(): ReactNode {
    const { error, failed } = this.state;
    if (!failed) return this.props.children;
    return <Broken error={error} onAgain={() => this.setState({ error: undefined, failed: false })} />;
  }
}

function Broken({ error, onAgain }: { error: unknown; onAgain(): void }) {
  const { t } = useTexts();
  return (
    <Stack gap={4} className={styles.broken} role="alert">
      <h1>{t('frame.brokenTitle')}</h1>
      <p>{t('frame.brokenText')}</p>
      <div className={styles.ways}>
        <Button look="primary" icon={RotateCw} onClick={onAgain}>
          {t('frame.brokenAgain')}
        </Button>
        <Button onClick={() => location.reload()}>{t('frame.brokenReload')}</Button>
      </div>
      <Disclosure title={t('frame.brokenWhat')}>
        <pre className={styles.what}>{error instanceof Error ? (error.stack ?? error.message) : String(error)}</pre>
      </Disclosure>
    </Stack>
  );
}
