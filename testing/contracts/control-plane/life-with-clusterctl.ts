import { expect, test } from '@jest/globals';
import type { ContractCluster } from './contract-cluster.ts';
import type { ContractManagement } from './contract-management.ts';
import type { Stage } from './stage.ts';

/** Two management clusters, the second with a release of the provider before the current one, without running managers. */
export interface Managements {
  readonly first: () => Stage;
  readonly second: () => ContractManagement;
}

/** Rule: clusterctl brings a provider to its next release with what users wrote. */
export function upgrade({ first, second }: Managements, old: () => ContractCluster): void {
  test('clusterctl upgrades from a release whose definitions have fewer versions, and users’ objects stay unchanged', async () => {
    const { profile } = first();
    const { client, release, publish, clusterctl } = second();
    const [group = ''] = profile.apiVersion.split('/');
    const address = {
      ...{
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        name: `${profile.plural}.${group}`,
      },
    };
    const before = await client.read(address);
    const versionsOf = (of: typeof before): readonly string[] =>
      (of?.spec?.versions as readonly { readonly name: string }[]).map(({ name }) => name);
    const [older = ''] = versionsOf(before);
    const manifest = { ...old().controlPlaneManifest(), apiVersion: `${group}/${older}` };
    await old().apply(manifest);
    await publish(release);
    await clusterctl('upgrade', 'apply', '--control-plane', `${profile.provider}:${release.version}`);
    const after = await client.read(address);
    expect(versionsOf(before)).not.toContain(profile.apiVersion.split('/')[1]);
    expect(versionsOf(after)).toEqual(expect.arrayContaining([older, profile.apiVersion.split('/')[1]]));
    const stored = (after?.status as { storedVersions?: readonly string[] } | undefined)?.storedVersions;
    expect(versionsOf(after)).toEqual(expect.arrayContaining([...(stored ?? ['none'])]));
    expect((await old().read(old().controlPlane)).spec).toMatchObject(manifest.spec ?? {});
    await client.delete(old().controlPlane);
  });
}

/** Rule: a Cluster whose control plane runs elsewhere is moved by clusterctl, and nothing of the tenant is lost. */
export function move(
  { first, second }: Managements,
  roaming: Readonly<Record<'here' | 'there', () => ContractCluster>>,
): void {
  const hosted = 'hosted';

  const reference = async (found: ContractCluster): Promise<void> => {
    const metadata = { name: 'hosting', namespace: found.namespace };
    const kubeconfig = Buffer.from(first().management.server.kubeconfig).toString('base64');
    await found.apply({ apiVersion: 'v1', kind: 'Secret', metadata, data: { kubeconfig } });
  };
  const identity = async (found: ContractCluster): Promise<string | undefined> => {
    const workload = await found.workload();
    return (await workload.read({ apiVersion: 'v1', kind: 'Namespace', name: 'kube-system' }))?.metadata?.uid;
  };
  const movedTo = async (
    from: ContractManagement,
    to: ContractManagement,
    [before, after]: readonly [ContractCluster, ContractCluster],
  ): Promise<void> => {
    const uid = await identity(before);
    const { namespace } = before;
    await from.clusterctl('move', '--namespace', namespace, '--to-kubeconfig', to.server.kubeconfigPath);
    await after.available();
    await before.gone(before.controlPlane);
    expect(await from.client.read(before.cluster)).toBeUndefined();
    expect(await identity(after)).toBe(uid);
    await after.until(after.controlPlane, 'its status again', (object) => object?.status?.readyReplicas === 1);
  };

  test('clusterctl moves a Cluster to another management cluster and back, and its control plane stays the same', async () => {
    const [here, there] = [roaming.here(), roaming.there()];
    const { profile, management } = first();
    const spec = profile.elsewhere?.({ secret: 'hosting', key: 'kubeconfig', namespace: hosted }) ?? {};
    await reference(here);
    await reference(there);
    await here.apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: hosted } },
      here.clusterManifest(),
      here.controlPlaneManifest(spec),
    );
    await second().startProvider();
    await here.available();
    await movedTo(management, second(), [here, there]);
    await movedTo(second(), management, [there, here]);
    await management.client.delete(here.cluster);
    await here.gone(here.cluster);
  });
}
