// SPDX-License-Identifier: MPL-2.0
import { completeCode } from '@keibidrop/daemon/local';
import { type ClipboardEvent, type KeyboardEvent, type Ref, useId, useMemo, useState } from 'react';
import { codeIn, spelled } from '../../store/code-text.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './code-field.module.css';

export interface CodeFieldProps {
  label: string;
  value: string;
  onChange(code: string): void;
  /** Id of the element that describes an error in the input, if there is one. */
  errorId?: string | undefined;
  inputRef?: Ref<HTMLInputElement>;
}

/** Input for a code. Words complete from the published list: Tab takes the first, arrows choose. */
export function CodeField({ label, value, onChange, errorId, inputRef }: CodeFieldProps) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const found = useMemo(() => completeCode(value), [value]);
  const shown = open ? found : [];
  const type = (text: string) => {
    setActive(-1);
    setOpen(true);
    onChange(spelled(text));
  };
  const take = (code: string | undefined) => {
    if (code === undefined) return;
    setActive(-1);
    setOpen(false);
    // Most codes have two words, so a hyphen follows the first.
    onChange(code.split('-').length === 2 ? `${code}-` : code);
  };
  // Takes the code out of any pasted text, before the one-line field joins its lines.
  const paste = (event: ClipboardEvent) => {
    const code = codeIn(event.clipboardData.getData('text'));
    if (code === undefined) return;
    event.preventDefault();
    setOpen(false);
    onChange(code);
  };
  const onKey = (event: KeyboardEvent) => {
    const handled = keyed(event, { shown, active, setActive, take, close: () => setOpen(false) });
    if (handled) event.preventDefault();
  };
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      <input
        ref={inputRef}
        id={id}
        className={styles.input}
        type="text"
        role="combobox"
        aria-expanded={shown.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(active >= 0 && shown.length > 0 && { 'aria-activedescendant': `${id}-${active}` })}
        {...(errorId !== undefined && { 'aria-invalid': true, 'aria-describedby': errorId })}
        value={value}
        placeholder="7-guitar-pencil"
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        enterKeyHint="go"
        onChange={(event) => type(event.target.value)}
        onPaste={paste}
        onBlur={() => setOpen(false)}
        onKeyDown={onKey}
      />
      <Words id={id} value={value} shown={shown} active={active} onTake={take} />
    </div>
  );
}

interface WordsProps {
  /** Id of the field that refers to the list. */
  id: string;
  value: string;
  shown: readonly string[];
  active: number;
  onTake(code: string): void;
}

function Words({ id, value, shown, active, onTake }: WordsProps) {
  const { t } = useTexts();
  return (
    <div
      id={`${id}-list`}
      className={styles.list}
      role="listbox"
      aria-label={t('receive.words')}
      hidden={shown.length === 0}
    >
      {shown.map((code, i) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active one.
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys.
        <div
          key={code}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === active}
          className={[styles.option, i === Math.max(active, 0) && styles.active].filter(Boolean).join(' ')}
          // Keep the focus in the field.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(code)}
        >
          <mark>{value}</mark>
          {code.slice(value.length)}
        </div>
      ))}
    </div>
  );
}

interface List {
  shown: readonly string[];
  active: number;
  setActive(index: number): void;
  take(code: string | undefined): void;
  close(): void;
}

/** @returns whether the list handled the key */
function keyed({ key, shiftKey }: KeyboardEvent, { shown, active, setActive, take, close }: List): boolean {
  if (shown.length === 0) return false;
  switch (key) {
    case 'ArrowDown':
      setActive((active + 1) % shown.length);
      return true;
    case 'ArrowUp':
      setActive((active <= 0 ? shown.length : active) - 1);
      return true;
    case 'Tab':
      if (shiftKey) return false;
      take(shown[Math.max(active, 0)]);
      return true;
    case 'Enter':
      // A typed word need not be on the list: it is kept unless the user chose an entry.
      if (active < 0) return false;
      take(shown[active]);
      return true;
    case 'Escape':
      close();
      return true;
    default:
      return false;
  }
}
