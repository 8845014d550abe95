// SPDX-License-Identifier: MPL-2.0

/** Defined by esbuild (`define`) when the command line is bundled. */
declare const KEIBIDROP_VERSION: string;

export const VERSION = typeof KEIBIDROP_VERSION === 'string' ? KEIBIDROP_VERSION : '0.0.0-dev';
