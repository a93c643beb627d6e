import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import { compareVersions } from '../../../kubeadm/versions.ts';
import type { Scope } from '../scope.ts';
import { wantedReplicas } from '../shared/replicas.ts';
import { isRolling } from '../shared/state.ts';
import { targetVersion } from './upgrade-decision.ts';

/**
 * True while pods of another Kubernetes version replace the old ones: kube-proxy must not be newer than its API server, and nodes
 * that join in the meantime must find the documents of the version that still serves.
 */
function changesVersion(scope: Readonly<Scope>): boolean {
  const { installed } = scope.versions;
  if (installed === undefined || compareVersions(installed, targetVersion(scope)) === 0) return false;
  return isRolling(scope.deployment, wantedReplicas(scope.tcp, scope.deployment));
}

/** True while the tenant denies all writes because its data is being migrated. */
export function deniesWrites({ tcp }: Readonly<Scope>): boolean {
  const migration = tcp.status?.storage?.migration;
  return isUnderWay(migration) && migration.policyInTenant === true;
}

/** Why nothing may be written inside the tenant now; undefined when it may. */
export function putOff(scope: Readonly<Scope>): string | undefined {
  if (deniesWrites(scope)) return 'waiting for the migration of the data to finish';
  return changesVersion(scope) ? 'waiting for all pods to run the new version' : undefined;
}
