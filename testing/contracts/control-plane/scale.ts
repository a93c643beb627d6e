import { expect, test } from '@jest/globals';
import type { ContractCluster } from './contract-cluster.ts';
import type { Stage } from './stage.ts';

/** Rule: replicas are changed through the scale subresource, whose selector finds the pods. */
export function scale(plain: () => ContractCluster, stage: () => Stage): void {
  test('kubectl scale changes its replicas, and core Cluster API counts them', async () => {
    const found = plain();
    const { plural, apiVersion } = stage().profile;
    const resource = `${plural}.${apiVersion.split('/')[0] ?? ''}/${found.hosted.name}`;
    await stage().management.kubectl('scale', resource, '--namespace', found.namespace, '--replicas', '3');
    await found.until(found.cluster, 'three replicas', (object) => {
      const { replicas, readyReplicas } = (object?.status?.controlPlane ?? {}) as Readonly<Record<string, unknown>>;
      return replicas === 3 && readyReplicas === 3;
    });
  });

  test('The selector for autoscalers selects its pods', async () => {
    const { client } = stage().management;
    const found = plain();
    const { apiVersion, kind, name } = found.controlPlane;
    const path = await client.connection.pathOf(apiVersion, kind, name, found.namespace);
    const { status } = await client.connection.send<{ status: { replicas: number; selector: string } }>({
      ...{ method: 'GET', path: `${path}/scale` },
    });
    expect(status.replicas).toBe(3);
    const selected = Object.fromEntries(status.selector.split(',').map((term) => term.split('=') as [string, string]));
    expect(Object.keys(selected)).not.toEqual([]);
    expect(await stage().hosting.podLabels(found.hosted)).toMatchObject(selected);
  });
}
