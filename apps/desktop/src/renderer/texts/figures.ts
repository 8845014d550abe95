// SPDX-License-Identifier: MPL-2.0
export * from '../../shared/figures.ts';
