// SPDX-License-Identifier: MPL-2.0
import { create } from 'zustand';
import { VIEWS, type View } from '../../shared/api.ts';

/** Where the page is: a view, and what of it. The address shows it, so that back and reload do what people expect. */
export interface Route {
  readonly view: View;
  /** Of transfers: the one that is looked at. */
  readonly item: string | undefined;
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
  const view = VIEWS.find((each) => each === name) ?? 'send';
  return { view, item: item === undefined || item === '' ? undefined : decodeURIComponent(item) };
}
