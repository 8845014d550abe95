// SPDX-License-Identifier: MPL-2.0
import { type ComponentType, useEffect, useRef } from 'react';
import type { Api, View } from '../shared/api.ts';
import { ApiContext } from './api/api-context.ts';
import styles from './app.module.css';
import { ErrorBoundary } from './components/feedback/error-boundary.tsx';
import { Navigation } from './frame/navigation.tsx';
import { WindowDrop } from './frame/window-drop.tsx';
import { useRoute } from './store/route.ts';
import { useTexts } from './texts/texts.ts';
import { HistoryView } from './views/history/history-view.tsx';
import { LinkNotice } from './views/link-notice.tsx';
import { LockedNotice } from './views/locked-notice.tsx';
import { MountsView } from './views/mounts/mounts-view.tsx';
import { PeopleView } from './views/people/people-view.tsx';
import { ReceiveView } from './views/receive/receive-view.tsx';
import { SendView } from './views/send/send-view.tsx';
import { SettingsView } from './views/settings/settings-view.tsx';
import { TransfersView } from './views/transfers/transfers-view.tsx';
import { useFirstRun } from './views/welcome/use-first-run.ts';
import { Welcome } from './views/welcome/welcome.tsx';

const PAGES: Readonly<Record<View, ComponentType>> = {
  send: SendView,
  receive: ReceiveView,
  transfers: TransfersView,
  people: PeopleView,
  mounts: MountsView,
  history: HistoryView,
  settings: SettingsView,
};

/** The whole page: the navigation and the current view. */
export function App({ api }: { api: Api }) {
  const { t, language } = useTexts();
  const { view } = useRoute();
  const main = useRef<HTMLElement>(null);
  const Page = PAGES[view];
  const { first, unknown, welcomed } = useFirstRun(api);
  useEffect(() => {
    document.documentElement.lang = language;
    document.title = `${t(`${view}.title`)} – ${t('frame.name')}`;
  }, [language, t, view]);
  if (unknown) return null;
  if (first) {
    return (
      <ApiContext value={api}>
        <Welcome onDone={welcomed} />
      </ApiContext>
    );
  }
  return (
    <ApiContext value={api}>
      <button type="button" className={styles.skip} onClick={() => main.current?.focus()}>
        {t('frame.skip')}
      </button>
      <div className={styles.app}>
        <Navigation />
        <main ref={main} id="content" tabIndex={-1} className={styles.main}>
          <LinkNotice />
          <LockedNotice />
          <ErrorBoundary key={view}>
            <Page />
          </ErrorBoundary>
        </main>
      </div>
      <WindowDrop />
    </ApiContext>
  );
}
