import { setTimeout as pause } from 'node:timers/promises';

import type { ObjectAddress, PlainObject } from '../../cluster/kubernetes-client.ts';
import type { TenantStage } from '../tenant-stage.ts';

interface PodTemplate {
  metadata: { labels?: Record<string, string> };
  spec: { containers: { name: string; image: string }[]; topologySpreadConstraints?: unknown };
}

/** Whether a Deployment consists of new pods only, all of them available. */
export function isRolledOut(object: PlainObject | undefined): boolean {
  const { spec, status, metadata } = object ?? {};
  const counted = [status?.updatedReplicas, status?.availableReplicas, status?.replicas];
  return (
    object !== undefined &&
    status?.observedGeneration === metadata?.generation &&
    counted.every((count) => (count ?? 0) === spec?.replicas)
  );
}

/**
 * How long Kubernetes itself takes to bring the pods of a control plane to other images: a copy of its Deployment, with the
 * same Secrets and strategy and without anybody who looks after it, is rolled out in the same namespace, and removed again.
 * @returns milliseconds.
 */
export async function bareRollout(stage: TenantStage, of: string, toImage: (image: string) => string): Promise<number> {
  const { client } = stage.cluster;
  const original = await client.read(stage.at('Deployment', of, 'apps/v1'));
  if (original === undefined) throw new Error(`There is no Deployment ${of}.`);
  const name = `${of}-bare`;
  const labels = { app: name };
  const template = structuredClone(original.spec?.template) as PodTemplate;
  template.metadata.labels = labels;
  delete template.spec.topologySpreadConstraints;
  const { strategy, replicas } = original.spec ?? {};
  const bare = (containers: PodTemplate['spec']['containers']): PlainObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: stage.namespace },
    spec: {
      replicas,
      strategy,
      selector: { matchLabels: labels },
      template: { ...template, spec: { ...template.spec, containers } },
    },
  });
  const address: ObjectAddress = stage.at('Deployment', name, 'apps/v1');
  const old = template.spec.containers;
  await client.apply([bare(old)]);
  try {
    await stage.cluster.waitFor(address, isRolledOut, { timeoutMs: 120_000, what: 'the bare pods' });
    const began = performance.now();
    await client.apply([bare(old.map((container) => ({ ...container, image: toImage(container.image) })))]);
    await stage.cluster.waitFor(address, isRolledOut, { timeoutMs: 120_000, what: 'the bare rollout' });
    return performance.now() - began;
  } finally {
    await client.delete(address);
    while ((await client.list('v1', 'Pod', stage.namespace, `app=${name}`)).length > 0) await pause(200);
  }
}
