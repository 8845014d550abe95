// SPDX-License-Identifier: MPL-2.0
import { completeCode } from '@keibidrop/daemon/local';
import { type UseComboboxState, type UseComboboxStateChangeOptions, useCombobox } from 'downshift';
import { type ClipboardEvent, type KeyboardEvent, type Ref, useMemo } from 'react';
import { codeIn, spelled } from '../../store/code-text.ts';
import { useTexts } from '../../texts/texts.ts';
import { Stack } from '../layout/stack.tsx';
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
  const { t } = useTexts();
  const found = useMemo(() => completeCode(value), [value]);
  const take = (code: string | undefined) => {
    // Most codes have two words, so a hyphen follows the first.
    if (code !== undefined) onChange(code.split('-').length === 2 ? `${code}-` : code);
  };
  const { isOpen, highlightedIndex, closeMenu, getLabelProps, getInputProps, getMenuProps, getItemProps } = useCombobox(
    {
      items: found,
      inputValue: value,
      selectedItem: null,
      stateReducer: keepTyped,
      onStateChange: ({ selectedItem }) => take(selectedItem ?? undefined),
    },
  );
  const shown = isOpen ? found : [];
  // Takes the code out of any pasted text, before the one-line field joins its lines.
  const paste = (event: ClipboardEvent) => {
    const code = codeIn(event.clipboardData.getData('text'));
    if (code === undefined) return;
    event.preventDefault();
    closeMenu();
    onChange(code);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Tab' && !event.shiftKey && shown.length > 0) {
      event.preventDefault();
      closeMenu();
      take(shown[Math.max(highlightedIndex, 0)]);
    }
    // A typed word need not be on the list: Enter sends it unless the user chose an entry. The other keys move the cursor.
    const isForInput = event.key === 'Enter' ? highlightedIndex < 0 : CURSOR_KEYS.includes(event.key);
    if (isForInput) Object.assign(event.nativeEvent, { preventDownshiftDefault: true });
  };
  return (
    <Stack gap={2} className={styles.field}>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: getLabelProps sets htmlFor. */}
      <label className={styles.label} {...getLabelProps()}>
        {label}
      </label>
      <input
        className={styles.input}
        type="text"
        {...(errorId !== undefined && { 'aria-invalid': true, 'aria-describedby': errorId })}
        placeholder="7-guitar-pencil"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        enterKeyHint="go"
        {...getInputProps({
          ...(inputRef !== undefined && { ref: inputRef }),
          'aria-expanded': shown.length > 0,
          // At once: React moves the cursor to the end of a value that it sets later.
          onChange: (event) => onChange(spelled(event.currentTarget.value)),
          onPaste: paste,
          onKeyDown,
        })}
      />
      <div className={styles.list} hidden={shown.length === 0} {...getMenuProps({ 'aria-label': t('receive.words') })}>
        {shown.map((code, index) => (
          <div
            key={code}
            className={[styles.option, index === Math.max(highlightedIndex, 0) && styles.active]
              .filter(Boolean)
              .join(' ')}
            {...getItemProps({ item: code, index })}
          >
            <mark>{value}</mark>
            {code.slice(value.length)}
          </div>
        ))}
      </div>
    </Stack>
  );
}

const CURSOR_KEYS = ['Home', 'End', 'PageUp', 'PageDown'];

type State = UseComboboxState<string>;

/** Typed text stays as it is: a click opens no list, the mouse chooses nothing by passing, and leaving keeps the text. */
function keepTyped(state: State, { type, changes }: UseComboboxStateChangeOptions<string>): Partial<State> {
  switch (type) {
    case useCombobox.stateChangeTypes.InputClick:
      return state;
    case useCombobox.stateChangeTypes.ItemMouseMove:
    case useCombobox.stateChangeTypes.MenuMouseLeave:
      return { ...changes, highlightedIndex: state.highlightedIndex };
    case useCombobox.stateChangeTypes.InputBlur:
    case useCombobox.stateChangeTypes.InputKeyDownEscape:
      return { ...changes, inputValue: state.inputValue, selectedItem: null };
    default:
      return changes;
  }
}
