import { writePermissionsPolicy } from '../../../api/names.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import { normalizeVersion } from '../../../kubeadm/versions.ts';
import { ApiError } from '../../../runtime/errors.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import type { Scope } from '../scope.ts';
import { isRolling } from '../state.ts';

/** A tenant's namespaces are made by its API server shortly after it answers. */
const namespacesMs = 100;

/**
 * True while pods of another Kubernetes version replace the old ones: kube-proxy must not be newer than its API server, and
 * nodes that join meanwhile are to find the documents of the version that still answers.
 */
function changesVersion({ tcp, deployment }: Readonly<Scope>): boolean {
  const installed = tcp.status?.kubernetesResources?.version?.version;
  if (installed === undefined || installed === normalizeVersion(tcp.spec.kubernetes.version)) return false;
  return isRolling(deployment, tcp.spec.controlPlane.deployment.replicas);
}

/** True while the tenant denies all writes because its data changes its place. */
export function deniesWrites({ tcp }: Readonly<Scope>): boolean {
  const migration = tcp.status?.storage?.migration;
  return isUnderWay(migration) && migration.policyInTenant === true;
}

/** Why nothing is written inside the tenant for now; undefined when it may be. */
export function putOff(scope: Readonly<Scope>): string | undefined {
  if (deniesWrites(scope)) return 'follows when the data has moved';
  return changesVersion(scope) ? 'follows when all pods have the new version' : undefined;
}

function isDeniedByUs(cause: unknown): boolean {
  const policy = `ValidatingAdmissionPolicy '${writePermissionsPolicy}'`;
  return cause instanceof ApiError && cause.code === 403 && cause.message.includes(policy);
}

/** What an API server says while it has not made its namespaces yet; the applier says before it what was applied. */
const noNamespace = /(?:^|: )namespaces "[^"]+" not found$/;

/**
 * Applies a set inside the tenant; undefined when it is there. A namespace that is not there yet is a matter of moments, and what
 * the spec itself denies is put off: nothing is said about what was there before. Later, when a version is on record, the words are
 * those of somebody in the tenant, who can answer for a whole group of its API.
 */
export async function applied(scope: Readonly<Scope>, work: Promise<void>): Promise<Outcome<Scope> | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    const causes: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    if (causes.every(isDeniedByUs)) return { is: 'done', message: 'follows when spec.writePermissions allows writes' };
    const starts = scope.tcp.status?.kubernetesResources?.version?.version === undefined;
    const early = causes.every(
      (cause) => cause instanceof ApiError && cause.code === 404 && noNamespace.test(cause.message),
    );
    if (!starts || !early) throw error;
    const message = 'the API server of the tenant has not made its namespaces yet';
    return { is: 'waiting', reason: 'ApiServerNotReady', message, afterMs: namespacesMs, elsewhere: error };
  }
}
