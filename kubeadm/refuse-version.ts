import { collectErrors } from './collect-errors.ts';
import type { InvalidInput } from './invalid-input-error.ts';
import { checkUpgrade, parseSupportedVersion } from './versions.ts';
import type { KubernetesVersion } from './versions.ts';

/** The facts by which a wanted version is validated. */
export interface VersionStep {
  /** The field with the wanted version. */
  readonly field: string;
  /** The versions that the control plane has or may have; the step must be allowed from each. Empty before the first start. */
  readonly from: readonly KubernetesVersion[];
  /** The newest hosted minor. */
  readonly newest: number;
}

/**
 * Why a control plane may not get a version; undefined when it may. This is the one rule: admission, preflight and rollout share it.
 * An upgrade that is under way must not lead to skipping a minor, and pods of a later minor may have stored what an older one cannot
 * read, even if not all of them exist yet. The minors in `from` stay allowed when the operator hosts less than before.
 */
export function refuseVersion(wanted: string, { field, from, newest }: VersionStep): InvalidInput | undefined {
  const last = Math.max(newest, ...from.map(({ minor }) => minor));
  const [refusal] = collectErrors(() => {
    const to = parseSupportedVersion(wanted, field, last);
    for (const start of from) checkUpgrade(start, to, field, last);
  });
  return refusal;
}
