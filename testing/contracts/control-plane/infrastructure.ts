import type { PlainObject } from '../../../e2e/cluster/kubernetes-client.ts';
import { definitionsOf } from '../../builders/infrastructure/definitions.ts';
import type { InfrastructureProvider } from '../../builders/infrastructure/providers.ts';

const group = 'infrastructure.cluster.x-k8s.io';

const none = { name: 'contract', docs: '', version: 'v1', machineSpec: {}, example: { spec: {} } } as const;
const endpoint = { host: 'word', port: 'port' } as const;

/** `apiVersion` of all kinds here. */
export const infrastructureVersion = `${group}/v1`;

/**
 * Kinds of an infrastructure provider that has no controller: a ContractCluster of each contract, ContractMachines that become
 * nodes without a machine, and a kind whose label promises a contract that its schema has no field of.
 */
const providers: readonly InfrastructureProvider[] = [
  {
    ...none,
    ...{ contract: 'v1beta2', cluster: 'ContractCluster', clusterSpec: { controlPlaneEndpoint: endpoint } },
    ...{ machine: 'ContractMachine', machineSpec: { providerID: 'text' } },
  },
  {
    ...none,
    ...{ contract: 'v1beta1', cluster: 'OlderCluster', machine: 'OlderMachine' },
    clusterSpec: { controlPlaneEndpoint: { 'host!': 'text', 'port!': 'number' } },
  },
];

/** Its label promises a contract whose fields its schema prunes. */
const unfit: InfrastructureProvider = {
  ...none,
  ...{ contract: 'v1beta2', cluster: 'UnfitCluster', clusterSpec: { region: 'text' }, machine: 'UnfitMachine' },
};

/** Definitions that clusterctl moves the objects of. */
export const infrastructureDefinitions: readonly PlainObject[] = [...providers, unfit]
  .flatMap(definitionsOf)
  .map((definition) => ({
    ...definition,
    metadata: {
      ...definition.metadata,
      labels: { ...definition.metadata.labels, 'clusterctl.cluster.x-k8s.io': '' },
    },
  }));
