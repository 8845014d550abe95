// SPDX-License-Identifier: MPL-2.0
import type { Api } from '../../shared/api.ts';
import type { Bridge } from '../../shared/requests.ts';
import { BridgeApi } from './bridge-api.ts';
import { HttpApi } from './http-api.ts';
import { PageKey } from './page-key.ts';

declare global {
  interface Window {
    /** The preload's bridge; absent in a browser. */
    readonly keibidrop?: Bridge;
  }
}

/** Opens this page's access to the daemon. */
export function openApi(): Api {
  if (window.keibidrop !== undefined) return new BridgeApi(window.keibidrop);
  return new HttpApi(location.origin, new PageKey());
}
