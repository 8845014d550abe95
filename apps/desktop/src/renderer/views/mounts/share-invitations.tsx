// SPDX-License-Identifier: MPL-2.0
import { FolderPlus } from 'lucide-react';
import { placeOfQuestion } from '../../../shared/daemon-state.ts';
import { useApi } from '../../api/api-context.ts';
import { harmless } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { Row, RowList } from '../../components/layout/row-list.tsx';
import { Section } from '../../components/layout/section.tsx';
import { useDaemon } from '../../store/daemon-store.ts';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';

/** Invitations from contacts to shared folders; nothing without any. */
export function ShareInvitations() {
  const { t } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAction();
  const questions = useDaemon((state) => state.questions);
  const invitations = questions.filter((asked) => placeOfQuestion(asked) === 'mounts');
  if (invitations.length === 0) return null;
  const answer = (question: number, said: 'yes' | 'no') =>
    void act((signal) => api.call('answer', { question, answer: said }, { signal }));
  return (
    <Section title={t('mounts.invitations')}>
      <RowList label={t('mounts.invitations')}>
        {invitations.map(({ question, about }) => (
          <Row
            key={question}
            mark={<FolderPlus size={22} aria-hidden="true" />}
            name={
              <bdi>
                {t('mounts.invitation', {
                  contact: harmless(String(about.contact)),
                  name: harmless(String(about.label)),
                })}
              </bdi>
            }
            actions={
              <>
                <Button disabled={busy} onClick={() => answer(question, 'no')}>
                  {t('mounts.refuse')}
                </Button>
                <Button look="primary" disabled={busy} onClick={() => answer(question, 'yes')}>
                  {t('mounts.accept')}
                </Button>
              </>
            }
          />
        ))}
      </RowList>
      <ErrorNotice error={error} />
    </Section>
  );
}
