import { writePermissionsPolicy } from '../../../api/names.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import { compareVersions } from '../../../kubeadm/versions.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { Scope } from '../scope.ts';
import { targetVersion } from '../upgrade/upgrade-decision.ts';
import { isRolling } from './state.ts';

/** A tenant's API server creates its namespaces shortly after it starts to answer. In milliseconds. */
const namespacesMs = 100;

/**
 * True while pods of another Kubernetes version replace the old ones: kube-proxy must not be newer than its API server, and nodes
 * that join in the meantime must find the documents of the version that still serves.
 */
function changesVersion(scope: Readonly<Scope>): boolean {
  const { installed } = scope.versions;
  if (installed === undefined || compareVersions(installed, targetVersion(scope)) === 0) return false;
  return isRolling(scope.deployment, scope.tcp.spec.controlPlane.deployment.replicas);
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

function isDeniedByUs(cause: unknown): boolean {
  const policy = `ValidatingAdmissionPolicy '${writePermissionsPolicy}'`;
  return cause instanceof ApiError && cause.code === 403 && cause.message.includes(policy);
}

/** The error of an API server that has not created its namespaces yet; the applier prefixes it with the applied object. */
const noNamespace = /(?:^|: )namespaces "[^"]+" not found$/;

/**
 * Applies a set inside the tenant; undefined when it succeeded. A missing namespace is a matter of moments, and what the spec
 * itself denies is postponed: this says nothing about what was there before. Once a version is recorded, such an error may come
 * from someone inside the tenant, who can serve a whole group of its API.
 */
export async function applied(scope: Readonly<Scope>, work: Promise<void>): Promise<Outcome<Scope> | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    const causes: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    if (causes.every(isDeniedByUs)) return { is: 'done', message: 'waiting for spec.writePermissions to allow writes' };
    const starts = scope.versions.installed === undefined;
    const early = causes.every(
      (cause) => cause instanceof ApiError && cause.code === 404 && noNamespace.test(cause.message),
    );
    if (!starts || !early) throw error;
    const message = 'the API server of the tenant has not created its namespaces yet';
    return { is: 'waiting', reason: 'ApiServerNotReady', message, afterMs: namespacesMs, elsewhere: error };
  }
}
