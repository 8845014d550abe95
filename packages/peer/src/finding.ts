// SPDX-License-Identifier: MPL-2.0

/** `ok`; `note`: good to know; `warning`: works, but could work better; `failed`: sending or receiving will not work. */
export type CheckStatus = 'ok' | 'note' | 'warning' | 'failed';

/** The result of one check. `name` is a fixed word or two; `text` one sentence. */
export interface Check {
  name: string;
  status: CheckStatus;
  text: string;
}

export type Finding = Omit<Check, 'name'>;
