// SPDX-License-Identifier: MPL-2.0
import { create } from 'zustand';
import { type DaemonState, NOTHING_REPORTED } from '../../shared/daemon-state.ts';

/** The daemon's state; only followDaemon writes it. */
export const useDaemon = create<DaemonState>()(() => NOTHING_REPORTED);
