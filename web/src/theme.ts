// theme.ts: dark or light: as the system says, unless one chooses.
import { storeMake } from './store';

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'berth.theme';
const themes: Theme[] = ['system', 'light', 'dark'];

const kept = localStorage.getItem(KEY) as Theme | null;
export const theme = storeMake<Theme>(kept && themes.includes(kept) ? kept : 'system');

function show(): void {
  const chosen = theme.get();
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

export function themeNext(): void {
  theme.set(themes[(themes.indexOf(theme.get()) + 1) % themes.length]!);
  localStorage.setItem(KEY, theme.get());
  show();
}

show();
