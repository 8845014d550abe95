// SPDX-License-Identifier: MPL-2.0
import { create } from 'zustand';
import { VIEWS, type View } from '../../shared/api.ts';

/** Where the page is: a view, and what of it. The address shows it, so that back and reload do what people expect. */
export interface Route {
  readonly view: View;
  /** Of transfers: the one that is looked at. */
  readonly item: string | undefined;
  /** Somebody has gone there, by a link or the address. */
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

/** Undefined for none, and for what nobody here has written. */
function itemOf(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
