// SPDX-License-Identifier: MPL-2.0
import { limitOf, type ReachChoice } from '../../store/send-options.ts';
import { useTexts } from '../../texts/texts.ts';
import { Choice } from './choice.tsx';
import { Field } from './field.tsx';

/** Fields for the allowed connection paths and the speed limit. */
export function ReachFields({ reach, onChange }: { reach: ReachChoice; onChange(reach: ReachChoice): void }) {
  const { t } = useTexts();
  const { way, limit } = reach;
  return (
    <>
      <Choice
        legend={t('send.way')}
        value={way}
        options={[
          { value: 'any', label: t('send.wayAny'), hint: t('send.wayAnyHint') },
          { value: 'direct', label: t('send.wayDirect'), hint: t('send.wayDirectHint') },
          { value: 'relay', label: t('send.wayRelay'), hint: t('send.wayRelayHint') },
        ]}
        onChange={(chosen) => onChange({ way: chosen, limit })}
      />
      <Field
        label={t('send.limit')}
        hint={t('send.limitHint')}
        error={Number.isNaN(limitOf(limit)) ? t('send.limitWrong') : undefined}
      >
        {(control) => (
          <input
            {...control}
            type="text"
            inputMode="decimal"
            value={limit}
            onChange={(event) => onChange({ way, limit: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}
