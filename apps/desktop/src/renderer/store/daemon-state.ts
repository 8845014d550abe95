// SPDX-License-Identifier: MPL-2.0
export * from '../../shared/daemon-state.ts';
