// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

export const HAS_BROWSER = existsSync(CHROMIUM);

/** Debian's chromium, headless, without background network traffic. */
export function openBrowser(): Promise<Browser> {
  const quiet = ['background-networking', 'quic', 'sync', 'component-update'].map((what) => `--disable-${what}`);
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--no-first-run', ...quiet] });
}
