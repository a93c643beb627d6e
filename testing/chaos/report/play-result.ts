/** What the faults of one kind came to. */
export interface FaultResult {
  readonly injected: number;
  readonly converged: number;
  /** Objects, users or data left over or doubled. */
  readonly leftOver: number;
  /** Acknowledged operations that are gone. */
  readonly lost: number;
}

/** What a play came to. */
export interface PlayResult {
  readonly name: string;
  readonly about: string;
  readonly seed: number;
  /** Calls of a run that nothing disturbs. */
  readonly calls: number;
  readonly faults: Readonly<Record<string, FaultResult>>;
  /** Runs that did not come to what one comes to that nothing disturbs. */
  readonly breaches: number;
}

const counted = ['injected', 'converged', 'leftOver', 'lost'] as const;

/** All faults of a play together. */
export function sumOf({ faults }: Pick<PlayResult, 'faults'>): FaultResult {
  const sum = { injected: 0, converged: 0, leftOver: 0, lost: 0 };
  for (const one of Object.values(faults)) for (const name of counted) sum[name] += one[name];
  return sum;
}

/** The line of a play. */
export function playLine(result: PlayResult): string {
  const { injected, converged, leftOver, lost } = sumOf(result);
  return `chaos ${result.name}: ${result.calls} calls, ${injected} faults, ${converged} converged, left over or doubled (${leftOver}), operations lost (${lost}), seed ${result.seed}`;
}

/** The last line of a run. */
export function totalLine(results: readonly PlayResult[], seconds: number): string {
  const sums = results.map(sumOf);
  const total = (name: (typeof counted)[number]): number => sums.reduce((sum, one) => sum + one[name], 0);
  const breaches = results.reduce((sum, one) => sum + one.breaches, 0);
  return `chaos: ${total('injected')} attempts, breaches (${breaches}); ${results.length} operations, ${total('converged')} converged, left over or doubled (${total('leftOver')}), operations lost (${total('lost')}); ${seconds.toFixed(0)} s of CPU`;
}
