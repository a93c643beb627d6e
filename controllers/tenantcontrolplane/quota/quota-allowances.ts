/** Writes that a tenant may make although it has reached its quota, as a CEL expression over the request. */
interface Allowance {
  readonly name: string;
  readonly allows: string;
  /** True for what anybody can repeat for ever: it adds no data, but writes. */
  readonly isRepeatable?: boolean;
}

const all = (...conditions: readonly string[]): string => conditions.map((one) => `(${one})`).join(' && ');
const any = (...conditions: readonly string[]): string => conditions.map((one) => `(${one})`).join(' || ');

const isUpdate = "request.operation == 'UPDATE'";
const isOf = (group: string, ...resources: readonly string[]): string =>
  `request.resource.group == '${group}' && request.resource.resource in [${resources.map((one) => `'${one}'`).join(', ')}]`;
const isSub = (...names: readonly string[]): string =>
  `has(request.subResource) && request.subResource in [${names.map((one) => `'${one}'`).join(', ')}]`;
const isWhole = "!has(request.subResource) || request.subResource == ''";
const isNode = "'system:nodes' in request.userInfo.groups";
const isIn = (...namespaces: readonly string[]): string =>
  `has(request.namespace) && request.namespace in [${namespaces.map((one) => `'${one}'`).join(', ')}]`;

/** The controllers of kube-controller-manager that finish deletions, evictions and what was scaled down. */
const controllers = [
  ...['generic-garbage-collector', 'namespace-controller', 'pod-garbage-collector', 'taint-eviction-controller'],
  ...['deployment-controller', 'replicaset-controller', 'replication-controller', 'statefulset-controller'],
  ...['daemon-set-controller', 'job-controller', 'cronjob-controller', 'disruption-controller', 'node-controller'],
  ...['pvc-protection-controller', 'pv-protection-controller', 'persistent-volume-binder', 'attachdetach-controller'],
  ...['service-controller', 'endpoint-controller', 'endpointslice-controller', 'resourcequota-controller'],
  ...['service-cidrs-controller', 'ttl-after-finished-controller', 'horizontal-pod-autoscaler'],
];

/** kube-controller-manager, whose controllers have accounts of their own, and kube-scheduler. */
const isOfControlPlane = any(
  "request.userInfo.username in ['system:kube-controller-manager', 'system:kube-scheduler']",
  `request.userInfo.username in [${controllers.map((one) => `'system:serviceaccount:kube-system:${one}'`).join(', ')}]`,
);

/** What the API server writes about an object by itself. */
const ofServer = "['managedFields', 'resourceVersion', 'generation']";

/** Nothing in the metadata was added or changed but what the API server writes, and `fields`. */
const sameMetadata = (...fields: readonly string[]): string =>
  `object.metadata.all(k, k in ${ofServer}${fields.map((one) => ` || k == '${one}'`).join('')} || ` +
  '(k in oldObject.metadata && object.metadata[k] == oldObject.metadata[k]))';

const noFinalizerAdded = any(
  '!has(object.metadata.finalizers)',
  all('has(oldObject.metadata.finalizers)', 'object.metadata.finalizers.all(f, f in oldObject.metadata.finalizers)'),
);

/** A holder has the name of a pod and a UUID; a longer one could carry data. */
const longestHolder = 512;

/**
 * Deletions pass because the policy does not apply to them. What passes besides: the writes with which a deletion ends, with which nodes
 * and leaders stay alive, and those that store next to nothing. Everything is refused to the controllers of the control plane that would let
 * the data of the tenant grow, because objects that were stored before can make them create any number of others.
 */
export const allowances: readonly Allowance[] = [
  { name: 'the-api-server', allows: "request.userInfo.username == 'system:apiserver'" },
  { name: 'a-change-of-the-control-plane', allows: all(isUpdate, isOfControlPlane) },
  {
    name: 'where-the-api-server-is',
    allows: all(
      any(isOf('', 'endpoints'), isOf('discovery.k8s.io', 'endpointslices')),
      isIn('default'),
      "has(request.name) && request.name == 'kubernetes'",
    ),
  },
  { name: 'an-eviction', allows: all(isOf('', 'pods'), isSub('eviction')) },
  // A binding may carry annotations for the pod.
  { name: 'a-binding', allows: all(isOf('', 'pods'), isSub('binding'), isOfControlPlane) },
  { name: 'a-scale', allows: isSub('scale'), isRepeatable: true },
  { name: 'the-state-of-a-node', allows: all(isUpdate, isNode, isOf('', 'nodes', 'pods'), isSub('status')) },
  {
    name: 'a-lease-of-the-system',
    allows: all(
      isOf('coordination.k8s.io', 'leases'),
      isIn('kube-system', 'kube-node-lease'),
      any(isNode, isOfControlPlane),
    ),
  },
  {
    name: 'a-renewed-lease',
    isRepeatable: true,
    allows: all(
      isUpdate,
      isOf('coordination.k8s.io', 'leases'),
      sameMetadata(),
      `!has(object.spec) || object.spec.all(k, type(object.spec[k]) != string || size(object.spec[k]) <= ${longestHolder})`,
    ),
  },
  {
    name: 'a-removed-finalizer',
    allows: all(
      isUpdate,
      isWhole,
      'has(oldObject.metadata.deletionTimestamp)',
      sameMetadata('finalizers'),
      noFinalizerAdded,
      "object.all(k, k == 'metadata' || (k in oldObject && object[k] == oldObject[k]))",
    ),
  },
  {
    name: 'the-end-of-a-namespace',
    allows: all(
      isUpdate,
      isOf('', 'namespaces'),
      isSub('finalize'),
      'has(oldObject.metadata.deletionTimestamp)',
      sameMetadata('finalizers'),
      noFinalizerAdded,
      '!has(object.spec) || !has(object.spec.finalizers) || size(object.spec.finalizers) == 0',
    ),
  },
];
