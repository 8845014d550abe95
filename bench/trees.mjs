// SPDX-License-Identifier: MPL-2.0

// Cases that move a file or a tree by KeibiDrop or by cp.
import { basename } from 'node:path';
import { assertEqual } from './workspace.mjs';

/** Session up to done, both processes' CPU, the larger RSS. Compares and removes the result. */
export function transferCase(workspace, name, source, options = {}) {
  const out = workspace.path('in');
  return {
    name,
    async run() {
      const { done, total, cpu, rss } = await workspace.exchange(source, out, options);
      await assertEqual(source, `${out}/${basename(source)}`);
      await workspace.discard(out);
      return { seconds: options.whole ? total : done.seconds, whole: total, cpu, rss };
    },
  };
}

export function copyCase(workspace, name, source) {
  const target = workspace.path('copy');
  return {
    name,
    async run() {
      const { wall, cpu, rss } = await workspace.start('cp', ['-r', source, target]).report();
      await assertEqual(source, target);
      await workspace.discard(target);
      return { seconds: wall, cpu, rss };
    },
  };
}
