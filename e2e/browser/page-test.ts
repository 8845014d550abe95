// SPDX-License-Identifier: MPL-2.0
import type { Browser } from 'playwright-core';
import { test } from 'vitest';
import { Sandbox } from '../harness/sandbox.ts';
import { openBrowser } from '../people/browser.ts';
import { type ArrivalOptions, Person } from './person.ts';

export interface PageFixtures {
  sandbox: Sandbox;
  browser: Browser;
  people: { ada: Person; ben: Person };
  ada: Person;
  ben: Person;
}

export interface PageTestOptions {
  /** Runs before the daemons start. */
  prepare?(sandbox: Sandbox): Promise<unknown>;
  /** The options of each person; absent: their daemons listen on a port of the loopback interface. */
  ada?(sandbox: Sandbox): ArrivalOptions;
  ben?(sandbox: Sandbox): ArrivalOptions;
}

export const LISTEN = { KD_LISTEN: '127.0.0.1:0' };

/** A test whose fixtures all tests of a file share: a sandbox, a browser, and two people with a page each. */
export function pageTest({ prepare, ada: optionsOfAda, ben: optionsOfBen }: PageTestOptions = {}) {
  const file = { scope: 'file' } as const;
  return test.extend<PageFixtures>({
    sandbox: [
      // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the wanted fixtures from the pattern.
      async ({}, use) => {
        const sandbox = await Sandbox.open();
        await prepare?.(sandbox);
        await use(sandbox);
        await sandbox.close();
      },
      file,
    ],
    browser: [
      // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the wanted fixtures from the pattern.
      async ({}, use) => {
        const browser = await openBrowser();
        await use(browser);
        await browser.close();
      },
      file,
    ],
    people: [
      async ({ sandbox, browser }, use) => {
        const [ada, ben] = await Promise.all([
          Person.arrive(sandbox, browser, 'ada', optionsOfAda?.(sandbox) ?? { env: LISTEN }),
          Person.arrive(sandbox, browser, 'ben', optionsOfBen?.(sandbox) ?? { env: LISTEN }),
        ]);
        await use({ ada, ben });
      },
      file,
    ],
    ada: [({ people }, use) => use(people.ada), file],
    ben: [({ people }, use) => use(people.ben), file],
  });
}
