import { isDeepStrictEqual } from 'node:util';

import type { KubernetesClient, ObjectAddress, PlainObject } from '../../cluster/kubernetes-client.ts';
import { logStep } from '../log.ts';

/** What somebody else does to an object of ours inside a tenant: a strategic merge patch, or its deletion. */
export interface ForeignEdit {
  readonly object: ObjectAddress;
  readonly patch: Readonly<Record<string, unknown>> | 'delete';
}

const system = (apiVersion: string, kind: string, name: string): ObjectAddress => ({
  apiVersion,
  kind,
  namespace: 'kube-system',
  name,
});
const rbac = 'rbac.authorization.k8s.io/v1';
const podSpec = (fields: Readonly<Record<string, unknown>>): ForeignEdit['patch'] => ({
  spec: { template: { spec: fields } },
});

/**
 * Edits of objects of each add-on and of what kubeadm writes. The last one takes the administrator's own rights away: those before
 * it are done with them.
 */
export const foreignEdits: readonly ForeignEdit[] = [
  { object: system('v1', 'Service', 'kube-dns'), patch: { metadata: { labels: { 'kubernetes.io/name': 'Spoiled' } } } },
  {
    object: system('apps/v1', 'Deployment', 'coredns'),
    patch: podSpec({ containers: [{ name: 'coredns', image: 'example.org/spoiled:1' }] }),
  },
  { object: system('apps/v1', 'DaemonSet', 'kube-proxy'), patch: 'delete' },
  { object: system('v1', 'ConfigMap', 'kube-proxy'), patch: { data: { 'config.conf': 'spoiled' } } },
  { object: system('apps/v1', 'DaemonSet', 'konnectivity-agent'), patch: podSpec({ serviceAccountName: 'spoiled' }) },
  { object: system('v1', 'ServiceAccount', 'konnectivity-agent'), patch: 'delete' },
  { object: system('v1', 'ConfigMap', 'kubeadm-config'), patch: 'delete' },
  { object: system(rbac, 'Role', 'kubeadm:nodes-kubeadm-config'), patch: { rules: [] } },
  { object: { apiVersion: rbac, kind: 'ClusterRoleBinding', name: 'kubeadm:cluster-admins' }, patch: 'delete' },
];

/** What an object says, without what its controllers and the API server note of it. */
const contentOf = ({ metadata, spec, data, rules, subjects, roleRef }: PlainObject): unknown => ({
  labels: metadata?.labels,
  spec,
  data,
  rules,
  subjects,
  roleRef,
});

/**
 * Does these edits one after the other, waits until every object is as it was before, and tells how long that took.
 * @throws Error that names each object that is not within that time.
 */
export async function undoneWithin(
  timeoutMs: number,
  tenant: KubernetesClient,
  edits: readonly ForeignEdit[],
  diagnose: () => Promise<string>,
): Promise<void> {
  const done: { readonly object: ObjectAddress; readonly before: PlainObject; readonly at: number }[] = [];
  for (const { object, patch } of edits) {
    const before = await tenant.read(object);
    if (before === undefined) throw new Error(`there is no ${object.kind} ${object.name} that could be edited`);
    const edited = await edit(tenant, object, patch);
    if (hasContentOf(edited, before)) throw new Error(`${object.kind} ${object.name} is the same after the edit`);
    done.push({ object, before, at: performance.now() });
  }
  const what = 'what it was before it was edited';
  const outcomes = await Promise.allSettled(
    done.map(async ({ object, before, at }) => {
      await tenant.waitFor(object, (seen) => hasContentOf(seen, before), { timeoutMs, what });
      return `${object.kind} ${object.name} ${((performance.now() - at) / 1000).toFixed(1)} s`;
    }),
  );
  const failed = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
  if (failed.length > 0) throw new Error([...failed, await diagnose()].join('\n'));
  logStep(
    'edited, and as before',
    outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])).join(', '),
  );
}

const hasContentOf = (seen: PlainObject | undefined, before: PlainObject): boolean =>
  seen !== undefined && isDeepStrictEqual(contentOf(seen), contentOf(before));

/** The object as the API server has it right after the edit. */
async function edit(
  { connection }: KubernetesClient,
  { apiVersion, kind, name, namespace }: ObjectAddress,
  patch: ForeignEdit['patch'],
): Promise<PlainObject | undefined> {
  const path = await connection.pathOf(apiVersion, kind, name, namespace);
  if (patch !== 'delete') {
    const contentType = 'application/strategic-merge-patch+json';
    return connection.send<PlainObject>({ method: 'PATCH', path, contentType, body: patch });
  }
  await connection.send({ method: 'DELETE', path });
  return undefined;
}
