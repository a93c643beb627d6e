import { KubernetesClient } from '../../e2e/cluster/kubernetes-client.ts';
import type { AttackResult } from './attack-result.ts';
import type { CpuBudget } from './cpu-budget.ts';
import { floodNamespace } from './flood-writes.ts';

/** Objects that are overwritten at once, each over a connection of its own. Those of all versions fit into what NATS reserves. */
const objects = 4;

/** As much data as a ConfigMap may have. */
const bytes = 1024 * 1024;

/** Overwrites a few large objects again and again, as far as the budget allows: what is stored does not grow, its history does. */
export async function overwriteObjects(
  { kubeconfig, ms }: { readonly kubeconfig: string; readonly ms: number },
  budget: CpuBudget,
): Promise<AttackResult> {
  const end = Date.now() + ms;
  const failures: string[] = [];
  let accepted = 0;
  const writers = Array.from({ length: objects }, async (_, at) => {
    const { connection } = new KubernetesClient(kubeconfig);
    const name = `overwritten-${at}`;
    const path = `/api/v1/namespaces/${floodNamespace}/configmaps`;
    const body = (count: number): object => ({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: floodNamespace } },
      data: { text: String(count).padEnd(bytes, 'x') },
    });
    await connection.send({ method: 'POST', path, body: body(0) });
    for (let count = 1; Date.now() < end; count += 1) {
      await budget.keep();
      try {
        await connection.send({ method: 'PUT', path: `${path}/${name}`, body: body(count) });
        accepted += 1;
      } catch (error) {
        failures.push((error as Error).message);
      }
    }
    const endedAt = Date.now();
    await connection.send({ method: 'DELETE', path: `${path}/${name}` });
    return endedAt;
  });
  return { endedAt: Math.max(...(await Promise.all(writers))), accepted, failures };
}
