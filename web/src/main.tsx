// main.tsx: starts the page.
import { render } from 'preact';
import { App } from './app';
import { liveStart } from './live';
import './theme';
import { scrollKeep } from './scroll';
import { session, sessionEnd } from './session';
import { codeTake, faultTake } from './views/signin';

const code = codeTake(), fault = faultTake();
if (fault && !session.get().token) sessionEnd(fault);
liveStart();
scrollKeep();
render(<App code={code} />, document.getElementById('page')!);
