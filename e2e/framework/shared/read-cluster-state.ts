import { createHash } from 'node:crypto';

import type { PlainObject } from '../../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import { storeContents } from '../store-contents.ts';

/**
 * Kinds whose objects come and go by themselves: what Kubernetes makes for others without owning it, what a kubelet or an API server
 * keeps about itself, and what is gone with what it is about.
 */
const passing = new Set([
  'apiservices.apiregistration.k8s.io',
  'certificatesigningrequests.certificates.k8s.io',
  'componentstatuses',
  'endpoints',
  'endpointslices.discovery.k8s.io',
  'events',
  'events.events.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'ipaddresses.networking.k8s.io',
  'leases.coordination.k8s.io',
  'pods',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
]);

/** Namespaces of Kubernetes itself; no scenario works there. */
const ofKubernetes = 'kube-';

/** Kinds whose spec a scenario may change and has to change back. */
const compared = ['deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'datastores.steward.butlerlabs.dev'];

const columns = [
  '{.apiVersion}',
  '{.kind}',
  '{.metadata.namespace}/{.metadata.name}',
  '{.metadata.ownerReferences[0].kind}',
];
const listing = `jsonpath={range .items[*]}${columns.join('{" "}')}{"\\n"}{end}`;

/**
 * What a management cluster holds that a scenario could leave behind, one line each, in order: objects without an owner, specs of what
 * runs, machines, and everything in the quick-start etcd.
 */
export async function readClusterState(cluster: ManagementCluster): Promise<readonly string[]> {
  const { stdout: kinds } = await cluster.kubectl(['api-resources', '--verbs=list,delete', '-o', 'name']);
  const listed = kinds
    .split('\n')
    .filter((kind) => kind !== '' && !passing.has(kind) && !kind.endsWith('metrics.k8s.io'));
  const [objects, specs, machines, store] = await Promise.all([
    cluster.kubectl(['get', listed.join(','), '-A', '-o', listing]),
    cluster.kubectl(['get', compared.join(','), '-A', '-o', 'json']),
    cluster.harness.machines(),
    storeContents(cluster),
  ]);
  return [
    ...objects.stdout.split('\n').flatMap(objectLine),
    ...(JSON.parse(specs.stdout) as { items: PlainObject[] }).items.flatMap(specLine),
    ...machines.map(({ name }) => `machine ${name}`),
    ...Object.entries(store).flatMap(([what, names]) =>
      (names as readonly string[]).map((name) => `store ${what}: ${name}`),
    ),
  ].toSorted();
}

/** Objects with an owner go with it. */
function objectLine(line: string): readonly string[] {
  const [apiVersion = '', kind = '', name = '', owner = ''] = line.split(' ');
  if (apiVersion === '' || owner !== '' || name.startsWith(ofKubernetes)) return [];
  return [`object ${apiVersion} ${kind} ${name}`];
}

function specLine({ apiVersion = '', kind = '', metadata, spec }: PlainObject): readonly string[] {
  const { namespace = '', name = '', ownerReferences } = metadata ?? {};
  if (namespace.startsWith(ofKubernetes) || ownerReferences !== undefined) return [];
  const digest = createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 12);
  return [`spec of ${apiVersion} ${kind} ${namespace}/${name}: ${digest}`];
}
