import { kinds } from '../../../api/core/kinds.ts';
import type { ConfigMap } from '../../../api/core/kinds.ts';
import { tenantObjects } from '../../../api/names.ts';
import { isFirstSpec } from '../../../api/steward/v1alpha1/is-first-spec.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { kubeadmConfigMap } from './kubeadm-config-map.ts';
import { issuerDiscoveryManifests } from './issuer-discovery.ts';
import { bootstrapDocuments, kubeadmDocuments } from './tenant-documents.ts';
import type { DocumentInput } from './tenant-documents.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { targetVersion } from '../upgrade/upgrade-decision.ts';
import { applied } from '../shared/inside-tenant.ts';
import { putOff } from '../upgrade/writes-in-tenant.ts';

function inputOf(scope: Readonly<Scope>, { addons }: Dependencies): DocumentInput {
  return { tcp: scope.tcp, endpoint: needed(scope.endpoint, 'endpoint'), version: targetVersion(scope), addons };
}

/** Shows administrators of the management cluster the kubeadm configuration of this tenant. */
export async function kubeadmconfig(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const documents = kubeadmDocuments(inputOf(scope, deps), needed(scope.store, 'store').binding);
  const manifest = kubeadmConfigMap(scope.tcp, documents);
  await deps.apply<ConfigMap>(scope, manifest, ctx);
  const { kubeadmConfig: name } = tenantObjects(scope.tcp.metadata.name);
  const sum = checksum({ init: JSON.stringify(documents.init), cluster: JSON.stringify(documents.cluster) });
  return { is: 'done', learned: { kubeadmConfig: { name, checksum: sum } } };
}

/** Applies who may read the issuer's discovery document. A first spec that wants none has none to remove. */
async function applyIssuerDiscovery(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<void> {
  const manifests = issuerDiscoveryManifests(scope.tcp);
  if (manifests.length === 0 && isFirstSpec(scope.tcp)) return;
  await deps.tenants.apply(scope, { component: 'issuer', manifests, prunes: [kinds.ClusterRoleBinding] }, ctx);
}

/** Applies what joining nodes and administrators need first. */
export async function tenant(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const later = putOff(scope);
  if (later !== undefined) return { is: 'done', learned: { tenantPrepared: true }, message: later };
  const { trusted } = needed(scope.authorities, 'authorities');
  const documents = bootstrapDocuments(inputOf(scope, deps), { ca: trusted });
  const set = { component: 'kubeadm', manifests: documents.manifests, prunes: [] };
  const waiting = await applied(scope, deps.tenants.apply(scope, set, ctx));
  if (waiting?.is === 'waiting') return waiting;
  // Denied: this was applied before writes were denied.
  if (waiting !== undefined) return { ...waiting, learned: { tenantPrepared: true } };
  const discovery = await applied(scope, applyIssuerDiscovery(scope, deps, ctx));
  if (discovery?.is === 'waiting') return discovery;
  const bootstrapChecksum = checksum({ clusterInfo: JSON.stringify(documents.clusterInfo) });
  return { is: 'done', learned: { tenantPrepared: true, bootstrapChecksum } };
}
