import type { ConfigMap } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { tenantObjects, writePermissionsPolicy } from '../../../api/names.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import { normalizeVersion } from '../../../kubeadm/versions.ts';
import type { Context } from '../../../runtime/controller.ts';
import { ApiError } from '../../../runtime/errors.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { kubeadmConfigMap } from '../components/kubeadm-config-map.ts';
import {
  bootstrapDocuments,
  coreDnsManifests,
  kubeadmDocuments,
  kubeProxyManifests,
} from '../components/tenant-documents.ts';
import type { DocumentInput } from '../components/tenant-documents.ts';
import type { Dependencies, TenantSet } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { isRolling } from '../state.ts';
import { tenantKinds } from '../tenant-kinds.ts';

/** A tenant's namespaces are made by its API server shortly after it answers. */
const namespacesMs = 100;

function inputOf(scope: Readonly<Scope>): DocumentInput {
  return { tcp: scope.tcp, endpoint: needed(scope.endpoint, 'endpoint') };
}

/** Shows administrators of the management cluster what kubeadm would call this tenant. */
export async function kubeadmconfig(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const documents = kubeadmDocuments(inputOf(scope), needed(scope.store, 'store').binding);
  const manifest = kubeadmConfigMap(scope.tcp, documents);
  await deps.apply<ConfigMap>(scope, manifest, ctx);
  const { kubeadmConfig: name } = tenantObjects(scope.tcp.metadata.name ?? '');
  const sum = checksum({ init: JSON.stringify(documents.init), cluster: JSON.stringify(documents.cluster) });
  return { is: 'done', learned: { kubeadmConfig: { name, checksum: sum } } };
}

/**
 * True while pods of another Kubernetes version replace the old ones: kube-proxy must not be newer than its API server, and
 * nodes that join meanwhile are to find the documents of the version that still answers.
 */
function changesVersion({ tcp, deployment }: Readonly<Scope>): boolean {
  const installed = tcp.status?.kubernetesResources?.version?.version;
  if (installed === undefined || installed === normalizeVersion(tcp.spec.kubernetes.version)) return false;
  return isRolling(deployment, tcp.spec.controlPlane.deployment.replicas);
}

/** Why nothing is written inside the tenant for now; undefined when it may be. */
function putOff(scope: Readonly<Scope>): string | undefined {
  const migration = scope.tcp.status?.storage?.migration;
  if (isUnderWay(migration) && migration.policyInTenant === true) return 'follows when the data has moved';
  return changesVersion(scope) ? 'follows when all pods have the new version' : undefined;
}

function isDeniedByUs(cause: unknown): boolean {
  const policy = `ValidatingAdmissionPolicy '${writePermissionsPolicy}'`;
  return cause instanceof ApiError && cause.code === 403 && cause.message.includes(policy);
}

/** Applies a set inside the tenant; a namespace that is not there yet is a matter of moments. */
async function applied(work: Promise<void>): Promise<Outcome<Scope> | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    const causes: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    // What is to be written follows when the spec allows writes again.
    if (causes.every(isDeniedByUs)) return undefined;
    // A webhook of the tenant may answer 404 for ever, too; only the server itself says it in these words.
    const early = causes.every(
      (cause) =>
        cause instanceof ApiError && cause.code === 404 && /^namespaces "[^"]+" not found$/.test(cause.message),
    );
    if (!early) throw error;
    const message = 'the API server of the tenant has not made its namespaces yet';
    return { is: 'waiting', reason: 'ApiServerNotReady', message, afterMs: namespacesMs };
  }
}

/** What joining nodes and administrators need first. */
export async function tenant(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const later = putOff(scope);
  if (later !== undefined) return { is: 'done', learned: { tenantPrepared: true }, message: later };
  const { binding } = needed(scope.store, 'store');
  const { ca } = needed(scope.authorities, 'authorities');
  const documents = bootstrapDocuments(inputOf(scope), { store: binding, ca: ca.certificate });
  const set = { component: 'kubeadm', manifests: documents.manifests, prunes: [] };
  const waiting = await applied(deps.tenants.apply(scope, set, ctx));
  if (waiting !== undefined) return waiting;
  const bootstrapChecksum = checksum({ clusterInfo: JSON.stringify(documents.clusterInfo) });
  return { is: 'done', learned: { tenantPrepared: true, bootstrapChecksum } };
}

/** The set of an add-on; one that was never asked for needs no search for what is left of it. */
function addonSet(
  scope: Readonly<Scope>,
  component: string,
  manifests: readonly Manifest[],
  createOnly: readonly Manifest[] = [],
): TenantSet | undefined {
  if (manifests.length > 0) return { component, manifests, createOnly, prunes: [] };
  const always = scope.tcp.metadata.generation === 1;
  return always ? undefined : { component, manifests, prunes: tenantKinds };
}

/** CoreDNS as asked for. The Corefile is written once: it belongs to the tenant's administrators. */
export async function coreDNS(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const later = putOff(scope);
  if (later !== undefined) return { is: 'done', message: later };
  const { managed, createOnly } = coreDnsManifests(inputOf(scope));
  const set = addonSet(scope, 'coredns', managed, createOnly);
  const waiting = set === undefined ? undefined : await applied(deps.tenants.apply(scope, set, ctx));
  return waiting ?? { is: 'done', learned: { coreDNS: managed.length > 0 } };
}

/** kube-proxy as asked for. */
export async function kubeProxy(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const later = putOff(scope);
  if (later !== undefined) return { is: 'done', message: later };
  const manifests = kubeProxyManifests(inputOf(scope));
  const set = addonSet(scope, 'kube-proxy', manifests);
  const waiting = set === undefined ? undefined : await applied(deps.tenants.apply(scope, set, ctx));
  return waiting ?? { is: 'done', learned: { kubeProxy: manifests.length > 0 } };
}
