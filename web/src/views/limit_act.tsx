// limit_act.tsx: another number for a limit, for those who may: the rest of groups, quotas and limits stays as it is.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, ApiError, type Limit } from '../api';
import { useAct } from '../hooks';
import { scopeHas, session } from '../session';
import { useStore } from '../store';
import { Problem } from '../ui';

/** What holds is read, changed at one place, and written under the condition that nobody has changed it meanwhile. */
async function limitPut(name: string, most: number): Promise<void> {
  const { ad, etag } = await api.shares(), limits = ad.Limits ?? {};
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits)) throw new ApiError(409, 'Not a list of numbers', 'the limits are reckoned by an expression: PUT /v1/shares changes them');
  const written = Object.keys(limits).find((one) => one.toLowerCase() === name.toLowerCase()) ?? name;
  await api.sharesPut({ ...ad, Limits: { ...limits, [written]: most } }, etag);
}

const MOST = 1e9;

export function LimitAct({ limit, done }: { limit: Limit; done: () => void }): JSX.Element | null {
  const may = scopeHas(useStore(session), 'config'), [text, setText] = useState(''), most = Number(text), good = /^\d+$/.test(text) && most <= MOST;
  const act = useAct(async () => {
    await limitPut(limit.Name, most);
    setText('');
    done();
  });
  if (may !== true) return null;
  return (
    <form class="acts" onSubmit={(event) => { event.preventDefault(); if (good) void act.run(); }}>
      <input type="number" aria-label={`Limit ${limit.Name}`} min={0} max={MOST} size={6} placeholder={String(limit.Most ?? '')} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <button type="submit" disabled={!good || act.busy} title="As many may be in use at a time">Set limit</button>
      <Problem error={act.error} />
    </form>
  );
}
