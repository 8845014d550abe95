// SPDX-License-Identifier: MPL-2.0
import type { Command } from 'commander';
import type { PeerPackage } from './peer-package.ts';
import type { Io } from './terminal/io.ts';

/** Loads `packages/peer`, once, when a command first needs it. */
export type LoadPeer = () => Promise<PeerPackage>;

export type OnRun<Options> = (options: Options) => Promise<void>;

/** One verb of the command line. */
export interface CliCommand<Options> {
  readonly name: string;
  /** Its `declare` finds every other command declared beside it. */
  readonly needsAll?: true;
  /** Declares arguments, options and help; `onRun` gets the parsed options. */
  declare(command: Command, onRun: OnRun<Options>): void;
  /** Resolves with the exit code; rejects with the error that ended the command. */
  run(options: Options, io: Io, loadPeer: LoadPeer): Promise<number>;
}
