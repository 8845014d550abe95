// SPDX-License-Identifier: MPL-2.0
import styles from './avatar.module.css';
import { harmless } from './peer-text.tsx';

export interface AvatarProps {
  name: string;
  /** Shows a dot; add a word beside the avatar for people who cannot see it. */
  online?: boolean;
  large?: boolean;
}

/** Initials of a person in a circle. Show the name beside it. */
export function Avatar({ name, online, large }: AvatarProps) {
  const classes = [styles.avatar, online && styles.online, large && styles.large].filter(Boolean).join(' ');
  return (
    <span className={classes} aria-hidden="true">
      {initialsOf(harmless(name))}
    </span>
  );
}

/** The first letters of the first and the last word. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/).filter(Boolean);
  const [first = '', ...others] = words;
  const last = others.pop() ?? '';
  return [first, last]
    .map((word) => Array.from(word)[0] ?? '')
    .join('')
    .toUpperCase();
}
