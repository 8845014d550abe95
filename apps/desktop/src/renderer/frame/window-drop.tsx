// SPDX-License-Identifier: MPL-2.0
import { ArrowUpFromLine } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useShallow } from 'zustand/react/shallow';
import type { Api } from '../../shared/api.ts';
import { useApi } from '../api/api-context.ts';
import { Avatar } from '../components/content/avatar.tsx';
import { PeerText } from '../components/content/peer-text.tsx';
import { useDaemon } from '../store/daemon-store.ts';
import { draftRecipients, gather, sendDraft, useDraft } from '../store/draft.ts';
import { go } from '../store/route.ts';
import { USUAL_SEND } from '../store/send-options.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './window-drop.module.css';

const SHOWN_PEOPLE = 8;

/** Accepts dropped files anywhere: a drop on a contact (`data-drop-to`) is sent at once, any other is added to the draft. */
export function WindowDrop() {
  const api = useApi();
  const [dragging, setDragging] = useState(false);
  useEffect(() => listenForDrops(api, setDragging), [api]);
  return dragging ? <Target /> : null;
}

function Target() {
  const { t } = useTexts();
  const people = useDaemon(
    useShallow(({ contacts }) => contacts.filter(({ online, blocked }) => online && !blocked).map(({ name }) => name)),
  );
  return (
    <div className={styles.drop} aria-hidden="true">
      <div className={styles.inside}>
        <ArrowUpFromLine size={44} strokeWidth={1.6} />
        <h2>{t('frame.dropTitle')}</h2>
        <p>{t(people.length > 0 ? 'frame.dropText' : 'frame.dropTextAlone')}</p>
        <div className={styles.people}>
          {people.slice(0, SHOWN_PEOPLE).map((name) => (
            <span key={name} className={styles.person} data-drop-to={name}>
              <Avatar name={name} online />
              <PeerText text={name} />
            </span>
          ))}
        </div>
      </div>
    </div>
  );
}

/** @returns a function that stops listening */
function listenForDrops(api: Api, setDragging: (dragging: boolean) => void): () => void {
  const over = new AbortController();
  let marked: Element | undefined;
  const mark = (element: Element | undefined) => {
    if (element === marked) return;
    marked?.removeAttribute('data-drop-over');
    element?.setAttribute('data-drop-over', '');
    marked = element;
  };
  const on = <K extends keyof WindowEventMap>(name: K, listener: (event: WindowEventMap[K]) => void) => {
    // Chrome 83 does not know the `signal` option.
    window.addEventListener(name, listener);
    over.signal.addEventListener('abort', () => window.removeEventListener(name, listener));
  };
  const end = () => {
    setDragging(false);
    mark(undefined);
  };
  on('dragenter', (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    setDragging(true);
  });
  on('dragover', (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy';
    mark(personAt(event.target));
  });
  on('dragleave', (event) => {
    // The pointer has left the window, not only entered another element.
    if (event.relatedTarget === null) end();
  });
  on('dragend', end);
  on('drop', (event) => {
    end();
    if (!holdsFiles(event) || event.dataTransfer === null) return;
    event.preventDefault();
    const to = personAt(event.target)?.getAttribute('data-drop-to') ?? undefined;
    void dropped(api, api.gatherDrop(event.dataTransfer), to);
  });
  return () => over.abort();
}

async function dropped(api: Api, found: ReturnType<Api['gatherDrop']>, to: string | undefined): Promise<void> {
  const before = useDraft.getState();
  go('send');
  const gathered = await gather(found);
  if (!gathered || to === undefined) return;
  draftRecipients([to]);
  // The draft already had items: the user must decide what goes to whom.
  if (before.items.length === 0 && before.text === undefined) await sendDraft(api, USUAL_SEND);
}

function holdsFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') ?? false;
}

function personAt(target: EventTarget | null): Element | undefined {
  return target instanceof Element ? (target.closest('[data-drop-to]') ?? undefined) : undefined;
}
