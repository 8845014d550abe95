// SPDX-License-Identifier: MPL-2.0
import { create } from 'zustand';
import { VIEWS, type View } from '../../shared/api.ts';

/** The current view and its item. The address shows them, so that back and reload work as expected. */
export interface Route {
  readonly view: View;
  /** In the transfers view: id of the open transfer. */
  readonly item: string | undefined;
  /** The user followed a link or typed the address. */
  readonly asked: boolean;
}

export const useRoute = create<Route>()(() => routeOf(location.hash));

window.addEventListener('hashchange', () => useRoute.setState(routeOf(location.hash)));

export function go(view: View, item?: string | number): void {
  location.hash = hrefOf(view, item);
}

export function hrefOf(view: View, item?: string | number): string {
  return item === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(item)}`;
}

function routeOf(hash: string): Route {
  const [, name, item] = hash.split('/');
  const asked = VIEWS.find((each) => each === name);
  return { view: asked ?? 'send', item: itemOf(item), asked: asked !== undefined };
}

/** Undefined for an empty or malformed item. */
function itemOf(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
