// SPDX-License-Identifier: MPL-2.0
import type { Api } from '../../shared/api.ts';
import { HttpApi } from './http-api.ts';

/** The way to the daemon that this page has. */
export function openApi(): Api {
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
