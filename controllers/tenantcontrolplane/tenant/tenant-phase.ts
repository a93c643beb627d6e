import type { ConfigMap } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { tenantObjects } from '../../../api/names.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { kubeadmConfigMap } from './kubeadm-config-map.ts';
import { trustingPods } from '../certificates/rotation/restart-on-trust-change.ts';
import { bootstrapDocuments, coreDnsManifests, kubeadmDocuments, kubeProxyManifests } from './tenant-documents.ts';
import type { DocumentInput } from './tenant-documents.ts';
import type { Dependencies, TenantSet } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { targetVersion } from '../upgrade/upgrade-decision.ts';
import { tenantKinds } from '../shared/tenant-kinds.ts';
import { applied, putOff } from '../shared/inside-tenant.ts';

function inputOf(scope: Readonly<Scope>): DocumentInput {
  return { tcp: scope.tcp, endpoint: needed(scope.endpoint, 'endpoint'), version: targetVersion(scope) };
}

/** Shows administrators of the management cluster the kubeadm configuration of this tenant. */
export async function kubeadmconfig(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const documents = kubeadmDocuments(inputOf(scope), needed(scope.store, 'store').binding);
  const manifest = kubeadmConfigMap(scope.tcp, documents);
  await deps.apply<ConfigMap>(scope, manifest, ctx);
  const { kubeadmConfig: name } = tenantObjects(scope.tcp.metadata.name ?? '');
  const sum = checksum({ init: JSON.stringify(documents.init), cluster: JSON.stringify(documents.cluster) });
  return { is: 'done', learned: { kubeadmConfig: { name, checksum: sum } } };
}

/** Applies what joining nodes and administrators need first. */
export async function tenant(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const later = putOff(scope);
  if (later !== undefined) return { is: 'done', learned: { tenantPrepared: true }, message: later };
  const { trusted } = needed(scope.authorities, 'authorities');
  const documents = bootstrapDocuments(inputOf(scope), { ca: trusted });
  const set = { component: 'kubeadm', manifests: documents.manifests, prunes: [] };
  const waiting = await applied(scope, deps.tenants.apply(scope, set, ctx));
  if (waiting?.is === 'waiting') return waiting;
  // Denied: this was applied before writes were denied.
  if (waiting !== undefined) return { ...waiting, learned: { tenantPrepared: true } };
  const bootstrapChecksum = checksum({ clusterInfo: JSON.stringify(documents.clusterInfo) });
  return { is: 'done', learned: { tenantPrepared: true, bootstrapChecksum } };
}

/** The set of an add-on; one that was never enabled is not searched for leftovers. */
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

/**
 * Applies CoreDNS as wanted. The Corefile and the number of replicas are written once: they belong to the tenant's
 * administrators.
 */
export async function coreDNS(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const later = putOff(scope);
  if (later !== undefined) return { is: 'done', message: later };
  const { managed: made, createOnly } = coreDnsManifests(inputOf(scope));
  const managed = trustingPods(scope.tcp, made);
  const set = addonSet(scope, 'coredns', managed, createOnly);
  const applying = set && deps.tenants.apply(scope, { ...set, preservedReplicas: true }, ctx);
  const waiting = applying && (await applied(scope, applying));
  return waiting ?? { is: 'done', learned: { coreDNS: managed.length > 0 } };
}

/** Applies kube-proxy as wanted. */
export async function kubeProxy(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const later = putOff(scope);
  if (later !== undefined) return { is: 'done', message: later };
  const manifests = trustingPods(scope.tcp, kubeProxyManifests(inputOf(scope)));
  const set = addonSet(scope, 'kube-proxy', manifests);
  const waiting = set === undefined ? undefined : await applied(scope, deps.tenants.apply(scope, set, ctx));
  return waiting ?? { is: 'done', learned: { kubeProxy: manifests.length > 0 } };
}
