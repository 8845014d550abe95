// SPDX-License-Identifier: MPL-2.0
import { create } from 'zustand';
import { type DaemonState, NOTHING_TOLD } from '../../shared/daemon-state.ts';

/** What the daemon has told; written by followDaemon alone. */
export const useDaemon = create<DaemonState>()(() => NOTHING_TOLD);
