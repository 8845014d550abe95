// SPDX-License-Identifier: MPL-2.0

// The main thread of the page's renderer in a trace of Chromium.

/**
 * @param trace  the events of a page that was not navigated meanwhile
 * @returns      `busyMs`: processor time of its tasks; `longestMs`: the longest time that one task blocked frames,
 *               waiting for a processor included; `longestBusyMs`: the longest processor time of a task;
 *               `frames`: the number of frames made
 */
export function mainThreadOf(trace) {
  const names = trace.filter(
    ({ ph, name, args }) => ph === 'M' && name === 'thread_name' && args.name === 'CrRendererMain',
  );
  const busiest = names
    .map(({ pid, tid }) => trace.filter((event) => event.pid === pid && event.tid === tid))
    .sort((one, other) => other.length - one.length)[0];
  if (busiest === undefined) throw new Error('the trace has no renderer');
  const tasks = busiest.filter(({ ph, name }) => ph === 'X' && /RunTask|ThreadControllerImpl::RunTask/.test(name));
  const worked = tasks.map(({ tdur, dur }) => (tdur ?? dur) / 1000);
  return {
    busyMs: worked.reduce((sum, ms) => sum + ms, 0),
    longestMs: Math.max(0, ...tasks.map(({ dur }) => dur / 1000)),
    longestBusyMs: Math.max(0, ...worked),
    frames: busiest.filter(({ name }) => name === 'BeginMainThreadFrame').length,
  };
}

/** The slope of the line that fits the points best. */
export function slope(points) {
  const mean = (of) => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean(([at]) => at), mean(([, value]) => value)];
  return mean(([at, value]) => (at - x) * (value - y)) / mean(([at]) => (at - x) ** 2);
}
