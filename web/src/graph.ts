// graph.ts: a workflow laid out in layers: each node stands to the right of all that it waits for; many alike in a layer become one. Of thousands of nodes that
// takes a while: it is done in steps, between which the browser draws.

export interface GraphNode {
  name: string;
  after: string[];
  state: string; // a word for its colour
}

export interface Placed {
  key: string;
  names: string[]; // of the nodes that it stands for
  label: string;
  layer: number;
  row: number;
  counts: Record<string, number>; // how many of them stand how
}

export interface Graph {
  boxes: Placed[];
  edges: [number, number][]; // from the place of one box to that of another
  joined: number[][]; // of each box, the places of its edges
  columns: number[][]; // of each layer, the places of its boxes, from the first row on
  layers: number;
  rows: number;
}

const GROUP = 6; // as many alike in a layer are collapsed
const STEP = 50; // nodes, or boxes, of one step

/** How far each node is from the beginning; what waits in a circle, or for what is not there, begins too. */
function* layersOf(nodes: GraphNode[], places: Map<string, number>): Generator<void, number[]> {
  const layers = new Array<number>(nodes.length).fill(0), left: number[] = [], next: number[][] = nodes.map(() => []);
  yield;
  for (const [i, node] of nodes.entries()) {
    let waits = 0;
    for (const name of node.after) {
      const from = places.get(name);
      if (from === undefined) continue;
      next[from]!.push(i);
      waits++;
    }
    left.push(waits);
    if (i % STEP === STEP - 1) yield;
  }
  yield;
  const ready: number[] = [];
  for (let i = 0; i < left.length; i++) if (!left[i]) ready.push(i);
  for (let at = 0; at < ready.length; at++) {
    for (const to of next[ready[at]!]!) {
      layers[to] = Math.max(layers[to]!, layers[ready[at]!]! + 1);
      if (!--left[to]!) ready.push(to);
    }
    if (at % STEP === STEP - 1) yield;
  }
  return layers;
}

/** What nodes with numbers in their names have in common. */
const family = (name: string): string => name.replace(/\d+/g, '#');

export function* graphSteps(nodes: GraphNode[], opened: Set<string>): Generator<void, Graph> {
  const places = new Map<string, number>();
  for (const [i, node] of nodes.entries()) {
    places.set(node.name, i);
    if (i % STEP === STEP - 1) yield;
  }
  const layers = yield* layersOf(nodes, places), sizes = new Map<string, number>(), groups: string[] = [];
  for (const [i, node] of nodes.entries()) {
    const group = `${layers[i]} ${family(node.name)}`;
    groups.push(group);
    sizes.set(group, (sizes.get(group) ?? 0) + 1);
    if (i % STEP === STEP - 1) yield;
  }
  const boxes: Placed[] = [], boxOf: number[] = [], known = new Map<string, number>();
  for (const [i, node] of nodes.entries()) {
    const group = groups[i]!, key = (sizes.get(group) ?? 0) >= GROUP && !opened.has(group) ? group : `node ${node.name}`;
    let place = known.get(key);
    if (place === undefined) {
      known.set(key, (place = boxes.length));
      boxes.push({ key, names: [], label: '', layer: layers[i]!, row: 0, counts: {} });
    }
    const box = boxes[place]!;
    box.names.push(node.name);
    box.counts[node.state] = (box.counts[node.state] ?? 0) + 1;
    box.label = box.names.length > 1 ? `${family(node.name).replace(/#/g, '…')} × ${box.names.length}` : node.name;
    boxOf.push(place);
    if (i % STEP === STEP - 1) yield;
  }
  const edges = new Map<number, [number, number]>();
  for (const [i, node] of nodes.entries()) {
    for (const name of node.after) {
      const from = places.get(name);
      if (from !== undefined && boxOf[from] !== boxOf[i]) edges.set(boxOf[from]! * boxes.length + boxOf[i]!, [boxOf[from]!, boxOf[i]!]);
    }
    if (i % STEP === STEP - 1) yield;
  }
  yield;
  const all = [...edges.values()], rows = yield* rowsGive(boxes, all), joined: number[][] = boxes.map(() => []), columns: number[][] = [];
  for (const [i, [from, to]] of all.entries()) {
    joined[from]!.push(i);
    joined[to]!.push(i);
    if (i % (4 * STEP) === 4 * STEP - 1) yield;
  }
  yield;
  boxes.forEach((box, i) => (columns[box.layer] ??= []).push(i));
  for (const column of columns) column?.sort((a, b) => boxes[a]!.row - boxes[b]!.row);
  return { boxes, edges: all, joined, columns, layers: boxes.reduce((most, box) => Math.max(most, box.layer), 0) + 1, rows };
}

/** The same at once. */
export function graphMake(nodes: GraphNode[], opened: Set<string>): Graph {
  const steps = graphSteps(nodes, opened);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Rows in each layer, by the middle of what a box is joined with: a few passes to and fro leave few crossings. */
function* rowsGive(boxes: Placed[], edges: [number, number][]): Generator<void, number> {
  const layers: number[][] = [], before: number[][] = boxes.map(() => []), behind: number[][] = boxes.map(() => []), middle = new Float64Array(boxes.length);
  boxes.forEach((box, i) => (layers[box.layer] ??= []).push(i));
  yield;
  for (const [i, [from, to]] of edges.entries()) {
    before[to]!.push(from);
    behind[from]!.push(to);
    if (i % (4 * STEP) === 4 * STEP - 1) yield;
  }
  const place = (layer: number[]): void => layer.forEach((box, row) => { boxes[box]!.row = row - (layer.length - 1) / 2; });
  for (const layer of layers) place(layer ?? []);
  yield;
  let done = 0;
  for (let pass = 0; pass < 4; pass++) {
    const joined = pass % 2 ? behind : before, order = pass % 2 ? [...layers].reverse() : layers;
    for (const layer of order) {
      if (!layer) continue;
      for (const box of layer) {
        let sum = 0;
        for (const other of joined[box]!) sum += boxes[other]!.row;
        middle[box] = joined[box]!.length ? sum / joined[box]!.length : boxes[box]!.row;
      }
      layer.sort((a, b) => middle[a]! - middle[b]! || a - b);
      place(layer);
      if ((done += layer.length) >= STEP) {
        done = 0;
        yield;
      }
    }
  }
  const least = boxes.reduce((lowest, box) => Math.min(lowest, box.row), 0);
  for (const box of boxes) box.row -= least;
  return boxes.reduce((most, box) => Math.max(most, box.row), 0) + 1;
}

/** The node and all that wait for it, however far. */
export function branchOf(nodes: GraphNode[], name: string): string[] {
  const behind = new Map<string, string[]>(), branch = new Set([name]);
  for (const node of nodes) for (const other of node.after) behind.has(other) ? behind.get(other)!.push(node.name) : behind.set(other, [node.name]);
  for (const one of branch) for (const next of behind.get(one) ?? []) branch.add(next);
  return [...branch];
}
