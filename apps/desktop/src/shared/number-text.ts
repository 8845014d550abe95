// SPDX-License-Identifier: MPL-2.0
import type { Language } from './languages.ts';

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;
const formats = new Map<string, Intl.NumberFormat>();

/** `1.5 GB`: decimal units, three digits at most, as file managers and disks count. */
export function bytesText(bytes: number, language: Language): string {
  let unit = 0;
  let value = bytes;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  const name = UNITS[unit] ?? 'byte';
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return formatOf(language, {
    style: 'unit',
    unit: name,
    unitDisplay: unit === 0 ? 'long' : 'short',
    maximumFractionDigits: digits,
  }).format(value);
}

/** `95 MB/s` */
export function rateText(bytesPerSecond: number, language: Language): string {
  return `${bytesText(bytesPerSecond, language)}/s`;
}

export function countText(count: number, language: Language): string {
  return formatOf(language, {}).format(count);
}

/** `45 %` in the language's format. @param share  0 to 1; shows 100 % only at 1 */
export function percentText(share: number, language: Language): string {
  return formatOf(language, { style: 'percent' }).format(share < 1 ? Math.min(share, 0.99) : 1);
}

/** `0:45`, `12:05`, `3:00:00` */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

function formatOf(language: Language, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${language} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat(language, options);
    formats.set(key, format);
  }
  return format;
}
