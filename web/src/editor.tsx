// editor.tsx: a place to type the language in. CodeMirror comes when it is needed, and lives in a shadow root: there its styles are allowed.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { EditorHandle, Fault } from './editor_core';
import { inTurn } from './hooks';

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

export function Editor(props: EditorProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null), handle = useRef<EditorHandle | null>(null), latest = useRef(props);
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
        if (!done) return inTurn(step);
        handle.current = value;
        if (latest.current.value !== first) value.show(latest.current.value);
        value.fault(latest.current.fault ?? null);
      };
      inTurn(step);
    }, () => { core = undefined; }); // what could not be fetched is asked for again by the next editor
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
      <div ref={host} class={props.single ? 'editor single' : 'editor'} data-label={props.label} style={{ '--least': props.single ? '35px' : `${(props.rows ?? 8) * 21 + 12}px` }} />
      <p class="fault" aria-live="polite">
        {props.fault ? `${props.single ? `column ${props.fault.column}` : `line ${props.fault.line}, column ${props.fault.column}`}: ${props.fault.text}` : ''}
      </p>
    </div>
  );
}
