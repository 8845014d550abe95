// SPDX-License-Identifier: MPL-2.0
import { Hash } from 'lucide-react';
import { useMemo } from 'react';
import { Avatar } from '../../components/content/avatar.tsx';
import { PeerText } from '../../components/content/peer-text.tsx';
import { useDaemon } from '../../store/daemon-store.ts';
import { draftRecipients, useDraft } from '../../store/draft.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './send.module.css';

/** Chooses the recipients: anyone with the code, or contacts. Each contact is also a drop target. */
export function People() {
  const { t } = useTexts();
  const contacts = useDaemon((state) => state.contacts);
  const to = useDraft((draft) => draft.to);
  const people = useMemo(
    () =>
      contacts
        .filter(({ blocked }) => !blocked)
        .sort((a, b) => Number(b.online) - Number(a.online) || a.name.localeCompare(b.name)),
    [contacts],
  );
  if (people.length === 0) return null;
  const toggle = (name: string) =>
    draftRecipients(to.includes(name) ? to.filter((each) => each !== name) : [...to, name]);
  return (
    <fieldset className={styles.people}>
      <legend className={styles.legend}>{t('send.to')}</legend>
      <div className={styles.chips}>
        <label className={[styles.chip, to.length === 0 && styles.chosen].filter(Boolean).join(' ')}>
          <input type="checkbox" checked={to.length === 0} onChange={() => draftRecipients([])} />
          <span className={styles.codeMark}>
            <Hash size={18} aria-hidden="true" />
          </span>
          {t('send.toCode')}
        </label>
        {people.map(({ name, online }) => (
          <label
            key={name}
            className={[styles.chip, to.includes(name) && styles.chosen].filter(Boolean).join(' ')}
            data-drop-to={name}
          >
            <input type="checkbox" checked={to.includes(name)} onChange={() => toggle(name)} />
            <Avatar name={name} online={online} />
            <PeerText text={name} />
            <span className={online ? 'spoken' : styles.away}>{t(online ? 'frame.online' : 'frame.offline')}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
