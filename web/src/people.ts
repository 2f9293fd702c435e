// people.ts: a colour for each user, the same in every view. They mean nothing else: red, amber and green are never among them.
const COLOURS = 9; // as style.css has them: u0 to u8; the last is for all others
const known = new Map<string, number>();

/** The class that colours what belongs to that user. */
export function userClass(name: string | undefined): string {
  if (name === undefined) return `u${COLOURS - 1}`;
  let place = known.get(name);
  if (place === undefined) known.set(name, (place = known.size % (COLOURS - 1)));
  return `u${place}`;
}

export const othersClass = `u${COLOURS - 1}`;
