// SPDX-License-Identifier: MPL-2.0
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../components/controls/button.tsx';
import { Notice } from '../../components/feedback/notice.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { ViewHead } from '../../components/layout/view-head.tsx';
import { useIntent } from '../../store/intents.ts';
import { useIdentity } from '../../store/own-identity.ts';
import { useTexts } from '../../texts/texts.ts';
import { AddDialog } from './add-dialog.tsx';
import { Contacts } from './contacts.tsx';
import { NearbySenders } from './nearby.tsx';
import { OwnIdentityCard } from './own-identity.tsx';
import styles from './people.module.css';

/** A contact about to be added. */
interface Adding {
  name: string;
  link: string;
}

export function PeopleView() {
  const { t } = useTexts();
  const own = useIdentity();
  const [adding, setAdding] = useState<Adding>();
  const [added, setAdded] = useState<string>();
  const add = (who: Adding) => {
    setAdded(undefined);
    setAdding(who);
  };
  useIntent('contact', ({ fingerprint, name = '' }) => add({ name, link: fingerprint }));
  const nobody = { name: '', link: '' };
  return (
    <>
      <ViewHead title={t('people.title')}>
        <Button look="primary" icon={UserPlus} onClick={() => add(nobody)}>
          {t('people.add')}
        </Button>
      </ViewHead>
      {added !== undefined && (
        <Notice look="good" title={t('people.added', { name: added })}>
          <p>{t('people.addedText', { name: added })}</p>
        </Notice>
      )}
      <div className={styles.columns}>
        <Stack gap={6}>
          <Contacts ownWords={own.state === 'known' ? own.identity.words : undefined} />
          <NearbySenders />
        </Stack>
        <OwnIdentityCard own={own} />
      </div>
      {adding && (
        <AddDialog
          name={adding.name}
          link={adding.link}
          onClose={() => setAdding(undefined)}
          onAdded={(name) => {
            setAdding(undefined);
            setAdded(name);
          }}
        />
      )}
    </>
  );
}
