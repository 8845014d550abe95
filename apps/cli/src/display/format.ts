// SPDX-License-Identifier: MPL-2.0

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** `1.5 MB`: three digits at most, in powers of 1000, as file managers and the page count. */
export function formatBytes(bytes: number): string {
  const unit = unitOf(bytes);
  return `${inUnit(bytes, unit)} ${UNITS[unit]}`;
}

/** `1.2/3.4 GB`: part of a total; `900 MB/3.4 GB` if one unit cannot show both. */
export function formatBytesOf(bytes: number, total: number): string {
  const unit = unitOf(total);
  return unitOf(bytes) < unit && bytes > 0
    ? `${formatBytes(bytes)}/${formatBytes(total)}`
    : `${inUnit(bytes, unit)}/${formatBytes(total)}`;
}

/** `112 MB/s`. */
export function formatRate(bytesPerSecond: number): string {
  return `${formatBytes(bytesPerSecond)}/s`;
}

/** `1,234`. Avoids Intl: its first use costs a short run 17 ms. */
export function formatNumber(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1,234 files`, `1 file`. */
export function formatCount(count: number, noun: string): string {
  const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${formatNumber(count)} ${count === 1 ? noun : plural}`;
}

/** Clock style: `0:21`, `1:02:03`; days from two days on: `2d 3h`. */
export function formatClock(seconds: number): string {
  const whole = Math.ceil(Math.max(0, seconds));
  const hours = Math.floor(whole / 3600);
  if (hours >= 48) return `${Math.floor(hours / 24)}d ${hours % 24}h`;
  const twoDigits = (value: number): string => String(value).padStart(2, '0');
  const minutes = Math.floor(whole / 60) % 60;
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${twoDigits(whole % 60)}` : `${minutes}:${twoDigits(whole % 60)}`;
}

/** Sentence style: `0.4 s`, `31 s`, `2 min 5 s`, `1 h 2 min`. */
export function formatDuration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
}

/** `2026-11-21 21:04`, in local time. */
export function formatTime(time: Date): string {
  const twoDigits = (value: number): string => String(value).padStart(2, '0');
  const day = `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())}`;
  return `${day} ${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`;
}

/** The smallest unit whose number has at most three digits. */
function unitOf(bytes: number): number {
  let unit = 0;
  // 999.5 and more would round to 1000 of this unit.
  for (let value = bytes; value >= 999.5 && unit < UNITS.length - 1; value /= 1000) unit++;
  return unit;
}

function inUnit(bytes: number, unit: number): string {
  const value = bytes / 1000 ** unit;
  return value.toFixed(unit > 0 && value < 99.95 ? 1 : 0);
}
