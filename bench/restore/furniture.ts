import { randomBytes } from 'node:crypto';

import { KubernetesClient } from '../../e2e/cluster/kubernetes-client.ts';

/** Requests under way at once. */
const connections = 8;

/** Sizes are 1, 2, … so many KiB, in turn: 10 KiB on average. */
const sizes = 19;

/** Creates so many ConfigMaps with content that no datastore can compress. */
export async function createFurniture(kubeconfig: string, namespace: string, count: number): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const { connection } = new KubernetesClient(kubeconfig);
      while (next < count) {
        const at = next;
        next += 1;
        const text = randomBytes(((1 + (at % sizes)) * 1024 * 3) / 4).toString('base64');
        await connection.send({
          ...{ method: 'POST', path: `/api/v1/namespaces/${namespace}/configmaps` },
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `map-${at}`, namespace }, data: { text } },
        });
      }
      await connection.close();
    }),
  );
}
