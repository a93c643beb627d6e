interface LeftOut {
  readonly pattern: RegExp;
  readonly reason: string;
}

/** Conformance tests that are not run here, each with the reason. The first that fits counts. */
const leftOut: readonly LeftOut[] = [
  {
    pattern:
      /^\[sig-architecture\] Conformance Tests should have at least two untainted nodes|Daemon set \[Serial\] should rollback without unnecessary restarts/,
    reason: 'It needs two nodes; the tenant of this run has one worker.',
  },
  {
    pattern: /^\[sig-node\] ImageVolume should succeed with pod and pull policy of Always/,
    reason:
      "It pulls an image from its registry even if the node has it, and looks for Alpine's files in it; the machines of this run cannot reach a registry.",
  },
];

/** Why a test is not run here; undefined for one that is. */
export function leftOutBecause(name: string): string | undefined {
  return leftOut.find(({ pattern }) => pattern.test(name))?.reason;
}
