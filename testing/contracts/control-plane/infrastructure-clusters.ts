import { describe, expect, test } from '@jest/globals';
import type { ContractCluster } from './contract-cluster.ts';
import { infrastructureVersion } from './infrastructure.ts';

const kinds = ['ContractCluster', 'OlderCluster', 'UnfitCluster'] as const;

/** A Cluster for each kind of infrastructure cluster, by kind. */
export type ByInfrastructure = Readonly<Record<(typeof kinds)[number], () => ContractCluster>>;

/**
 * Rule: an infrastructure cluster that is managed by others gets endpoint and provisioned flag, in the fields of its
 * contract.
 * @returns what creates the Clusters.
 */
export function infrastructureClusters(clusters: ByInfrastructure): () => Promise<void> {
  const infrastructureOf = (kind: keyof ByInfrastructure) => clusters[kind]().at(infrastructureVersion, kind);

  describe.each([
    ['ContractCluster', 'v1beta2', { initialization: { provisioned: true } }],
    ['OlderCluster', 'v1beta1', { ready: true }],
  ] as const)('%s, of contract %s', (kind, _, flag) => {
    test('gets the endpoint, and in the field of its contract that it is provisioned', async () => {
      const found = clusters[kind]();
      await found.available();
      const [own, infrastructure] = await Promise.all([
        found.read(found.controlPlane),
        found.read(infrastructureOf(kind)),
      ]);
      expect(infrastructure.spec?.controlPlaneEndpoint).toEqual(own.spec?.controlPlaneEndpoint);
      expect(infrastructure.status).toEqual(flag);
    });
  });

  test('An infrastructure cluster that loses what is written to it is named, and not written endlessly', async () => {
    const found = clusters.UnfitCluster();
    const before = await found.read(infrastructureOf('UnfitCluster'));
    const told = await found.until(found.controlPlane, 'a word about the infrastructure', (object) =>
      (object?.status?.conditions ?? []).some(({ message = '' }) => message.includes('UnfitCluster')),
    );
    expect(told.status?.conditions?.find(({ message = '' }) => message.includes('UnfitCluster'))?.status).not.toBe(
      'True',
    );
    const after = await found.read(infrastructureOf('UnfitCluster'));
    // The API server prunes everything, so nothing is ever stored.
    expect(after.spec).toEqual(before.spec);
  });

  return async () => {
    for (const kind of kinds) {
      const found = clusters[kind]();
      await found.apply(found.infrastructureManifest(kind), found.clusterManifest(kind), found.controlPlaneManifest());
    }
  };
}
