// SPDX-License-Identifier: MPL-2.0
import type { Api } from '../../shared/api.ts';
import type { Bridge } from '../../shared/requests.ts';
import { BridgeApi } from './bridge-api.ts';
import { HttpApi } from './http-api.ts';

declare global {
  interface Window {
    /** What the preload gives the page; a browser's has none. */
    readonly keibidrop?: Bridge;
  }
}

/** The way to the daemon that this page has. */
export function openApi(): Api {
  if (window.keibidrop !== undefined) return new BridgeApi(window.keibidrop);
  return new HttpApi(location.origin, takeToken());
}

/** The token leaves the address at once, so that no copy of the address holds it. It stays for as long as the tab. */
function takeToken(): string {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return sessionStorage.getItem('token') ?? '';
  sessionStorage.setItem('token', token);
  history.replaceState(null, '', location.pathname);
  return token;
}
