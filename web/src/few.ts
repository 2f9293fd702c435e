// few.ts: many questions, a few at a time: each takes the browser a while to send, and the matchmaker to answer.
const FEW = 4;

/** The answers, in the order of the rows. */
export async function askFew<R, A>(rows: readonly R[], ask: (row: R) => Promise<A>): Promise<A[]> {
  const answers = new Array<A>(rows.length);
  let next = 0;
  const go = async (): Promise<void> => {
    for (let i = next++; i < rows.length; i = next++) answers[i] = await ask(rows[i]!);
  };
  await Promise.all(Array.from({ length: Math.min(FEW, rows.length) }, go));
  return answers;
}
