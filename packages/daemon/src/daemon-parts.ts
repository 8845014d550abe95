// SPDX-License-Identifier: MPL-2.0
import type { SettingsQuery } from '@keibidrop/settings';
import type { ContactService } from './contact-service.ts';
import type { EventStream } from './event-stream.ts';
import type { Mounts } from './folders/mounts.ts';
import type { Shares } from './folders/shares.ts';
import type { History } from './history/history.ts';
import type { IdentityCache } from './identity-cache.ts';
import type { PageServer } from './page/page-server.ts';
import type { Prompts } from './prompts.ts';
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
  readonly questions: Prompts;
  readonly transfers: Transfers;
  readonly shares: Shares;
  readonly mounts: Mounts;
  readonly history: History;
  readonly identity: IdentityCache;
  readonly contacts: ContactService;
  readonly page: PageServer;
  /** The number of connected programs. */
  clients(): number;
  /** Starts to end the daemon. @returns  the number of transfers that the next daemon resumes */
  stop(): Promise<number>;
}
