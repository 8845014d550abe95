// SPDX-License-Identifier: MPL-2.0

// What a trace of Chromium says about the main thread of the page's renderer.

/**
 * @param trace  the events of a page that was not navigated meanwhile
 * @returns      `busyMs`: processor time of its tasks; `longestMs`: how long the longest kept a frame from being made, waiting for a processor
 *               included; `longestBusyMs`: its processor time; `frames`: how many it has made
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

/** Of the straight line that fits best. */
export function slope(points) {
  const mean = (of) => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean(([at]) => at), mean(([, value]) => value)];
  return mean(([at, value]) => (at - x) * (value - y)) / mean(([at]) => (at - x) ** 2);
}
