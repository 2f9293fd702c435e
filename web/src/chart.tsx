// chart.tsx: what there was over time, as areas on top of each other, or one line: drawn as SVG, and read out where one points or goes with the arrow keys.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { clock, moment } from './format';
import { useSteps, useWidth } from './hooks';

export interface Layer {
  name: string;
  tone: string; // a class: whose it is
  faint?: boolean; // what waits
  values: (number | null)[];
}

export interface ChartProps {
  title: string;
  at: number[]; // seconds, rising
  layers: Layer[]; // the lowest first
  show: (value: number) => string;
  top?: number; // the largest value of the scale; else as the data are
  height?: number;
  binary?: boolean; // bytes: steps are powers of 2
  span?: number; // seconds that are shown, up to now; else as long as there are data
}

const LEFT = 62, RIGHT = 8, TOP = 8, BOTTOM = 22, SHORTEST = 60;

/** Steps that people count in. */
function ticksOf(top: number, whole: boolean, binary: boolean): number[] {
  const rough = top / 4, base = binary ? 2 : 10, power = base ** Math.floor(Math.log(rough || 1) / Math.log(base));
  const step = (binary ? [1, 2] : [1, 2, 5, 10]).map((n) => n * power).find((n) => n >= rough) ?? rough;
  const by = whole ? Math.max(1, step) : step, ticks: number[] = [];
  for (let at = 0; at <= top * 1.0001; at += by) ticks.push(at);
  return ticks;
}

const STEPS = [10, 30, 60, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400, 172800, 604800];

function timesOf(from: number, to: number, room: number): number[] {
  const step = STEPS.find((n) => (to - from) / n <= room) ?? 604800 * Math.ceil((to - from) / 604800 / room);
  const zone = new Date(to * 1000).getTimezoneOffset() * 60, times: number[] = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step) times.push(at);
  return times;
}

const timeText = (at: number, length: number): string => (length > 2 * 86400 ? moment(at).slice(5, 10) : clock(at).slice(0, length < 600 ? 8 : 5));

/** The same data as sums from below: edges[i] is the upper edge of layer i. */
function edgesMake(layers: Layer[], count: number): Float64Array[] {
  const edges: Float64Array[] = [];
  let below = new Float64Array(count);
  for (const { values } of layers) {
    const edge = new Float64Array(count);
    for (let i = 0; i < count; i++) edge[i] = below[i]! + (values[i] ?? 0);
    edges.push(edge);
    below = edge;
  }
  return edges;
}

/** What a drawing is of: while the next one is made, the last one stays whole. */
interface Scale {
  at: number[];
  layers: Layer[];
  most: number;
  begin: number;
  to: number;
  wide: number;
  height: number;
}

const xOf = (of: Scale, time: number): number => LEFT + ((time - of.begin) / Math.max(1, of.to - of.begin)) * (of.wide - LEFT - RIGHT);
const yOf = (of: Scale, value: number): number => TOP + (1 - value / of.most) * (of.height - TOP - BOTTOM);

function* pathsSteps(of: Scale, edges: Float64Array[]): Generator<void, { of: Scale; paths: { area: string; line: string }[] }> {
  const count = of.at.length, first = of.at.findIndex((time) => time >= of.begin), times = of.at.map((time) => Math.round(xOf(of, time) * 10) / 10), paths: { area: string; line: string }[] = [];
  const line = (edge: Float64Array | null, back: boolean): string => {
    const points: string[] = [];
    for (let i = first; i < count; i++) {
      const k = back ? count - 1 - (i - first) : i;
      points.push(`${times[k]},${Math.round(yOf(of, edge ? edge[k]! : 0) * 10) / 10}`);
    }
    return points.join('L');
  };
  for (let i = 0; count && i < of.layers.length; i++) {
    const edge = line(edges[i]!, false);
    paths.push({ area: `M${edge}L${line(i ? edges[i - 1]! : null, true)}Z`, line: of.layers.length === 1 ? `M${edge}` : '' });
    yield;
  }
  return { of, paths };
}

export function Chart({ title, at, layers, show, top, height = 190, span, binary }: ChartProps): JSX.Element {
  const { of, width } = useWidth(), [spot, setSpot] = useState<number | null>(null);
  const wide = Math.max(240, width), count = at.length, single = layers.length === 1;
  const edges = useMemo(() => edgesMake(layers, count), [layers, at]);
  const upper = edges[edges.length - 1], newest = at[count - 1] ?? 0;
  const most = top ?? Math.max(1, ...(upper ?? [0])) * 1.08;
  const next: Scale = { at, layers, most, begin: span ? newest - span : Math.min(at[0] ?? 0, newest - SHORTEST), to: newest, wide, height };
  const drawn = useSteps(() => pathsSteps(next, edges), [edges, wide, height, most, next.begin, newest]);
  const { begin, to, most: upmost } = drawn?.of ?? next, paths = drawn?.paths ?? [], shownLayers = drawn?.of.layers ?? layers;
  const x = (time: number): number => xOf(drawn?.of ?? next, time), y = (value: number): number => yOf(drawn?.of ?? next, value);
  const first = at.findIndex((time) => time >= begin);
  const nearest = (clientX: number, box: DOMRect): number => {
    const time = begin + ((clientX - box.left - LEFT) / Math.max(1, wide - LEFT - RIGHT)) * (to - begin);
    let best = Math.max(0, first);
    for (let i = best; i < count; i++) if (Math.abs(at[i]! - time) < Math.abs(at[best]! - time)) best = i;
    return best;
  };
  const move = (by: number): void => setSpot((old) => Math.max(Math.max(0, first), Math.min(count - 1, (old ?? count - 1) + by)));
  const shown = spot !== null && spot < count ? spot : null;
  const named = layers.map((layer) => ({ layer, value: shown === null ? layer.values[count - 1] : layer.values[shown] })).filter(({ value }) => typeof value === 'number' && (value > 0 || single));
  const said = (shown === null ? 'now' : timeText(at[shown]!, Math.min(to - begin, 500))) + ': ' + (named.map(({ layer, value }) => (single ? show(value!) : `${layer.name} ${show(value!)}`)).join(', ') || 'nothing');
  return (
    <figure class="chart">
      <figcaption><strong>{title}</strong> <span class="said">{said}</span></figcaption>
      <div ref={of} class="plot" tabIndex={0} role="img" aria-label={`${title} over time; ${said}. Arrow keys read it point by point.`}
        onKeyDown={(event) => { if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') { move(event.key === 'ArrowLeft' ? -1 : 1); event.preventDefault(); } }} onBlur={() => setSpot(null)}>
        {width && count ? (
          <svg width={wide} height={height} viewBox={`0 0 ${wide} ${height}`} aria-hidden="true" onPointerMove={(event) => setSpot(nearest(event.clientX, event.currentTarget.getBoundingClientRect()))} onPointerLeave={() => setSpot(null)}>
            {ticksOf(upmost, top === undefined && !binary, !!binary).map((value) => <g key={value}><line class="rule" x1={LEFT} x2={wide - RIGHT} y1={y(value)} y2={y(value)} /><text x={LEFT - 6} y={y(value) + 4} text-anchor="end">{show(value)}</text></g>)}
            {timesOf(begin, to, Math.max(2, Math.floor(wide / 90))).map((time) => <text key={time} x={Math.min(wide - RIGHT - 24, Math.max(LEFT + 24, x(time)))} y={height - 6} text-anchor="middle">{timeText(time, to - begin)}</text>)}
            {paths.map(({ area }, i) => <path key={shownLayers[i]!.name} class={`area ${shownLayers[i]!.tone} ${shownLayers[i]!.faint ? 'faint' : ''}`} d={area} />)}
            {single ? <path class={`line ${layers[0]!.tone}`} d={paths[0]?.line} /> : null}
            {shown !== null ? <line class="spot" x1={x(at[shown]!)} x2={x(at[shown]!)} y1={TOP} y2={height - BOTTOM} /> : null}
          </svg>
        ) : <div style={{ height: `${height}px` }} />}
      </div>
    </figure>
  );
}

/** What colour is whose. */
export function Legend({ layers }: { layers: Layer[] }): JSX.Element {
  return <ul class="legend">{layers.map((layer) => <li key={layer.name}><span class={`swatch ${layer.tone} ${layer.faint ? 'faint' : ''}`} aria-hidden="true" />{layer.name}</li>)}</ul>;
}
