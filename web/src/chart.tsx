// chart.tsx: a line over time. uPlot comes when the first one is shown.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { useStore } from './store';
import { theme } from './theme';

export interface ChartProps {
  title: string;
  at: number[];
  values: (number | null)[];
  show: (value: number) => string;
  top?: number; // the largest value of the scale; else as the data are
}

const HEIGHT = 160;
const SHORTEST = 60; // seconds that are shown at least
const WHOLE = Array.from({ length: 30 }, (_, i) => [1, 2, 5][i % 3]! * 10 ** Math.floor(i / 3)); // steps of a scale that counts

function optionsMake(props: ChartProps, host: HTMLElement): uPlot.Options {
  const style = getComputedStyle(host);
  const line = style.getPropertyValue('outline-color') || style.color, grid = style.borderTopColor, ink = style.color;
  const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: '12px system-ui, sans-serif' };
  return {
    width: Math.max(200, host.clientWidth),
    height: HEIGHT,
    cursor: { y: false, drag: { x: false, y: false } },
    legend: { show: false },
    scales: { x: { range: (_, least, most) => [Math.min(least ?? 0, (most ?? SHORTEST) - SHORTEST), most ?? SHORTEST] }, y: { range: (_, __, most) => [0, props.top ?? Math.max(1, most * 1.1)] } },
    axes: [
      { ...axis, size: 30, space: 70, values: [[86400, '{YYYY}-{MM}-{DD}'], [3600, '{HH}:{mm}', '\n{MM}-{DD}'], [60, '{HH}:{mm}'], [1, '{HH}:{mm}:{ss}']].map(([incr, text, day]) => [incr, text, day ?? null, null, day ?? null, null, null, null, 1]) as uPlot.Axis.Values },
      { ...axis, size: 62, space: 36, ...(props.top ? {} : { incrs: WHOLE }), values: (_, splits) => splits.map((value) => props.show(value)) },
    ],
    series: [{}, { stroke: line, width: 2, fill: `color-mix(in srgb, ${line} 14%, transparent)`, points: { show: props.at.length < 3 } }],
  };
}

export function Chart(props: ChartProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null), plot = useRef<uPlot | null>(null), latest = useRef(props), chosen = useStore(theme);
  latest.current = props;
  useEffect(() => {
    let gone = false;
    const element = host.current!;
    const make = (Plot: typeof uPlot): void => {
      plot.current?.destroy();
      const { at, values } = latest.current;
      plot.current = new Plot(optionsMake(latest.current, element), [at, values], element);
    };
    const system = matchMedia('(prefers-color-scheme: dark)');
    let again = (): void => {};
    const fit = new ResizeObserver(() => plot.current?.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT }));
    void import('./chart_core').then(({ default: Plot }) => {
      if (gone) return;
      make(Plot);
      again = () => make(Plot);
      system.addEventListener('change', again);
      fit.observe(element);
    });
    return () => {
      gone = true;
      system.removeEventListener('change', again);
      fit.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [chosen]);
  useEffect(() => plot.current?.setData([props.at, props.values]), [props.at, props.values]);
  const last = props.values[props.values.length - 1];
  return (
    <figure class="chart">
      <figcaption>{props.title}: <strong>{typeof last === 'number' ? props.show(last) : 'nothing yet'}</strong></figcaption>
      <div ref={host} class="plot" style={{ minHeight: `${HEIGHT}px` }} role="img" aria-label={`${props.title} over time`} />
    </figure>
  );
}
