import type { PlainObject } from '../cluster/kubernetes-client.ts';

const group = 'infrastructure.cluster.x-k8s.io';
const version = 'v1alpha1';

/** `apiVersion` of all kinds here. */
export const infrastructureVersion = `${group}/${version}`;

const structural = (spec: object, status: object) => ({
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: { type: 'object', properties: spec },
    status: { type: 'object', properties: status },
  },
});

const initialization = { type: 'object', properties: { provisioned: { type: 'boolean' } } };
const conditions = { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
const machineSpec = {
  providerID: { type: 'string' },
  // Without it this provider writes the CNI configuration of a node; with None an add-on of the tenant has to.
  cni: { type: 'string', enum: ['None'] },
};
/** `version` is what a pool has made the machine for. */
const ownMachineSpec = { ...machineSpec, version: { type: 'string' } };
const poolSpec = { providerIDList: { type: 'array', items: { type: 'string' } } };
const clusterSpec = {
  controlPlaneEndpoint: {
    type: 'object',
    properties: { host: { type: 'string' }, port: { type: 'integer', format: 'int32' } },
  },
};

/** A template has no status: `spec.template` is what objects are made from, labels and annotations included. */
const templateOf = (spec: object): object => {
  const strings = { type: 'object', additionalProperties: { type: 'string' } };
  const metadata = { type: 'object', properties: { labels: strings, annotations: strings } };
  const template = { type: 'object', properties: { metadata, spec: { type: 'object', properties: spec } } };
  return {
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: { type: 'object', properties: { template } },
    },
  };
};

function crd(kind: string, schema: object): PlainObject {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { 'cluster.x-k8s.io/v1beta2': version } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List`, categories: ['cluster-api'] },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

/**
 * The kinds of the e2e infrastructure provider, labeled for the v1beta2 contract: a NetnsCluster is a network of machines
 * without a load balancer, a NetnsMachine the namespaces of one worker with its own containerd and kubelet, a NetnsMachinePool
 * keeps a number of these; all have templates, for a ClusterClass. Status is no subresource, because only the provider writes it.
 */
export const crds: readonly PlainObject[] = [
  crd('NetnsCluster', structural(clusterSpec, { initialization, conditions })),
  crd('NetnsClusterTemplate', templateOf(clusterSpec)),
  crd(
    'NetnsMachine',
    structural(ownMachineSpec, {
      initialization,
      conditions,
      addresses: {
        type: 'array',
        items: { type: 'object', properties: { type: { type: 'string' }, address: { type: 'string' } } },
      },
    }),
  ),
  crd('NetnsMachineTemplate', templateOf(machineSpec)),
  crd(
    'NetnsMachinePool',
    structural(poolSpec, {
      ready: { type: 'boolean' },
      initialization,
      conditions,
      replicas: { type: 'integer', format: 'int32' },
      infrastructureMachineKind: { type: 'string' },
    }),
  ),
  crd('NetnsMachinePoolTemplate', templateOf(poolSpec)),
];
