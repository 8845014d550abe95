// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode, rowOf } from '../src/error-table.ts';

/** The verbs with which a next step begins. */
const VERBS =
  'ask|build|check|choose|close|compare|connect|correct|drop|end|install|leave out|list|make|open|put|raise|rename|report|restore|run|send|start|try|unlock|update|use';
const STEP = new RegExp(`^(please )?(${VERBS})\\b`, 'i');
const COMMAND = /\bkeibidrop (--[a-z]|[a-z])/;

/** Causes that a look at the network can show. */
const NETWORK: readonly ErrorCode[] = [
  'RENDEZVOUS_UNREACHABLE',
  'RENDEZVOUS_NOT_FOUND',
  'PEER_UNREACHABLE',
  'HANDSHAKE_TIMEOUT',
];

/** The parts of a text between full stops, semicolons and colons: the first says what happened. */
function partsOf(code: ErrorCode): string[] {
  return rowOf(code).text.split(/[.;:] /);
}

describe.each(ERROR_CODES)('the text of %s', (code) => {
  it('says what happened, then names a next step', () => {
    const [what = '', ...advice] = partsOf(code);
    expect(what).not.toMatch(STEP);
    const steps = advice.filter((part) => STEP.test(part) || COMMAND.test(part));
    expect(steps.length, rowOf(code).text).toBeGreaterThan(0);
  });
});

it.each(NETWORK)('the text of %s names the command that finds the cause', (code) => {
  expect(rowOf(code).text).toMatch(/keibidrop (doctor|help firewalls)/);
});
