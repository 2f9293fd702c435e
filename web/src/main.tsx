// main.tsx: starts the page.
import { render } from 'preact';
import { App } from './app';
import { liveStart } from './live';
import './theme';
import { codeTake } from './views/signin';

const code = codeTake();
liveStart();
render(<App code={code} />, document.getElementById('page')!);
