// SPDX-License-Identifier: MPL-2.0
import type { Language } from '../../shared/languages.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** From this age on, show a date. */
const LONG_AGO = 7 * DAY;

const formats = new Map<string, Intl.DateTimeFormat>();

/** `5 minutes ago`, `yesterday`; a date from a week on. @param at  milliseconds since 1970, as `now` */
export function agoText(at: number, now: number, language: Language): string {
  const ago = Math.max(0, now - at);
  if (ago >= LONG_AGO) return dateText(at, now, language);
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  if (ago < MINUTE) return relative.format(0, 'second');
  if (ago < HOUR) return relative.format(-Math.floor(ago / MINUTE), 'minute');
  const days = daysBetween(at, now);
  return days === 0 ? relative.format(-Math.floor(ago / HOUR), 'hour') : relative.format(-days, 'day');
}

/** Heading of a day: `Today`, `Yesterday`, or its date. */
export function dayText(at: number, now: number, language: Language): string {
  const days = daysBetween(at, now);
  if (days !== 0 && days !== 1) return dateText(at, now, language);
  const text = new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(-days, 'day');
  return text.charAt(0).toLocaleUpperCase(language) + text.slice(1);
}

/** The local day, as a key to group by. */
export function dayKey(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${date.getMonth() + 1}-${date.getDate()}`;
}

/** `14:05`, in the language's format. */
export function timeText(at: number, language: Language): string {
  return formatOf(language, { hour: 'numeric', minute: '2-digit' }).format(at);
}

/** `21 November`, with the year if it differs from that of `now`. */
export function dateText(at: number, now: number, language: Language): string {
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return formatOf(language, { day: 'numeric', month: 'long', ...(!sameYear && { year: 'numeric' }) }).format(at);
}

/** `21 November, 14:05`. */
export function momentText(at: number, now: number, language: Language): string {
  return `${dateText(at, now, language)}, ${timeText(at, language)}`;
}

/** Number of midnights between the two times. */
function daysBetween(at: number, now: number): number {
  const midnight = (time: number) => {
    const date = new Date(time);
    return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  };
  return Math.round((midnight(now) - midnight(at)) / DAY);
}

/** The reader's regional variant of the language. English without a region uses en-GB: most countries write the day first. */
function regionOf(language: Language): string {
  const own = navigator.languages.find((tag) => tag.startsWith(`${language}-`));
  return own ?? (language === 'en' ? 'en-GB' : language);
}

function formatOf(language: Language, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const region = regionOf(language);
  const key = `${region} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(region, options);
    formats.set(key, format);
  }
  return format;
}
