/** The levels of Kubernetes' Pod Security Standards, the widest first. */
export const podSecurityStandards = ['privileged', 'baseline', 'restricted'] as const;
export type PodSecurityStandard = (typeof podSecurityStandards)[number];

/** The label by which Pod Security admission is told what pods of a namespace may do. */
export const enforceLabel = 'pod-security.kubernetes.io/enforce';

/** Which standard counts, and who says so: completes the sentence “which … asks for”. */
export interface StandardInForce {
  readonly standard: PodSecurityStandard;
  readonly saidBy: string;
}

/** The standard that a text names; undefined for one that names none. */
export function parseStandard(text: string): PodSecurityStandard | undefined {
  return podSecurityStandards.find((standard) => standard === text);
}

/**
 * The standard of a namespace: that of its own label, else the manager's default. What cannot be read counts as `restricted`, as it does
 * for Kubernetes.
 */
export function standardOf(
  labels: Readonly<Record<string, string>> | undefined,
  byDefault: PodSecurityStandard,
): StandardInForce {
  const given = labels?.[enforceLabel];
  if (given === undefined || given === '') {
    return { standard: byDefault, saidBy: 'the manager’s flag --default-pod-security-standard' };
  }
  return { standard: parseStandard(given) ?? 'restricted', saidBy: `the namespace’s label ${enforceLabel}=${given}` };
}
