// why.tsx: an explanation as docs/why.md has it, readable, with each edit to be tried.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { adLayOut, attributeOf } from '../adtext';
import { type AdText, type Change, type Clause, type Edit, type Hint, type Explained, type Looked, type Side, type Standing, type Why } from '../api';
import { editMake } from '../edits';
import { count, many } from '../format';
import { adLink, route, routeGo, routeWith } from '../route';
import { useStore } from '../store';
import { Bar, Code, Table, Tag } from '../ui';
import { cases, verdicts } from '../words';
import { Reads } from './died';
import { Trial } from './trial';

const joined = (texts: string[]): JSX.Element => (
  <>{texts.map((text, i) => <>{i ? (i === texts.length - 1 ? ' and ' : ', ') : ''}<code key={text}>{text}</code></>)}</>
);

export interface Told {
  one: string; // what the other side is called
  more: string;
}

function Clauses({ of, told }: { of: Looked; told: Told }): JSX.Element | null {
  if (!of.clauses.length) return null;
  return (
    <Table label="Clauses" rows={of.clauses} id={(clause) => String(clause.clause)} columns={[
      { name: 'Clause', cell: (clause) => (
        <>
          <code>{clause.text}</code>
          {clause.means !== clause.text ? <small class="under">that is <code>{clause.means}</code></small> : null}
          {clause.more ? <small class="under">and {many(clause.more, 'more clause')}</small> : null}
          {clause.by_time ? <Tag tone="warn">not at this time</Tag> : null}
        </>
      ) },
      { name: 'True of', number: true, cell: (clause) => count(clause.alone) },
      { name: 'Left with those before', number: true, cell: (clause) => <>{count(clause.left)} <Bar part={clause.left / Math.max(1, of.offers)} tone={clause.left ? undefined : 'warn'} /></> },
      ...(of.clauses.some((clause) => clause.undefined) ? [{ name: 'Undefined', number: true, cell: (clause: Clause) => (clause.undefined ? count(clause.undefined) : '') }] : []),
      ...(of.clauses.some((clause) => clause.error) ? [{ name: `Error`, number: true, cell: (clause: Clause) => (clause.error ? count(clause.error) : '') }] : []),
    ]} empty={`It takes every ${told.one}.`} />
  );
}

const conflictWords: Record<string, string> = { contradiction: 'can never both be true', 'two-types': 'want one attribute to be of two types', 'never-true': 'is false by the ad’s own attributes' };

function hintText(hint: Hint, told: Told, all: number): JSX.Element {
  const name = <code>{hint.name}</code>;
  if (hint.kind === 'no-such-name') return <>No {told.one} has {name}.{hint.nearest ? <> Is <code>{hint.nearest}</code> meant? {many(hint.nearest_offers ?? 0, `${told.one} has it`, `${told.more} have it`)}.</> : null}</>;
  if (hint.kind === 'wrong-type') return <>{name} is a {hint.found} in {many(hint.offers, told.one, told.more)}; it is compared with a {hint.wanted}.</>;
  return <>{name} is missing in {count(hint.offers)} of {many(all, told.one, told.more)}.</>;
}

function changeText(change: Change): JSX.Element {
  if (change.kind === 'drop') return <>leave out <code>{change.from}</code></>;
  const to = <code>{change.to}</code>;
  if (change.kind === 'attribute') return <><code>{change.attribute}</code> = {to}{change.from === null ? ' (new)' : <> instead of <code>{change.from}</code></>}</>;
  return <>{to} instead of <code>{change.from}</code></>;
}

export interface EditsProps {
  of: Looked;
  ad: AdText;
  told: Told;
  port?: string;
  before: Explained; // what is explained now, as a whole
  kind: Side;
}

/** The address says which edit is tried, by what it changes. */
const wordOf = (edit: Edit, port: string | undefined): string => JSON.stringify([port ?? '', ...edit.changes.map((change) => [change.kind, change.attribute ?? change.clause, change.to])]);

function Edits({ of, ad, told, port, before, kind }: EditsProps): JSX.Element | null {
  const word = useStore(route).query.get('try'), found = of.edits.find((edit) => wordOf(edit, port) === word), [last, setLast] = useState<{ edit: Edit; text: string; word: string } | null>(null);
  useEffect(() => {
    if (found && word && last?.word !== word) setLast({ edit: found, text: adLayOut(ad.text), word }); // it stays, though others may be suggested meanwhile
  }, [found, word]);
  const tried = last && last.word === word ? last : null;
  if (!of.edits.length && !tried) return null;
  const edited = tried && editMake(tried.text, tried.edit.changes, of.clauses, port);
  return (
    <>
      <h3>What would help</h3>
      <ul class="edits">
        {of.edits.map((edit, i) => (
          <li key={i}>
            <span>{edit.changes.map((change, j) => <>{j ? ', and ' : ''}{changeText(change)}</>)}</span>
            <span class="quiet">{many(edit.opens, `${told.one} would match`, `${told.more} would match`)}</span>
            <button type="button" aria-pressed={word === wordOf(edit, port)} onClick={() => routeGo(routeWith({ try: wordOf(edit, port) }))}>Try it</button>
          </li>
        ))}
      </ul>
      {of.edits_complete ? null : <p class="note">There may be more.</p>}
      {tried && edited ? <Trial key={edited.text} ad={edited.text} type={ad.type} kind={kind} marks={edited.marks} before={before} /> : null}
      {tried && !edited ? <><p class="problem" role="alert">The clause could not be found in the ad’s text, so the edit has to be made by hand.</p><Code text={tried.text} /></> : null}
    </>
  );
}

/** What is the same for an ad and for a port of a gang. */
export function LookedView({ of, ad, told, port, kind, before }: EditsProps): JSX.Element {
  const clause = (n: number): string => of.clauses.find((one) => one.clause === n)?.text ?? `clause ${n}`;
  return (
    <>
      <Clauses of={of} told={told} />
      {of.conflicts.length || of.blocking.length ? (
        <ul class="reasons">
          {of.conflicts.map(({ clauses, kind }) => <li key={`${kind}${clauses}`}>{joined(clauses.map(clause))} {conflictWords[kind] ?? kind}.</li>)}
          {of.blocking.map(({ clauses, offers, opens }) => (
            <li key={`${clauses}${offers}`}>
              {clauses.length === 0 ? <>No {told.one} takes it; otherwise {many(opens, 'would match', 'would match')}.</>
                : <>No {told.one} satisfies {joined(clauses.map(clause))}{offers ? ' and takes it as well' : clauses.length > 1 ? ' together' : ''}; without that, {count(opens)} would match.</>}
            </li>
          ))}
          {of.blocking_complete ? null : <li>There are more such sets.</li>}
        </ul>
      ) : null}
      {of.refusals.length ? (
        <details open={of.refusals.some((refusal) => refusal.fitting)}>
          <summary>Who refuses it</summary>
          <Table label="Refusals" rows={of.refusals} id={(refusal) => refusal.clause} columns={[
            { name: 'Their clause', cell: (refusal) => <code>{refusal.clause}</code> },
            { name: 'Because', cell: (refusal) => <Reads reads={refusal.reads} /> },
            { name: 'Refuse', number: true, cell: (refusal) => count(refusal.offers) },
            { name: 'Would fit otherwise', number: true, cell: (refusal) => count(refusal.fitting ?? 0) },
            { name: 'First', cell: (refusal) => <a href={adLink(refusal.first)}>{refusal.first}</a> },
          ]} />
          {of.refusals_complete ? null : <p class="note">There are more.</p>}
        </details>
      ) : null}
      {of.hints.length ? <ul class="reasons">{of.hints.map((hint) => <li key={`${hint.kind}${hint.name}`}>{hintText(hint, told, of.offers)}</li>)}</ul> : null}
      <Edits of={of} ad={ad} told={told} port={port} kind={kind} before={before} />
    </>
  );
}

/** What holds a request back, though something would match. */
export function HoldView({ of }: { of: Standing }): JSX.Element | null {
  return of.hold ? <p class="verdict"><Tag tone="warn">held</Tag> {of.hold.text}</p> : null;
}

/** Reasons that only time, or somebody else, takes away: then the clauses of the request explain nothing. */
const waitsFor = ['claiming', 'learns', 'away', 'sick', 'drained', 'owner', 'busy', 'pull', 'port', 'quota', 'limit', 'never'];
export const onlyWaits = (of: Standing): boolean => of.first !== undefined && waitsFor.includes(of.first);

/** Why a request waits: the first reason, what one can do, and what else holds. */
export function ReasonsView({ of, name }: { of: Standing; name: string }): JSX.Element | null {
  const [first, ...others] = of.reasons ?? [];
  if (!first || of.first === 'soon') return null;
  return (
    <>
      <p class="verdict"><Tag tone={onlyWaits(of) ? undefined : of.first === 'never' ? 'bad' : 'warn'}>waits</Tag> {name} {first.text}.{first.do ? <> One can {first.do}.</> : null}</p>
      {others.some((reason) => reason.code !== 'nofit') ? (
        <details><summary>What else holds</summary>
          <ul class="reasons">{others.filter((reason) => reason.code !== 'nofit').map((reason) => <li key={reason.text}>{reason.text}</li>)}</ul>
        </details>
      ) : null}
    </>
  );
}

/** How many of the others are taken. */
export function StandingView({ of, told }: { of: Standing; told: Told }): JSX.Element | null {
  return (
    <>
      {of.taken && told.one === 'request' ? <p>{many(of.taken, 'of these requests has', 'of these requests have')} what was asked for; what is said here is as if they still asked.</p>
        : of.taken ? <p>{many(of.taken, 'of these offers is', 'of these offers are')} taken at the moment; what is said here is as if they were free.</p> : null}
    </>
  );
}

export function WhyView({ why, ad, name }: { why: Why; ad: AdText; name: string }): JSX.Element {
  const offer = why.offer !== undefined, told = offer ? { one: 'request', more: 'requests' } : { one: 'offer', more: 'offers' };
  const good = why.verdict === 'matches';
  if (!offer && onlyWaits(why))
    return (
      <div class="why">
        <ReasonsView of={why} name={name} />
        <details><summary>Its clauses, with nothing in use</summary><LookedView of={why} ad={ad} told={told} kind="request" before={why} /></details>
      </div>
    );
  return (
    <div class="why">
      {offer || good ? null : <ReasonsView of={why} name={name} />}
      <HoldView of={why} />
      {good && why.hold ? <p>But for that it would match.</p> : <p class="verdict"><Tag tone={good ? 'good' : why.verdict === 'never' ? 'bad' : 'warn'}>{good ? 'matches' : why.verdict === 'never' ? 'never' : 'not now'}</Tag> {(why.case && cases[why.case]) ?? verdicts[why.verdict] ?? why.verdict}</p>}
      <p>Of {many(why.offers, told.one, told.more)} <strong>{count(why.fitting)}</strong> fit what {name} asks for, <strong>{count(why.accepting)}</strong> would take it, and <strong>{count(why.matching)}</strong> do both.
        {why.unseen ? ` ${many(why.unseen, 'more was', 'more were')} not looked at: it would have taken too long.` : ''}
        {why.discarded ? ' The policy discards all that match.' : ''}
        {why.ported ? ` ${many(why.ported, 'more offer has', 'more offers have')} ports at which it could not dock.` : ''}</p>
      <StandingView of={why} told={told} />
      {offer && attributeOf(ad.text, 'Ports') ? <p class="note">It has ports: gangs that it could be part of are explained with their requests, not here.</p> : null}
      {why.choice && !offer ? (
        <p>It {why.hold || why.taken ? 'would get' : 'gets'} <a href={adLink(why.choice.offer)}>{why.choice.offer}</a>
          {why.choice.reason === 'only' ? ': there is no other.' : why.choice.reason === 'first' ? ', which comes first of equals.' : <> by <code>{why.choice.text}</code>: {why.choice.value}, where the next best, {why.choice.second}, has {why.choice.second_value}.</>}</p>
      ) : null}
      {good ? <details><summary>Its clauses, one by one</summary><LookedView of={why} ad={ad} told={told} kind={offer ? 'offer' : 'request'} before={why} /></details>
        : <LookedView of={why} ad={ad} told={told} kind={offer ? 'offer' : 'request'} before={why} />}
    </div>
  );
}

