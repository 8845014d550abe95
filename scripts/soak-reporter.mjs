// SPDX-License-Identifier: MPL-2.0

// Reporter of `npm run soak`: a line for each step with its figures, errors in full, and last `N ok, N failed, N skipped`.

const OUTCOME = { passed: 'ok', failed: 'failed', skipped: 'skipped', pending: 'failed' };
const FIGURES = new Intl.NumberFormat('en', { maximumFractionDigits: 1, useGrouping: false });

// Vitest loads it by its default export.
export default class SoakReporter {
  #counts = { ok: 0, failed: 0, skipped: 0 };

  onTestCaseResult(test) {
    const { state, errors = [], note } = test.result();
    // Leave out steps that were not selected.
    if (test.options.mode === 'skip' && note === undefined && state === 'skipped') return;
    const outcome = OUTCOME[state];
    this.#counts[outcome]++;
    const seconds = ((test.diagnostic()?.duration ?? 0) / 1000).toFixed(1);
    const { figures = {} } = test.meta();
    const shown = (value) => (typeof value === 'number' ? FIGURES.format(value) : JSON.stringify(value));
    const measured = Object.entries(figures).map(([name, value]) => `${name} ${shown(value)}`);
    const text = [
      `${outcome.padEnd(7)} ${seconds.padStart(6)} s  ${test.fullName.replaceAll(' > ', ': ')}`,
      measured.join(', '),
      note,
    ];
    console.log(text.filter(Boolean).join('  |  '));
    for (const { message, stack = '' } of errors) console.log(`${message}\n${stack}`.replaceAll(/^/gm, '          '));
  }

  onTestRunEnd(modules, unhandled) {
    for (const { errors, moduleId } of modules.map((module) => ({
      errors: module.errors(),
      moduleId: module.moduleId,
    }))) {
      for (const { message, stack } of errors) this.#broke(`${moduleId}: ${message}\n${stack}`);
    }
    for (const { message, stack } of unhandled) this.#broke(`${message}\n${stack}`);
    const { ok, failed, skipped } = this.#counts;
    console.log(`${ok} ok, ${failed} failed, ${skipped} skipped`);
    if (ok + failed + skipped === 0) process.exitCode = 1;
  }

  #broke(text) {
    this.#counts.failed++;
    console.log(`failed  ${text}`);
  }
}
