import type { Mutant } from './mutant.ts';

/** The file's text as the mutant has it. */
export const mutated = (source: string, { start, end, replacement }: Mutant): string =>
  source.slice(0, start) + replacement + source.slice(end);

/**
 * The file's text with a probe at each mutant's place, which reports when it runs. Probes are only put in: nested ones stay
 * nested, and nothing else of the code changes.
 */
export function probed(source: string, mutants: readonly Mutant[]): string {
  const insertions = mutants.flatMap(({ id, probe: { start, end, statement } }) => {
    const probe = `globalThis.stewardProbe?.('${id}')`;
    const span = end - start;
    return statement
      ? [
          { at: start, order: -span, text: `{${probe};` },
          { at: end, order: span, text: '}' },
        ]
      : [
          { at: start, order: -span, text: `(${probe},(` },
          { at: end, order: span, text: '))' },
        ];
  });
  // Where several begin, the widest begins first; where several end, it ends last; what ends stands before what begins.
  const sorted = insertions.toSorted((a, b) => a.at - b.at || closes(b.order) - closes(a.order) || a.order - b.order);
  let [text, from] = ['', 0];
  for (const { at, text: inserted } of sorted) {
    text += source.slice(from, at) + inserted;
    from = at;
  }
  return text + source.slice(from);
}

const closes = (order: number): number => (order > 0 ? 1 : 0);
