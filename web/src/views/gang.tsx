// gang.tsx: a gang as the tree that it is: ports, who docks there, and where the search ended.
import type { ComponentChildren, JSX } from 'preact';
import { attributeOf, cut, itemsOf, type Part } from '../adtext';
import type { AdText, Docked, GangWhy, Port } from '../api';
import { count, many } from '../format';
import { Code, Tag } from '../ui';
import { gangVerdicts } from '../words';
import { DiedText, Who, whoAll } from './died';
import { HoldView, LookedView, ReasonsView, StandingView } from './why';

interface Entry {
  label: string | null; // null: a group
  choose?: string;
  optional: boolean;
  count?: string;
  text: string;
  entries: Entry[];
}

/** The ports as the ad has them: groups hold others. */
function entriesRead(ad: string, of?: Part): Entry[] {
  const ports = attributeOf(ad, 'Ports', of);
  return (ports ? itemsOf(ad, ports.value) : []).map((part) => {
    const said = (name: string): string | undefined => {
      const attribute = attributeOf(ad, name, part);
      return attribute && cut(ad, attribute.value);
    };
    const group = said('Ports') !== undefined;
    return {
      label: group ? null : (said('Label') ?? '?').replace(/^"|"$/g, ''),
      choose: said('Choose'),
      optional: said('Essential') === 'false' || /^\{?\s*0/.test(said('Choose') ?? said('Count') ?? ''),
      count: said('Count'),
      text: cut(ad, part),
      entries: group ? entriesRead(ad, part) : [],
    };
  });
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const keyOf = (of: Docked, label: string): string | undefined => Object.keys(of).find((key) => same(key, label));

/** Ports of whoever docks at `path`: `Cpu.Disk` is under `Cpu`. */
const below = (docked: Docked, path: string): string[] =>
  Object.keys(docked).filter((key) => key.length > path.length && same(key.slice(0, path.length + 1), `${path}.`) && !key.slice(path.length + 1).includes('.'));

function Members({ docked, path }: { docked: Docked; path: string }): JSX.Element | null {
  const keys = below(docked, path);
  if (!keys.length) return null;
  return (
    <ul>
      {keys.map((key) => (
        <li key={key}>
          <span class="node"><span class="label">{key.slice(path.length + 1)}</span> <Who who={whoAll(docked[key])} />{whoAll(docked[key]).length ? null : <Tag>stays empty</Tag>}</span>
          <Members docked={docked} path={key} />
        </li>
      ))}
    </ul>
  );
}

interface Scene {
  why: GangWhy;
  ad: AdText;
  never?: boolean; // whatever the pool holds: that is a fault of the ad; else it waits for somebody who fits
}

function PortNode({ entry, scene }: { entry: Entry; scene: Scene }): JSX.Element {
  const { why, ad } = scene, label = entry.label ?? '';
  const docked = why.gang ?? why.died?.docked ?? {};
  const key = keyOf(docked, label), who = whoAll(key === undefined ? undefined : docked[key]);
  const port: Port | undefined = why.ports.find((one) => same(one.port, label));
  const died = why.died && same(why.died.port, label) ? why.died : null;
  const together = why.together.some((one) => same(one, label));
  let mark: ComponentChildren;
  if (died) mark = <Tag tone={scene.never ? 'bad' : 'warn'}>the search ended here</Tag>;
  else if (who.length) mark = why.gang ? <Tag tone="good">docked</Tag> : <Tag>docked in the search</Tag>;
  else if (why.gang) mark = <Tag>stays empty</Tag>;
  else mark = <Tag>not reached</Tag>;
  return (
    <li>
      <span class={`node ${died ? (scene.never ? 'bad' : 'warn') : who.length ? 'good' : ''}`}>
        <span class="label">{label}</span> <Who who={who} /> {mark}
        {entry.optional ? <Tag>may stay empty</Tag> : null}
        {entry.count ? <Tag>count {entry.count}</Tag> : null}
        {together ? <Tag tone="warn">{why.together.length > 1 ? 'not together' : 'cannot be filled'}</Tag> : null}
        {port ? <span class="quiet"> {count(port.matching)} of {port.offers === why.offers ? many(port.offers, 'offer') : many(port.offers, 'port of offers', 'ports of offers')} fit</span> : null}
      </span>
      <Members docked={docked} path={key ?? label} />
      {died ? <DiedText died={died} where={<>here</>} /> : null}
      <details open={port !== undefined && port.verdict !== 'matches'}>
        <summary>Port {label}</summary>
        {port ? <LookedView of={port} ad={ad} told={{ one: 'offer', more: 'offers' }} port={label} kind="request" before={why} /> : <Code text={entry.text} />}
      </details>
    </li>
  );
}

function Nodes({ entries, scene }: { entries: Entry[]; scene: Scene }): JSX.Element {
  return (
    <ul>
      {entries.map((entry, i) => entry.label !== null ? <PortNode key={entry.label} entry={entry} scene={scene} /> : (
        <li key={i}>
          <span class="node"><span class="label">choose {entry.choose ?? 'all'}</span> of {entry.entries.length} {entry.optional ? <Tag>may stay empty</Tag> : null}</span>
          <Nodes entries={entry.entries} scene={scene} />
        </li>
      ))}
    </ul>
  );
}

export function GangTree({ why, ad }: Scene): JSX.Element {
  const entries = entriesRead(ad.text), good = why.verdict === 'matches', never = why.verdict === 'never';
  const plain = (label: string, optional: boolean): Entry => ({ label, optional, text: ad.text, entries: [] });
  const shown = entries.length ? entries // an ad without ports is its own: then only the explanation names it
    : why.ports.length ? why.ports.map((port) => plain(port.port, port.least === 0))
    : Object.keys(why.gang ?? {}).filter((label) => !label.includes('.')).map((label) => plain(label, false));
  return (
    <div class="why">
      <HoldView of={why} />
      {why.first === 'busy' || why.first === 'pull' || why.first === 'port' || why.first === 'claiming' ? <ReasonsView of={why} name={why.request ?? 'It'} /> : null}
      <p class="verdict"><Tag tone={good ? (why.hold ? undefined : 'good') : never ? 'bad' : 'warn'}>{good ? 'a gang' : 'no gang'}</Tag> {gangVerdicts[why.verdict] ?? why.verdict}</p>
      {why.together.length ? <p>{why.together.length === 1 ? <>Port <strong>{why.together[0]}</strong> cannot be filled.</> : <>The ports <strong>{why.together.join(', ')}</strong> cannot be filled together{why.smallest ? '; every smaller set of them can be' : ''}.</>}</p> : null}
      {why.broken ? <p>{many(why.broken, 'offer has', 'offers have')} ports that are not in order: nobody docks there.</p> : null}
      <StandingView of={why} told={{ one: 'offer', more: 'offers' }} />
      <div class="tree" role="group" aria-label="The gang">
        <span class="node root"><strong>{why.request ?? 'request'}</strong> <span class="quiet">the root; {many(why.offers, 'offer')} looked at</span></span>
        <Nodes entries={shown} scene={{ why, ad, never }} />
      </div>
    </div>
  );
}
