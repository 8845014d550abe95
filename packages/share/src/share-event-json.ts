// SPDX-License-Identifier: MPL-2.0
import { type EventJson, eventJson } from '@keibidrop/peer';
import type { ShareEvent } from './share-events.ts';

/** An event of a share as JSON for programs: `guest` is the number of its guest, `pull` the number of a pull. */
export function shareEventJson(event: ShareEvent): EventJson {
  if (!('session' in event)) return asSent(event);
  const { session, ...rest } = event;
  const guest = { guest: session };
  if (rest.type === 'connected') return { ...asSent(event), ...guest };
  if (rest.type === 'progress') return { ...asSent(event), pull: rest.pull, ...guest };
  const { type, ...fields } = rest;
  const seconds = type === 'pulled' ? { seconds: Math.round(rest.seconds * 1000) / 1000 } : {};
  return { event: type, ...fields, ...seconds, ...guest };
}

/** The events that a send has, too. */
function asSent(event: ShareEvent): EventJson {
  return (
    eventJson(event as Parameters<typeof eventJson>[0], { verbose: false, receivers: false }) ?? { event: event.type }
  );
}
