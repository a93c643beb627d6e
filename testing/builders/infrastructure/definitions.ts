import type { InfrastructureProvider } from './providers.ts';
import type { Shape } from './shape.ts';
import { schemaOf } from './shape.ts';

const group = 'infrastructure.cluster.x-k8s.io';

/** A CustomResourceDefinition, as far as these tests make one. */
export interface Definition {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: object;
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: object } }[];
  };
  readonly [field: string]: unknown;
}

/** `apiVersion` of a provider's kinds. */
export const apiVersionOfProvider = ({ version }: InfrastructureProvider): string => `${group}/${version}`;

/** Fields of the status that the contract, and nobody else, gives a cluster. */
const clusterStatus: Readonly<Record<'v1beta1' | 'v1beta2', Shape>> = {
  v1beta1: { ready: 'flag' },
  v1beta2: { initialization: { provisioned: 'flag' } },
};

function definition({ version, contract }: InfrastructureProvider, kind: string, shape: Shape): Definition {
  const plural = `${kind.toLowerCase()}s`;
  const versions = [
    {
      ...{ name: version, served: true, storage: true, subresources: { status: {} } },
      schema: { openAPIV3Schema: schemaOf(shape) },
    },
  ];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { [`cluster.x-k8s.io/${contract}`]: version } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions,
    },
  };
}

const object = { apiVersion: 'text', kind: 'text', metadata: {} } as const satisfies Shape;
const metadata: Shape = { labels: 'map', annotations: 'map' };
const template = (spec: Shape): Shape => ({ ...object, 'spec!': { 'template!': { metadata, 'spec!': spec } } });

/** The definitions of a provider's clusters, machines and their templates: structural schemas that prune what they do not name. */
export function definitionsOf(provider: InfrastructureProvider): readonly Definition[] {
  const { cluster, clusterSpec, machine, machineSpec, contract, notInTemplate = [] } = provider;
  const inTemplate = Object.entries(clusterSpec).filter(([field]) => !notInTemplate.includes(field));
  return [
    definition(provider, cluster, { ...object, spec: clusterSpec, status: clusterStatus[contract] }),
    definition(provider, `${cluster}Template`, template(Object.fromEntries(inTemplate))),
    definition(provider, machine, { ...object, spec: machineSpec, status: clusterStatus[contract] }),
    definition(provider, `${machine}Template`, template(machineSpec)),
  ];
}
