// inputs.ts: files that jobs read: named by their hash, sent to the customer's spool in pieces, and written into the jobs' ads.
import { adsOf, attributeOf, attributesOf, cut, itemsOf, type Part } from './adtext';
import { api, ApiError } from './api';
import { Blake2b } from './blake2b';

const PIECE = 512 * 1024;
export const INPUTS_MOST = 64 * 1024 * 1024; // bytes of all together: more is for `berth submit`

export interface Input {
  name: string;
  hash: string;
  size: number;
  runs: boolean; // it is a program
}

const read = async (file: File, at: number): Promise<Uint8Array> => new Uint8Array(await file.slice(at, at + PIECE).arrayBuffer());

/** A script or a program by its first bytes: the browser does not tell what may be executed. */
const isProgram = (first: Uint8Array): boolean => (first[0] === 0x23 && first[1] === 0x21) || (first[0] === 0x7f && first[1] === 0x45 && first[2] === 0x4c && first[3] === 0x46);

/** Sends what the customer does not have of the file; `told` hears how many bytes are done, each counted when it is hashed and when it is sent. */
async function inputSend(desk: string, file: File, told: (bytes: number) => void): Promise<Input> {
  const hashing = new Blake2b();
  let runs = false;
  for (let at = 0; at < file.size; at += PIECE) {
    const piece = await read(file, at);
    if (at === 0) runs = isProgram(piece);
    hashing.add(piece);
    told(piece.length);
  }
  const hash = hashing.end(), input = { name: file.name, hash, size: file.size, runs };
  if (await api.spoolHas(desk, hash)) {
    told(file.size);
    return input;
  }
  for (let at = 0, whole = false; !whole; ) {
    const got = await api.spoolPut(desk, hash, at, file.size, await read(file, at));
    if (!got.whole && got.have <= at) throw new ApiError(0, 'Not sent', `${file.name}: the customer takes no more of it.`);
    told(got.have - at);
    ({ whole, have: at } = got);
  }
  return input;
}

export async function inputsSend(desk: string, files: File[], told: (part: number) => void): Promise<Input[]> {
  const all = files.reduce((sum, file) => sum + file.size, 0), inputs: Input[] = [];
  if (all > INPUTS_MOST) throw new ApiError(413, 'Too large', 'The files are larger than 64 MiB together. `berth submit` sends files of any size.');
  let done = 0;
  for (const file of files) inputs.push(await inputSend(desk, file, (bytes) => told((done += bytes) / Math.max(1, 2 * all))));
  return inputs;
}

const inLanguage = ({ name, hash, size, runs }: Input): string => `[ Name = ${JSON.stringify(name)}; Hash = "${hash}"; Size = ${size}; Mode = ${runs ? 0o755 : 0o644} ]`;

/** The names of files that an ad's Inputs have; null where it names none, or describes them otherwise than by their names. */
function namesOf(text: string, ad: Part): string[] | null {
  const inputs = attributeOf(text, 'Inputs', ad), items = inputs ? itemsOf(text, inputs.value).map((item) => cut(text, item)) : [];
  return items.length && items.every((item) => /^"[^"\\]*"$/.test(item)) ? items.map((item) => item.slice(1, -1)) : null;
}

/** Files that the ads name, as those of a submit file do, and that are not among these. */
export function inputsMissing(text: string, files: { name: string }[]): string[] {
  const named = adsOf(text).flatMap((ad) => namesOf(text, ad) ?? []);
  return [...new Set(named)].filter((name) => !files.some((file) => file.name === name));
}

/** The ads, each with the files. Null when one has Inputs of its own that are not these files. */
export function inputsWrite(text: string, inputs: Input[]): string | null {
  const attribute = `Inputs = { ${inputs.map(inLanguage).join(', ')} }`;
  let made = '', at = 0;
  for (const ad of adsOf(text)) {
    const own = attributeOf(text, 'Inputs', ad);
    if (own) {
      const names = namesOf(text, ad);
      if (!names?.every((name) => inputs.some((input) => input.name === name))) return null;
      made += text.slice(at, own.start) + attribute;
      at = own.end;
      continue;
    }
    const attributes = attributesOf(text, ad), last = attributes[attributes.length - 1];
    const place = last?.end ?? ad.start + 1;
    made += text.slice(at, place) + (last ? '; ' : ' ') + attribute;
    at = place;
  }
  return made + text.slice(at);
}
