// SPDX-License-Identifier: MPL-2.0
import type { SettingsQuery } from '@keibidrop/settings';
import type { ContactDesk } from './contact-service.ts';
import type { EventStream } from './event-stream.ts';
import type { Mounts } from './folders/mounts.ts';
import type { Shares } from './folders/shares.ts';
import type { History } from './history/history.ts';
import type { IdentityKeeper } from './identity-cache.ts';
import type { PageDoor } from './page/page-server.ts';
import type { Questions } from './prompts.ts';
import type { ReadSettings } from './transfers/transfer-options.ts';
import type { Transfers } from './transfers/transfers.ts';

/** The parts that the calls work with. */
export interface DaemonParts {
  readonly version: string;
  readonly configDir: string;
  readonly stateDir: string;
  /** Milliseconds since 1970. */
  readonly started: number;
  /** Where settings come from. */
  readonly settings: SettingsQuery;
  /** Reads the current settings. */
  readonly read: ReadSettings;
  readonly events: EventStream;
  readonly questions: Questions;
  readonly transfers: Transfers;
  readonly shares: Shares;
  readonly mounts: Mounts;
  readonly history: History;
  readonly identity: IdentityKeeper;
  readonly contacts: ContactDesk;
  readonly page: PageDoor;
  /** The number of connected programs. */
  clients(): number;
  /** Starts to end the daemon. @returns  the number of transfers that the next daemon resumes */
  stop(): Promise<number>;
}
