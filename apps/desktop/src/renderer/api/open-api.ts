// SPDX-License-Identifier: MPL-2.0
import type { Api } from '../../shared/api.ts';
import type { Bridge } from '../../shared/requests.ts';
import { BridgeApi } from './bridge-api.ts';
import { HttpApi } from './http-api.ts';
import { PageKey } from './page-key.ts';

declare global {
  interface Window {
    /** What the preload gives the page; a browser's has none. */
    readonly keibidrop?: Bridge;
  }
}

/** The way to the daemon that this page has. */
export function openApi(): Api {
  if (window.keibidrop !== undefined) return new BridgeApi(window.keibidrop);
  return new HttpApi(location.origin, new PageKey());
}
