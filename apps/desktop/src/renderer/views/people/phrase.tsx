// SPDX-License-Identifier: MPL-2.0
import styles from './people.module.css';

/** The words of a fingerprint, numbered so that two people can compare them. */
export function Phrase({ words }: { words: string }) {
  return (
    <ol className={styles.words} lang="en">
      {words.split(' ').map((word, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a word may occur twice, and none moves.
        <li key={i}>{word}</li>
      ))}
    </ol>
  );
}
