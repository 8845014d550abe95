// SPDX-License-Identifier: MPL-2.0
import { errorWords, type ReportedError } from '../../texts/errors.ts';
import { useTexts } from '../../texts/texts.ts';
import { harmless } from '../content/peer-text.tsx';
import styles from './error-text.module.css';

/** A failure; below it the daemon's English message where that says more. */
export function ErrorText({ error }: { error: ReportedError }) {
  const { t } = useTexts();
  const { text, detail } = errorWords(t, error);
  return (
    <>
      {text}
      {detail !== undefined && (
        <span lang="en" className={styles.detail}>
          {harmless(detail)}
        </span>
      )}
    </>
  );
}
