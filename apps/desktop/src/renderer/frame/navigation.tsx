// SPDX-License-Identifier: MPL-2.0
import {
  ArrowDownToLine,
  ArrowUpFromLine,
  Ellipsis,
  FolderOpen,
  History,
  type LucideIcon,
  RefreshCw,
  Settings,
  Users,
} from 'lucide-react';
import { useState } from 'react';
import icon from '../../../images/icon.svg';
import { VIEWS, type View } from '../../shared/api.ts';
import { attentionAt, wasStopped } from '../../shared/daemon-state.ts';
import { PeerText } from '../components/content/peer-text.tsx';
import { useDaemon } from '../store/daemon-store.ts';
import { hrefOf, useRoute } from '../store/route.ts';
import { useStatus } from '../store/use-status.ts';
import { type TextKey, useTexts } from '../texts/texts.ts';
import styles from './navigation.module.css';

const ICONS: Readonly<Record<View, LucideIcon>> = {
  send: ArrowUpFromLine,
  receive: ArrowDownToLine,
  transfers: RefreshCw,
  people: Users,
  mounts: FolderOpen,
  history: History,
  settings: Settings,
};
/** Short labels for the bottom bar. */
const SHORT: Partial<Record<View, TextKey>> = { receive: 'frame.shortReceive', transfers: 'frame.shortTransfers' };
/** Views behind "More" where space is short. */
const SELDOM: readonly View[] = ['mounts', 'history', 'settings'];

/** Links to the views: a rail beside the page, or a bar below it on narrow screens. */
export function Navigation() {
  const { t } = useTexts();
  const { view } = useRoute();
  const [more, setMore] = useState(false);
  return (
    <nav className={styles.rail} aria-label={t('frame.navigation')}>
      <p className={styles.name}>
        <img src={icon} alt="" width={30} height={30} />
        {t('frame.name')}
      </p>
      <ul className={styles.views} data-more={more}>
        {VIEWS.map((each) => (
          <li key={each} className={SELDOM.includes(each) ? styles.seldom : undefined}>
            <NavigationLink view={each} current={view === each} onGo={() => setMore(false)} />
          </li>
        ))}
        <li className={styles.more}>
          <button
            type="button"
            className={styles.link}
            aria-expanded={more}
            data-current={SELDOM.includes(view)}
            onClick={() => setMore(!more)}
          >
            <Ellipsis size={20} aria-hidden="true" />
            <span>{t('frame.more')}</span>
            {!more && <Badge views={SELDOM} />}
          </button>
        </li>
      </ul>
      <Self />
    </nav>
  );
}

function NavigationLink({ view, current, onGo }: { view: View; current: boolean; onGo(): void }) {
  const { t } = useTexts();
  const Icon = ICONS[view];
  const short = SHORT[view];
  return (
    <a
      className={styles.link}
      href={hrefOf(view)}
      aria-current={current ? 'page' : undefined}
      data-current={current}
      onClick={onGo}
    >
      <Icon size={20} aria-hidden="true" />
      <span className={short && styles.long}>{t(`${view}.title`)}</span>
      {short && <span className={styles.short}>{t(short)}</span>}
      <Badge views={[view]} />
    </a>
  );
}

function Badge({ views }: { views: readonly View[] }) {
  const count = useDaemon((state) => views.reduce((sum, view) => sum + attentionAt(view, state), 0));
  return count === 0 ? null : <span className={styles.badge}>{count}</span>;
}

/** This computer's name as others see it, and the state of its service. */
function Self() {
  const { t } = useTexts();
  const label = useStatus()?.label;
  const link = useDaemon((state) => state.link);
  const { state } = link;
  const lost = wasStopped(link) ? 'frame.stopped' : 'frame.lost';
  return (
    <div className={styles.self} data-link={state}>
      <span className={styles.dot} aria-hidden="true" />
      <div>
        {label !== undefined && (
          <p className={styles.label}>
            <PeerText text={label} />
          </p>
        )}
        <p>{t(state === 'live' ? 'frame.ready' : state === 'lost' ? lost : 'frame.connecting')}</p>
      </div>
    </div>
  );
}
