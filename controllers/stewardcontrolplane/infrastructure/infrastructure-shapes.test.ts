import { describe, expect, test } from '@jest/globals';
import { asStored, storedMeta } from '../../../api/as-stored.ts';
import { prune } from '../../../api/structural/prune.ts';
import { validate } from '../../../api/structural/validate.ts';
import { apiVersionOfProvider, definitionsOf } from '../../../testing/builders/infrastructure/definitions.ts';
import type { InfrastructureProvider } from '../../../testing/builders/infrastructure/providers.ts';
import { infrastructureProviders, nextOpenStack } from '../../../testing/builders/infrastructure/providers.ts';
import { mergePatch } from '../../../testing/fake/merge-patch.ts';
import { contractKind, definitionName } from '../../../api/cluster-api/contract-kind.ts';
import type { InfrastructureCluster, InfrastructureStep } from './infrastructure-patch.ts';
import { infrastructureStep } from './infrastructure-patch.ts';
import { infrastructureTable } from './infrastructure-table.ts';

const endpoint = { host: '203.0.113.9', port: 6443 };
const all = [...infrastructureProviders, nextOpenStack];
const named = all.map((provider) => [provider.name, provider] as const);
const isPreset = ({ cluster }: InfrastructureProvider): boolean => infrastructureTable[cluster]?.endpoint === 'preset';

const clusterOf = (provider: InfrastructureProvider, spec: object = {}): InfrastructureCluster => ({
  apiVersion: apiVersionOfProvider(provider),
  kind: provider.cluster,
  metadata: storedMeta({ name: 'a', annotations: provider.example.annotations ?? {} }),
  spec: { ...provider.example.spec, ...spec },
});

const schemaOf = (provider: InfrastructureProvider) =>
  definitionsOf(provider)[0]?.spec.versions[0]?.schema.openAPIV3Schema ?? {};

/** The object as the API server would keep it. */
const kept = (provider: InfrastructureProvider, object: InfrastructureCluster, step: InfrastructureStep) => {
  const { spec, status } = step.is === 'patch' ? step : {};
  const patched = prune(schemaOf(provider), mergePatch(object, { spec, status })) as InfrastructureCluster;
  expect(validate(schemaOf(provider), patched)).toEqual([]);
  return { ...patched, metadata: object.metadata };
};

describe.each(named)('The infrastructure cluster of %s', (_name, provider) => {
  const { contract } = provider;

  test('is found by the contract label of its definition', () => {
    const [definition] = definitionsOf(provider);
    if (definition === undefined) throw new Error('there is none');
    expect(definition.metadata.name).toBe(definitionName('infrastructure.cluster.x-k8s.io', provider.cluster));
    expect(contractKind(asStored(definition), provider.cluster)).toMatchObject({
      contract,
      kind: { version: provider.version },
    });
  });

  test('gets the endpoint in the fields of its kind once', () => {
    const empty = clusterOf(provider);
    const first = infrastructureStep(empty, endpoint, contract);
    expect(first.is).toBe(isPreset(provider) ? 'agreed' : 'patch');
    const after = kept(provider, empty, first);
    expect(JSON.stringify(after.spec)).toContain('203.0.113.9');
    expect(infrastructureStep(after, endpoint, contract)).toEqual({ is: 'agreed' });
  });

  test('with another endpoint is not changed', () => {
    const other = clusterOf(provider, { controlPlaneEndpoint: { host: '203.0.113.77', port: 6443 } });
    expect(infrastructureStep(other, endpoint, contract)).toEqual({
      is: 'mismatch',
      found: '203.0.113.77:6443',
      wanted: '203.0.113.9:6443',
    });
  });

  test('with the right endpoint from its user needs no patch of its spec', () => {
    const step = infrastructureStep(clusterOf(provider, { controlPlaneEndpoint: endpoint }), endpoint, contract);
    expect(step).not.toMatchObject({ spec: expect.anything() });
    expect(step.is).toBe(provider.example.annotations === undefined ? 'agreed' : 'patch');
  });

  test('that is managed by others also gets its provisioned flag, in the field of its contract', () => {
    const annotations = { 'cluster.x-k8s.io/managed-by': 'steward' };
    const managed = {
      ...clusterOf(provider, { controlPlaneEndpoint: endpoint }),
      metadata: storedMeta({ annotations }),
    };
    const step = infrastructureStep(managed, endpoint, contract);
    const flag = contract === 'v1beta2' ? { initialization: { provisioned: true } } : { ready: true };
    expect(step).toEqual({ is: 'patch', status: flag });
    expect(kept(provider, managed, step).status).toEqual(flag);
  });
});

describe('The exceptions for single providers', () => {
  const openStack = infrastructureProviders.find(({ name }) => name === 'openstack') ?? nextOpenStack;
  const dev = infrastructureProviders.find(({ name }) => name === 'docker') ?? nextOpenStack;
  const metal3 = infrastructureProviders.find(({ name }) => name === 'metal3') ?? nextOpenStack;

  test('write an address of OpenStack v1beta1 to its own fields, a name and v1beta2 to that of the contract', () => {
    const step = (provider: InfrastructureProvider, host: string) =>
      infrastructureStep(clusterOf(provider), { host, port: 443 }, provider.contract);
    expect(step(openStack, '10.0.0.1')).toEqual({
      is: 'patch',
      spec: { apiServerFixedIP: '10.0.0.1', apiServerPort: 443 },
    });
    expect(step(openStack, 'a.example.com')).toEqual({
      is: 'patch',
      spec: { controlPlaneEndpoint: { host: 'a.example.com', port: 443 } },
    });
    expect(step(nextOpenStack, '10.0.0.1')).toEqual({
      is: 'patch',
      spec: { controlPlaneEndpoint: { host: '10.0.0.1', port: 443 } },
    });
  });

  test('do not change a different address of OpenStack', () => {
    const other = clusterOf(openStack, { apiServerFixedIP: '10.9.9.9', apiServerPort: 6443 });
    expect(infrastructureStep(other, endpoint, 'v1beta1')).toMatchObject({ is: 'mismatch', found: '10.9.9.9:6443' });
  });

  test('do not fill in Metal3 without an endpoint, which its webhook never admits', () => {
    const empty = { ...clusterOf(metal3), spec: {} };
    expect(infrastructureStep(empty, endpoint, 'v1beta2')).toMatchObject({ is: 'mismatch', found: 'none' });
  });

  test('never write to the in-memory backend of Dev clusters, which would rewrite the kubeconfig', () => {
    const inMemory = clusterOf(dev, { backend: { inMemory: {} } });
    expect(infrastructureStep(inMemory, endpoint, 'v1beta2')).toMatchObject({
      is: 'left',
      because: expect.stringContaining('spec.backend.inMemory'),
    });
  });

  test('are each about a kind in these tests, or say why not', () => {
    const shapes = new Set(all.map(({ cluster }) => cluster));
    // metal-stack documents no fields but the endpoint.
    const without = Object.keys(infrastructureTable).filter((kind) => !shapes.has(kind));
    expect(without).toEqual(['MetalStackCluster']);
  });
});
