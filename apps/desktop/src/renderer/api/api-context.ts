// SPDX-License-Identifier: MPL-2.0
import { createContext, useContext } from 'react';
import type { Api } from '../../shared/api.ts';

export const ApiContext = createContext<Api | undefined>(undefined);

/** The page's access to the daemon. */
export function useApi(): Api {
  const api = useContext(ApiContext);
  if (api === undefined) throw new Error('ApiContext is missing.');
  return api;
}
