// graph.ts: a workflow laid out in layers: each node stands to the right of all that it waits for; many alike in a layer become one.

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
  layers: number;
  rows: number;
}

const GROUP = 6; // as many alike in a layer are collapsed

/** How far each node is from the beginning; what waits in a circle, or for what is not there, begins too. */
function layersOf(nodes: GraphNode[], places: Map<string, number>): number[] {
  const layers = new Array<number>(nodes.length).fill(0), left = nodes.map((node) => node.after.filter((name) => places.has(name)).length), next: number[][] = nodes.map(() => []);
  nodes.forEach((node, i) => { for (const name of node.after) { const from = places.get(name); if (from !== undefined) next[from]!.push(i); } });
  const ready = left.flatMap((n, i) => (n ? [] : [i]));
  for (let at = 0; at < ready.length; at++)
    for (const to of next[ready[at]!]!) {
      layers[to] = Math.max(layers[to]!, layers[ready[at]!]! + 1);
      if (!--left[to]!) ready.push(to);
    }
  return layers;
}

/** What nodes with numbers in their names have in common. */
const family = (name: string): string => name.replace(/\d+/g, '#');

export function graphMake(nodes: GraphNode[], opened: Set<string>): Graph {
  const places = new Map(nodes.map((node, i) => [node.name, i])), layers = layersOf(nodes, places), sizes = new Map<string, number>();
  const groupOf = (i: number): string => `${layers[i]} ${family(nodes[i]!.name)}`;
  nodes.forEach((_, i) => sizes.set(groupOf(i), (sizes.get(groupOf(i)) ?? 0) + 1));
  const boxes: Placed[] = [], boxOf = new Array<number>(nodes.length), known = new Map<string, number>();
  nodes.forEach((node, i) => {
    const group = groupOf(i), key = (sizes.get(group) ?? 0) >= GROUP && !opened.has(group) ? group : `node ${node.name}`;
    let place = known.get(key);
    if (place === undefined) {
      known.set(key, (place = boxes.length));
      boxes.push({ key, names: [], label: '', layer: layers[i]!, row: 0, counts: {} });
    }
    const box = boxes[place]!;
    box.names.push(node.name);
    box.counts[node.state] = (box.counts[node.state] ?? 0) + 1;
    box.label = box.names.length > 1 ? `${family(node.name).replace(/#/g, '…')} × ${box.names.length}` : node.name;
    boxOf[i] = place;
  });
  const edges = new Map<string, [number, number]>();
  nodes.forEach((node, i) => {
    for (const name of node.after) {
      const from = places.get(name);
      if (from !== undefined && boxOf[from] !== boxOf[i]) edges.set(`${boxOf[from]} ${boxOf[i]}`, [boxOf[from]!, boxOf[i]!]);
    }
  });
  const rows = rowsGive(boxes, [...edges.values()]);
  return { boxes, edges: [...edges.values()], layers: Math.max(0, ...boxes.map((box) => box.layer)) + 1, rows };
}

/** Rows in each layer, by the middle of what a box is joined with: a few passes to and fro leave few crossings. */
function rowsGive(boxes: Placed[], edges: [number, number][]): number {
  const layers: number[][] = [], before: number[][] = boxes.map(() => []), behind: number[][] = boxes.map(() => []);
  boxes.forEach((box, i) => (layers[box.layer] ??= []).push(i));
  for (const [from, to] of edges) { before[to]!.push(from); behind[from]!.push(to); }
  const place = (layer: number[]): void => layer.forEach((box, row) => { boxes[box]!.row = row - (layer.length - 1) / 2; });
  for (const layer of layers) place(layer ?? []);
  for (let pass = 0; pass < 4; pass++) {
    const joined = pass % 2 ? behind : before, order = pass % 2 ? [...layers].reverse() : layers;
    for (const layer of order) {
      if (!layer) continue;
      const middle = new Map(layer.map((box) => [box, joined[box]!.length ? joined[box]!.reduce((sum, other) => sum + boxes[other]!.row, 0) / joined[box]!.length : boxes[box]!.row]));
      layer.sort((a, b) => middle.get(a)! - middle.get(b)! || a - b);
      place(layer);
    }
  }
  const least = Math.min(0, ...boxes.map((box) => box.row));
  for (const box of boxes) box.row -= least;
  return Math.max(0, ...boxes.map((box) => box.row)) + 1;
}

/** The node and all that wait for it, however far. */
export function branchOf(nodes: GraphNode[], name: string): string[] {
  const branch = new Set([name]);
  for (let grown = true; grown;) {
    grown = false;
    for (const node of nodes) if (!branch.has(node.name) && node.after.some((other) => branch.has(other))) { branch.add(node.name); grown = true; }
  }
  return [...branch];
}
