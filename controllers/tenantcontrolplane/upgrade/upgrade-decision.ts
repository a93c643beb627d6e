import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import type { UpgradeHold } from './upgrade-hold.ts';
import type { VersionFacts } from './version-facts.ts';

/** What the preflight decided. */
export interface UpgradeDecision {
  /**
   * The version that this reconcile works towards: the wanted one, or the running one while an upgrade is held or refused. Absent when
   * the wanted one is refused and nothing runs.
   */
  readonly target?: KubernetesVersion;
  /** Why the wanted version is held; absent when it is not. */
  readonly hold?: UpgradeHold;
}

/** The decision about a version that is not held. */
export function unheld({ wanted, installed, running, refusal }: VersionFacts): UpgradeDecision {
  const target = refusal === undefined ? wanted : (running ?? installed);
  return { target };
}

/**
 * The version that this reconcile works towards, for phases that need the preflight. Throws `InvalidInputError` when the wanted
 * version is refused and nothing runs.
 */
export function targetVersion({ versions, upgrade }: Readonly<Scope>): KubernetesVersion {
  const { target } = needed(upgrade, 'upgrade');
  if (target === undefined) throw new InvalidInputError(needed(versions.refusal, 'versions.refusal'));
  return target;
}
