// turns.ts: one thing in a frame: what is drawn waits for its turn, a turn waits while a frame has had enough already, and how much a turn may bring follows from what others took.
import { options } from 'preact';

const ROOM = 2; // milliseconds of a frame that others have had; then a turn waits for the next
const QUICK = 2, SLOW = 3.2, PACE_LEAST = 0.1, PACE_MOST = 1.4; // milliseconds of script and layout in a frame

let spent = 0; // what the page's own script has taken since the last frame was laid out
let paced = 1;

/** How much may be drawn in a frame: 1 is what a list thinks right; less where frames were long lately, more where they were short. */
export const pace = (): number => paced;

/** Does what belongs to the frame that comes: a turn that waits leaves it alone if that was much. */
export function timed(what: () => void): void {
  const began = performance.now();
  try {
    what();
  } finally {
    spent += performance.now() - began;
  }
}

options.debounceRendering = (draw) => queueMicrotask(() => timed(draw)); // all that Preact draws anew

const turns: (() => void)[] = [];
let turning = false, waited = false;

/** Behind the frame that comes, which is laid out now, for that takes time, too: the frame would do it right after this. What nobody sees has no frames. */
function turnSoon(): void {
  if (document.hidden) {
    spent = 0;
    return void window.setTimeout(turnNext);
  }
  requestAnimationFrame(() => {
    const began = performance.now();
    void document.documentElement.offsetHeight;
    const took = spent + performance.now() - began;
    if (took > SLOW) paced = Math.max(PACE_LEAST, paced * 0.6);
    else if (took < QUICK) paced = Math.min(PACE_MOST, paced * 1.1);
    spent = 0;
    window.setTimeout(turnNext);
  });
}

function turnNext(): void {
  if (spent > ROOM && !waited) {
    waited = true;
    return turnSoon();
  }
  waited = false;
  try {
    const turn = turns.shift();
    if (turn) timed(turn);
  } finally {
    turning = turns.length > 0;
    if (turning) turnSoon();
  }
}

/** Does it in a frame of its own, after all that was asked for before: what a turn asks for, too, comes in a later frame. Returns how to leave the row. */
export function inTurn(what: () => void): () => void {
  const turn = (): void => what(); // another one each time, so that it can be found
  turns.push(turn);
  if (!turning) {
    turning = true;
    spent = 0; // it was of frames that are over
    turnSoon();
  }
  return () => {
    const place = turns.indexOf(turn);
    if (place >= 0) turns.splice(place, 1);
  };
}

/** The same for what comes again and again: it waits in one turn at most. */
export function onceInTurn(what: () => void): () => void {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    inTurn(() => {
      waits = false;
      what();
    });
  };
}
