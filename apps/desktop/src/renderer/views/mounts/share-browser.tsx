// SPDX-License-Identifier: MPL-2.0
import { ArrowDownToLine, ChevronRight, RotateCw } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { harmless, PeerText } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { Notice } from '../../components/feedback/notice.tsx';
import { ViewHead } from '../../components/layout/view-head.tsx';
import { useDaemon } from '../../store/daemon-store.ts';
import { go, hrefOf } from '../../store/route.ts';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import { EntryList } from './entry-list.tsx';
import styles from './mounts.module.css';
import { inListOrder, partsOf, wayTo } from './share-place.ts';
import { useListing } from './use-listing.ts';

/** Browses a shared folder, and downloads from it. */
export function ShareBrowser({ place }: { place: string }) {
  const { t } = useTexts();
  const { share, names } = partsOf(place);
  const live = useDaemon(({ link }) => link.state !== 'connecting');
  const known = useDaemon((state) => state.shares.some(({ name, kind }) => name === share && kind === 'guest'));
  if (!live) return null;
  return (
    <>
      <Way place={place} />
      {known ? (
        <Inside place={place} name={names[names.length - 1] ?? share} />
      ) : (
        <Notice look="warning">
          <p>{t('mounts.gone')}</p>
        </Notice>
      )}
    </>
  );
}

function Way({ place }: { place: string }) {
  const { t } = useTexts();
  const way = wayTo(place);
  return (
    <nav aria-label={t('mounts.path')}>
      <ol className={styles.way}>
        <li>
          <a href={hrefOf('mounts')}>{t('mounts.back')}</a>
        </li>
        {way.map((step, i) => (
          <li key={step.place}>
            <ChevronRight size={16} aria-hidden="true" />
            {i === way.length - 1 ? (
              <span aria-current="page">
                <PeerText text={step.name} />
              </span>
            ) : (
              <a href={hrefOf('mounts', step.place)}>
                <PeerText text={step.name} />
              </a>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function Inside({ place, name }: { place: string; name: string }) {
  const { t, language } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAction();
  const { entries, leftOut, reading, incomplete, error: lost, again } = useListing(place);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const ordered = useMemo(() => inListOrder(entries, language), [entries, language]);
  const taken = ordered.filter((entry) => chosen.has(entry.name)).map((entry) => `${place}/${entry.name}`);
  const take = () =>
    void act(async (signal) => {
      const { transfer } = await api.call('pull', { paths: taken }, { signal });
      go('transfers', transfer?.id);
    });
  return (
    <>
      <ViewHead title={harmless(name)}>
        <Button icon={RotateCw} busy={reading} onClick={again}>
          {t('mounts.lookAgain')}
        </Button>
        <Button look="primary" icon={ArrowDownToLine} busy={busy} disabled={taken.length === 0} onClick={take}>
          {t('mounts.take', { count: taken.length })}
        </Button>
      </ViewHead>
      <ErrorNotice error={lost ?? error} />
      {incomplete && (
        <Notice look="warning">
          <p>{t('mounts.incomplete')}</p>
        </Notice>
      )}
      {entries.length > 0 && (
        <EntryList
          label={t('mounts.contents', { name })}
          entries={ordered}
          place={place}
          chosen={chosen}
          onChoose={setChosen}
        />
      )}
      {entries.length === 0 && lost === undefined && (
        <p className={styles.quietLine} role="status">
          {t(reading ? 'mounts.reading' : 'mounts.folderEmpty')}
        </p>
      )}
      {leftOut > 0 && <p className={styles.quiet}>{t('mounts.leftOut', { count: leftOut })}</p>}
    </>
  );
}
