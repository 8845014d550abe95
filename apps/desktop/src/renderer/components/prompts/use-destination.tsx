// SPDX-License-Identifier: MPL-2.0
import { type ReactNode, useState } from 'react';
import { bytesText } from '../../../shared/number-text.ts';
import { useTexts } from '../../texts/texts.ts';
import { FolderField } from '../controls/folder-field.tsx';
import { Notice } from '../feedback/notice.tsx';
import { useFreeSpace } from './use-free-space.ts';

/** An offer's destination, as the daemon reports it. */
interface Destination {
  readonly place: string | undefined;
  readonly freeBytes: number | undefined;
  /** Size of the offer; undefined until it is known. */
  readonly bytes: number | undefined;
}

/** A field for the folder that an offer goes to, with its free space, and the folder's part of the answer. */
export function useDestination({ place = '', freeBytes, bytes = 0 }: Destination): {
  field: ReactNode;
  answer: { out?: string };
} {
  const { t, language } = useTexts();
  const [out, setOut] = useState(place);
  const chosen = out.trim() || place;
  const free = useFreeSpace(chosen, { of: place, bytes: freeBytes });
  const field = (
    <>
      <FolderField
        label={t('receive.place')}
        value={out}
        placeholder={place}
        hint={free === undefined ? undefined : t('frame.free', { size: bytesText(free, language) })}
        onChange={setOut}
      />
      {free !== undefined && bytes > free && <Notice look="warning">{t('receive.tooLittle')}</Notice>}
    </>
  );
  return { field, answer: chosen === place ? {} : { out: chosen } };
}
