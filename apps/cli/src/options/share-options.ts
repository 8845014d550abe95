// SPDX-License-Identifier: MPL-2.0
import { type Code, parseCode } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import { addEverywhereOptions, type Everywhere } from './everywhere.ts';

/** Options of a share, by this process or by the daemon. */
export interface ShareFlags extends Everywhere {
  readOnly: boolean;
  code?: Code;
  codeLength?: string;
  insecureCode?: boolean;
  listen?: string;
  /** Names of contacts to invite. */
  to?: string[];
}

/** The options as commander returns them. */
export type TypedShareFlags = Omit<ShareFlags, 'readOnly' | 'code'> & { readOnly?: boolean; code?: string };

export function addShareOptions(command: Command): Command {
  const to = new Option('--to <contact>', 'invite this contact, too; repeatable');
  command
    .addOption(to.argParser((name: string, others: string[] = []) => [...others, name]))
    .addOption(new Option('--read-only', 'guests cannot change anything'))
    .addOption(new Option('--code <code>', 'use this code instead of a new one'))
    .addOption(new Option('--code-length <words>', 'words of a new code, 2 to 16 (2)').conflicts('code'))
    .addOption(new Option('--insecure-code', 'accept a --code that is easy to guess'))
    .addOption(new Option('--listen <host:port>', 'listen here (port 26431, or any free port)'));
  return addEverywhereOptions(command);
}

/** @throws CODE_MALFORMED */
export function shareFlagsOf<T extends TypedShareFlags>({ code, readOnly, ...rest }: T) {
  return { ...rest, ...(code !== undefined && { code: parseCode(code) }), readOnly: readOnly === true };
}
