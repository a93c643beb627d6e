/** The levels of Kubernetes' Pod Security Standards, the widest first. */
export const podSecurityStandards = ['privileged', 'baseline', 'restricted'] as const;
export type PodSecurityStandard = (typeof podSecurityStandards)[number];

/** The label that sets the Pod Security Standard of a namespace. */
export const enforceLabel = 'pod-security.kubernetes.io/enforce';

/** The standard in force, and where it comes from, as a phrase. */
export interface StandardInForce {
  readonly standard: PodSecurityStandard;
  readonly saidBy: string;
}

/** The standard that a text names; undefined for one that names none. */
export function parseStandard(text: string): PodSecurityStandard | undefined {
  return podSecurityStandards.find((standard) => standard === text);
}

/**
 * The standard of a namespace: from its own label, otherwise the manager's default. An unreadable label counts as `restricted`,
 * as it does for Kubernetes.
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
