import { expect, test } from '@jest/globals';
import type { ContractCluster } from './contract-cluster.ts';
import type { ContractManagement } from './contract-management.ts';

const label = 'cluster.x-k8s.io/watch-filter';

/** Rule: instances of a provider with different watch filters can run in one management cluster. */
export function severalProviders(
  second: () => ContractManagement,
  clusters: Readonly<Record<'red' | 'green', () => ContractCluster>>,
): void {
  test('A manager with a watch filter reconciles objects with its label, and no others', async () => {
    const [red, green] = [clusters.red(), clusters.green()];
    const create = (color: string, found: ContractCluster): Promise<void> => {
      const manifest = found.controlPlaneManifest();
      return found.apply({ ...manifest, metadata: { ...manifest.metadata, labels: { [label]: color } } });
    };
    const hasStatus = (found: ContractCluster): Promise<unknown> =>
      found.until(found.controlPlane, 'a status', (object) => (object?.status?.conditions ?? []).length > 0);
    const first = await second().startProvider({ watchFilter: 'red', servesWebhooks: true });
    await create('green', green);
    await create('red', red);
    await hasStatus(red);
    expect((await green.read(green.controlPlane)).status?.conditions ?? []).toEqual([]);
    const other = await second().startProvider({ watchFilter: 'green', servesWebhooks: false });
    await hasStatus(green);
    for (const found of [red, green]) {
      await second().client.delete(found.controlPlane);
      await found.gone(found.controlPlane);
    }
    await first.kill();
    await other.kill();
  });
}
