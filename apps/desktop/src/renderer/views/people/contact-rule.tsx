// SPDX-License-Identifier: MPL-2.0
import type { ContactView } from '@keibidrop/daemon/local';
import { type FormEvent, useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { harmless } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { Choice } from '../../components/controls/choice.tsx';
import { FolderField } from '../../components/controls/folder-field.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './people.module.css';

type Rule = 'ask' | 'accept' | 'never';

/** The rule for what a contact sends. "Accept" needs a folder: until one is chosen, the old rule applies. */
export function ContactRule({ contact: { name, rule, folder = '' } }: { contact: ContactView }) {
  const { t } = useTexts();
  const api = useApi();
  const { follow, busy, error } = useAction();
  const [chosen, setChosen] = useState<Rule>();
  const value = chosen ?? ruleOf(rule);
  const change = async (request: { rule: Rule; folder?: string }) => {
    const done = await follow((signal) => api.call('changeContact', { name, ...request }, { signal }));
    if (done) setChosen((now) => (now === request.rule ? undefined : now));
  };
  const choose = (next: Rule) => {
    setChosen(next);
    if (next !== 'accept') void change({ rule: next });
  };
  return (
    <Stack gap={3} className={styles.wide}>
      <Choice
        legend={t('people.whatTheySend', { name: harmless(name) })}
        value={value}
        options={[
          { value: 'ask', label: t('people.ruleAsk'), hint: t('people.ruleAskHint') },
          { value: 'accept', label: t('people.ruleAccept'), hint: t('people.ruleAcceptHint') },
          { value: 'never', label: t('people.ruleNever'), hint: t('people.ruleNeverHint') },
        ]}
        onChange={choose}
      />
      {value === 'accept' && (
        <RuleFolder
          kept={rule === 'accept' ? folder : ''}
          busy={busy}
          onSave={(path) => void change({ rule: 'accept', folder: path })}
        />
      )}
      <ErrorNotice error={error} />
    </Stack>
  );
}

function RuleFolder({ kept, busy, onSave }: { kept: string; busy: boolean; onSave(folder: string): void }) {
  const { t } = useTexts();
  const [folder, setFolder] = useState(kept);
  const save = (event: FormEvent) => {
    event.preventDefault();
    onSave(folder);
  };
  return (
    <form className={styles.folder} onSubmit={save}>
      <FolderField
        label={t('people.ruleFolder')}
        value={folder}
        onChange={setFolder}
        hint={kept === '' ? t('people.ruleFolderMissing') : undefined}
      />
      {folder !== kept && folder !== '' && (
        <Button look="primary" type="submit" busy={busy}>
          {t('people.save')}
        </Button>
      )}
    </form>
  );
}

function ruleOf(rule: string): Rule {
  return rule === 'accept' || rule === 'never' ? rule : 'ask';
}
