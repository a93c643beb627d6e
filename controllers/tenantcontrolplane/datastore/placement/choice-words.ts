import type { Choice } from './choose-data-store.ts';

/** Further ones are counted, not named. */
const mostNamed = 12;
const longestReason = 300;

/** Why the best one was chosen, and why the others were not: a line for each DataStore, the best first. */
export function choiceReasons({ fits, refused }: Choice): readonly string[] {
  return shortened([
    ...fits.map(({ name, score, reason }) => `${name}: score ${Math.round(score)}: ${reason}`),
    ...refusedLines(refused),
  ]);
}

/** Why each DataStore does not fit, and what to do. */
export function noFitMessage({ refused }: Pick<Choice, 'refused'>): string {
  if (refused.length === 0) return 'there is no DataStore: create one';
  const lines = shortened(refusedLines(refused)).join('; ');
  return `no DataStore fits: ${lines}. Change one of them, add one, or name one in spec.dataStore`;
}

/** Why a tenant cannot leave its DataStore, and what to do. */
export function noTargetMessage({ refused }: Pick<Choice, 'refused'>): string {
  if (refused.length === 0) return 'there is no other DataStore: create one';
  return `no other DataStore fits: ${shortened(refusedLines(refused)).join('; ')}. Change one of them, or add one`;
}

function refusedLines(refused: Choice['refused']): readonly string[] {
  return refused.map(({ name, reasons }) => {
    const why = `${name}: ${reasons.join(', ')}`;
    return why.length <= longestReason ? why : `${why.slice(0, longestReason - 1)}…`;
  });
}

function shortened(lines: readonly string[]): readonly string[] {
  if (lines.length <= mostNamed) return lines;
  return [...lines.slice(0, mostNamed), `and ${lines.length - mostNamed} more`];
}
