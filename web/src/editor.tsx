// editor.tsx: a place to type the language in. CodeMirror comes when it is needed, and lives in a shadow root: there its styles are allowed.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { EditorHandle, Fault } from './editor_core';
import { inTurn } from './turns';

export type { Fault };

const framePass = (): Promise<void> => new Promise((resolve) => inTurn(resolve));

/** The parts of CodeMirror, each run in a frame of its own, and then the editor that is made of them. */
async function coreFetch(): Promise<typeof import('./editor_core')> {
  for (const part of [() => import('./editor_state'), () => import('./editor_view'), () => import('./editor_tongue')]) {
    await part();
    await framePass();
  }
  return import('./editor_core');
}

let core: ReturnType<typeof coreFetch> | undefined;

export interface EditorProps {
  label: string;
  value: string;
  change: (value: string) => void;
  fault?: Fault | null;
  single?: boolean; // one line; Enter is `enter`
  enter?: () => void; // also Ctrl-Enter in many lines
  kind?: () => string | undefined; // whose names are completed
  rows?: number;
}

/** Where CodeMirror could not be fetched: a field of the browser's own, that does as well. */
function Plain({ label, value, change, single, enter, rows }: EditorProps): JSX.Element {
  const typed = (event: JSX.TargetedInputEvent<HTMLInputElement | HTMLTextAreaElement>): void => change(event.currentTarget.value);
  const key = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !enter || !(single || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    enter();
  };
  return (
    <>
      {single ? <input type="text" class="plain-editor" aria-label={label} value={value} onInput={typed} onKeyDown={key} /> : <textarea class="plain-editor" aria-label={label} rows={rows ?? 8} spellcheck={false} value={value} onInput={typed} onKeyDown={key} />}
      <p class="problem" role="alert">The editor could not be fetched: here is a plain field instead, without colours and names. Load the page again to have the editor.</p>
    </>
  );
}

export function Editor(props: EditorProps): JSX.Element {
  const [plain, setPlain] = useState(false), host = useRef<HTMLDivElement>(null), handle = useRef<EditorHandle | null>(null), latest = useRef(props);
  const told = useRef<string[]>([props.value]); // values that the parent has, or will have, from here: the last is what stands in the editor
  latest.current = props;
  useEffect(() => {
    let gone = false;
    const element = host.current!;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open', delegatesFocus: true });
    core ??= coreFetch();
    void core.then(({ editorSteps }) => {
      if (gone) return;
      const first = latest.current.value, steps = editorSteps(root, {
        label: props.label,
        value: first,
        single: props.single ?? false,
        change: (value) => {
          told.current.push(value);
          latest.current.change(value);
        },
        enter: () => latest.current.enter?.(),
        kind: () => latest.current.kind?.(),
      });
      const step = (): void => {
        if (gone) return;
        const { done, value } = steps.next();
        if (!done) {
          inTurn(step);
          return;
        }
        handle.current = value;
        if (latest.current.value !== first) value.show(latest.current.value);
        value.fault(latest.current.fault ?? null);
      };
      inTurn(step);
    }).catch(() => {
      core = undefined; // what could not be fetched is asked for again by the next editor
      if (!gone) setPlain(true);
    });
    return () => {
      gone = true;
      handle.current?.close();
      handle.current = null;
    };
  }, []);
  useEffect(() => {
    const at = told.current.lastIndexOf(props.value);
    if (at >= 0) {
      told.current.splice(0, at); // an echo of what was typed; more may be on its way
      return;
    }
    told.current = [props.value];
    handle.current?.show(props.value);
  }, [props.value]);
  useEffect(() => handle.current?.fault(props.fault ?? null), [props.fault?.line, props.fault?.column, props.fault?.text]);
  return (
    <div class="editing">
      {plain ? <Plain {...props} /> : <div ref={host} class={props.single ? 'editor single' : 'editor'} data-label={props.label} style={{ '--least': props.single ? '35px' : `${(props.rows ?? 8) * 21 + 12}px` }} />}
      <p class="fault" aria-live="polite">
        {props.fault ? `${props.single ? `column ${props.fault.column}` : `line ${props.fault.line}, column ${props.fault.column}`}: ${props.fault.text}` : ''}
      </p>
    </div>
  );
}
