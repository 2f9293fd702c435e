// keys.tsx: the keyboard: / to search, j and k through rows, g and a letter to a view, ? for help.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { routeGo } from './route';

const places: [string, string, string][] = [['h', 'home', 'Home'], ['j', 'jobs', 'Jobs'], ['s', 'submit', 'Submit'], ['w', 'workflows', 'Workflows'], ['m', 'machines', 'Machines'], ['u', 'users', 'Users'], ['p', 'play', 'Playground']];

const help: [string, string][] = [
  ['/', 'search'], ['j, k', 'the next row, the one before'], ['Enter', 'open it'], ['x', 'choose it'], ['Esc', 'leave a field, close this'],
  ...places.map(([key, , name]): [string, string] => [`g ${key}`, name]), ['?', 'this help'],
];

/** Does what is typed there belong to a field? */
function typing(event: KeyboardEvent): boolean {
  const at = event.composedPath()[0];
  return at instanceof HTMLElement && (at.isContentEditable || (at instanceof HTMLInputElement && at.type !== 'checkbox') || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement);
}

const rows = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('main tbody tr, main .tile, main .attend li')].filter((row) => row.offsetParent !== null);

function rowGo(by: number): void {
  const all = rows(), at = all.findIndex((row) => row.contains(document.activeElement));
  const row = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))];
  const focus = row?.matches('a') ? row : row?.querySelector<HTMLElement>('a, button, input');
  focus?.focus();
  row?.scrollIntoView({ block: 'nearest' });
}

export function Keys(): JSX.Element {
  const [open, setOpen] = useState(false), dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let last = '', lastAt = 0;
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (typing(event)) {
        if (event.key === 'Escape' && event.target instanceof HTMLInputElement) event.target.blur();
        return;
      }
      const place = last === 'g' && Date.now() - lastAt < 1500 ? places.find(([key]) => key === event.key) : undefined;
      last = event.key;
      lastAt = Date.now();
      if (place) routeGo(`#/${place[1]}`);
      else if (event.key === '/') document.querySelector<HTMLElement>('main [data-search]')?.focus();
      else if (event.key === 'j' || event.key === 'k') rowGo(event.key === 'j' ? 1 : -1);
      else if (event.key === 'x') document.activeElement?.closest('tr')?.querySelector<HTMLInputElement>('input[type=checkbox]')?.click();
      else if (event.key === '?') setOpen(true);
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  useEffect(() => {
    if (open) dialog.current?.showModal();
  }, [open]);
  return (
    <>
      <button type="button" class="plain" onClick={() => setOpen(true)}>Keys: ?</button>
      {open ? (
        <dialog ref={dialog} aria-label="Keys" onClose={() => setOpen(false)}>
          <h2>Keys</h2>
          <dl class="keys">{help.map(([key, text]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{text}</dd></div>)}</dl>
          <button type="button" onClick={() => dialog.current?.close()}>Close</button>
        </dialog>
      ) : null}
    </>
  );
}
