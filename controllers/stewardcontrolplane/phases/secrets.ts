import { kinds } from '../../../api/core/kinds.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { annotations, dataKeys } from '../../../api/names.ts';
import type { Outcome, Phase } from '../../../runtime/phases.ts';
import type { ClusterSecretsInput } from '../components/cluster-secrets.ts';
import { clusterSecretNames, clusterSecrets, holderOf, isTenantsSecret } from '../components/cluster-secrets.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import type { Scope } from '../scope.ts';

/** Writes the kubeconfig and the CA where Cluster API looks for them. */
export function secretsPhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'secrets',
    condition: 'KubeadmResourcesCreated',
    needs: ['address'],
    async run(scope, ctx) {
      const found = await readSecrets(deps, scope, ctx.signal);
      const names = {
        scp: scope.scp,
        cluster: scope.cluster.metadata.name ?? '',
        tenant: scope.tenant?.metadata.name ?? '',
      };
      const { ca } = clusterSecretNames(names.cluster);
      const caIsTenants = isTenantsSecret(found.present.get(ca), names.tenant);
      for (const [name, secret] of found.present) {
        const holder = name === ca && caIsTenants ? undefined : holderOf(secret, names.scp, names.cluster);
        if (holder !== undefined) return takenBy(name, holder);
      }
      const source = sourceOf(scope, found);
      if ('missing' in source) {
        const message = `the TenantControlPlane has not published its ${source.missing} yet`;
        return { is: 'waiting', reason: 'Pending', message };
      }
      const manifests = clusterSecrets({ ...names, ...source, caIsTenants });
      const options = { fieldManager, signal: ctx.signal };
      await Promise.all(manifests.map((manifest) => deps.cluster.apply(kinds.Secret, manifest, options)));
      return { is: 'done', learned: { secretsWritten: true } };
    },
  };
}

/** How soon a Secret in the way, of which no watch of ours tells, is looked at again. */
const lookAgainMs = 10_000;

function takenBy(name: string, holder: string): Outcome<Scope> {
  const message = `Cluster API reads Secret ${name}, and there is one that is not this Cluster's (${holder}): delete it, or give the Cluster another name`;
  return { is: 'waiting', reason: 'OwnedByAnother', message, afterMs: lookAgainMs };
}

interface Found {
  readonly admin: Secret | undefined;
  readonly authority: Secret | undefined;
  /** What stands at the names of the Cluster's Secrets. */
  readonly present: ReadonlyMap<string, Secret | undefined>;
}

async function readSecrets(deps: Dependencies, { scp, cluster, tenant }: Scope, signal: AbortSignal): Promise<Found> {
  const { kubeconfig: kubeconfigs, certificates } = tenant?.status ?? {};
  const namespace = scp.metadata.namespace ?? '';
  const read = (name: string | undefined) =>
    name === undefined ? undefined : deps.cluster.get(kinds.Secret, { namespace, name }, { signal });
  const names = clusterSecretNames(cluster.metadata.name ?? '');
  const [admin, authority, kubeconfig, ca] = await Promise.all([
    read(kubeconfigs?.admin?.secretName),
    read(certificates?.ca?.secretName),
    read(names.kubeconfig),
    read(names.ca),
  ]);
  const present = new Map([
    [names.kubeconfig, kubeconfig],
    [names.ca, ca],
  ]);
  return { admin, authority, present };
}

type Source = Pick<ClusterSecretsInput, 'kubeconfig' | 'ca'> | { readonly missing: string };

/** What the TenantControlPlane published. */
function sourceOf({ scp }: Scope, { admin, authority }: Found): Source {
  const key = scp.metadata.annotations?.[annotations.kubeconfigSecretKey] ?? 'admin.conf';
  const kubeconfig = admin?.data?.[key];
  if (kubeconfig === undefined) return { missing: `kubeconfig (key ${key})` };
  const { ca: keys } = dataKeys;
  // While authorities are rotated, joining machines are to know all of them.
  const certificate = authority?.data?.[keys.bundle] ?? authority?.data?.[keys.certificate];
  const caKey = authority?.data?.[keys.key];
  if (certificate === undefined || caKey === undefined) return { missing: 'CA' };
  return { kubeconfig, ca: { certificate, key: caKey } };
}
