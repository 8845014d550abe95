// SPDX-License-Identifier: MPL-2.0
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Language } from '../../../shared/languages.ts';
import { rateText } from '../../../shared/number-text.ts';
import { useShade } from '../../store/preferences.ts';
import { samplesOf, THROUGHPUT_SECONDS } from '../../store/throughput.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './throughput-chart.module.css';

const DRAW_MS = 250;
/** Smallest ranges of the axes, so that a new or stalled transfer still gets a readable chart. */
const SHORTEST_SECONDS = 10;
const LOWEST_RATE = 1000;

/**
 * Speed of one transfer since its start or over the last two minutes.
 * Redraws at most four times a second, and only while visible.
 */
export function ThroughputChart({ transfer, live }: { transfer: number; live: boolean }) {
  const { t, language } = useTexts();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place.current === null) return;
    const chart = openChart(place.current, { transfer, language, live });
    return () => chart.close();
  }, [transfer, language, live]);
  return <div ref={place} className={styles.chart} role="img" aria-label={t('transfers.chart')} />;
}

interface ChartOptions {
  transfer: number;
  language: Language;
  live: boolean;
}

function openChart(place: HTMLElement, { transfer, language, live }: ChartOptions): { close(): void } {
  const samples = samplesOf(transfer);
  const chart = new uPlot({ ...optionsOf(place, language), ...sizeOf(place) }, [[], []], place);
  let drawn = '';
  const draw = () => {
    const end = live ? Date.now() / 1000 : (samples.times[samples.times.length - 1] ?? 0);
    const state = `${samples.times.length} ${end.toFixed(1)}`;
    if (state === drawn) return;
    drawn = state;
    chart.setData([samples.times, samples.rates], false);
    chart.batch(() => {
      const seconds = Math.max(SHORTEST_SECONDS, end - (samples.times[0] ?? end));
      chart.setScale('x', { min: end - Math.min(seconds, THROUGHPUT_SECONDS), max: end });
      chart.setScale('y', { min: 0, max: Math.max(LOWEST_RATE, ...samples.rates) * 1.15 });
    });
  };
  draw();
  const seen = new IntersectionObserver(([entry]) => follow(entry?.isIntersecting === true));
  let timer: ReturnType<typeof setInterval> | undefined;
  const follow = (visible: boolean) => {
    clearInterval(timer);
    timer = undefined;
    if (visible && live && !document.hidden) timer = setInterval(draw, DRAW_MS);
  };
  const onHidden = () => follow(true);
  const resized = new ResizeObserver(() => chart.setSize(sizeOf(place)));
  // Colours are read at each drawing.
  const unfollow = useShade.subscribe(() => chart.redraw(false, true));
  seen.observe(place);
  resized.observe(place);
  document.addEventListener('visibilitychange', onHidden);
  return {
    close() {
      clearInterval(timer);
      seen.disconnect();
      resized.disconnect();
      document.removeEventListener('visibilitychange', onHidden);
      unfollow();
      chart.destroy();
    },
  };
}

function optionsOf(place: HTMLElement, language: Language): Omit<uPlot.Options, 'width' | 'height'> {
  const token = (name: string) => getComputedStyle(place).getPropertyValue(name).trim();
  const { fontFamily, fontSize } = getComputedStyle(place);
  const font = `${fontSize} ${fontFamily}`;
  return {
    cursor: { show: false },
    legend: { show: false },
    padding: [8, 0, 8, 0],
    scales: { x: { time: false, auto: false }, y: { auto: false } },
    axes: [
      { show: false },
      {
        font,
        size: 84,
        gap: 8,
        stroke: () => token('--ink-soft'),
        grid: { stroke: () => token('--line'), width: 1 },
        ticks: { show: false },
        splits: (_chart, _axis, _min, max) => [0, max / 2.3, max / 1.15],
        values: (_chart, splits) => splits.map((each) => rateText(each, language)),
      },
    ],
    series: [
      {},
      {
        width: 2,
        points: { show: false },
        stroke: () => token('--accent'),
        fill: ({ ctx, bbox }) => {
          const fill = ctx.createLinearGradient(0, bbox.top, 0, bbox.top + bbox.height);
          fill.addColorStop(0, token('--chart-top'));
          fill.addColorStop(1, token('--chart-bottom'));
          return fill;
        },
        ...(uPlot.paths.spline && { paths: uPlot.paths.spline() }),
      },
    ],
  };
}

function sizeOf(place: HTMLElement): { width: number; height: number } {
  return { width: Math.max(1, place.clientWidth), height: Math.max(1, place.clientHeight) };
}
