import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { addonFields, addonPodFields } from '../../../api/embedded/addons.ts';
import { dataStoreFields, placementFields } from '../../../api/embedded/data-store-fields.ts';
import { deploymentFields } from '../../../api/embedded/deployment-fields.ts';
import { kubernetesFields } from '../../../api/embedded/kubernetes-fields.ts';
import {
  gatewayFields,
  ingressFields,
  loadBalancerFields,
  networkFields,
  serviceFields,
} from '../../../api/embedded/network-fields.ts';
import { fieldLeaves } from '../../../api/generate/field-leaves.ts';
import type { Manifest } from '../../../api/meta.ts';
import { applyDefaults } from '../../../api/structural/apply-defaults.ts';
import { prune } from '../../../api/structural/prune.ts';
import { validate } from '../../../api/structural/validate.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { configuredKubernetes } from '../../../testing/builders/configured-kubernetes.ts';
import { sampleOf } from '../../../testing/builders/sample-value.ts';
import { tenantControlPlaneOf } from './tenant-control-plane.ts';

const probe = {
  initialDelaySeconds: 1,
  timeoutSeconds: 2,
  periodSeconds: 3,
  successThreshold: 1,
  failureThreshold: 5,
};
const probes = { liveness: probe, readiness: probe, startup: probe };
const resources = { requests: { cpu: '10m' } };
const component = {
  extraVolumeMounts: [{ name: 'v', mountPath: '/v' }],
  extraArgs: ['--v=2'],
  resources,
  containerImageName: 'image',
  probes,
};
const container = { name: 'extra', image: 'x' };

/** Every field, as far as they go together. Fields that both kinds have get a value that their schema allows. */
const full = {
  version: '1.36.3',
  replicas: 3,
  rollout: { after: '2025-06-01T00:00:00Z' },
  dataStoreName: 'gold',
  ...sampleOf(dataStoreFields),
  sleep: {
    afterIdle: '30m',
    wakeOn: ['Request'],
    schedules: [{ sleep: '0 20 * * *', wake: '0 7 * * *', timeZone: 'Europe/Berlin' }],
  },
  registry: 'registry.example.org',
  apiServer: component,
  controllerManager: component,
  scheduler: component,
  kine: { extraArgs: ['--debug'], resources },
  ...sampleOf(kubernetesFields),
  ...configuredKubernetes,
  eventTTL: '2h',
  encryption: {
    resources: ['secrets'],
    provider: 'aescbc',
    keySecret: { name: 'keys', key: 'a' },
    keyGeneration: 2,
    kms: { name: 'vault', container: 'vault-kms', timeoutSeconds: 5 },
  },
  serviceAccountIssuer: { url: 'https://a.example', formerURLs: ['https://b.example'], publicDiscovery: true },
  addons: {
    ...sampleOf(addonFields),
    coreDNS: { ...sampleOf(addonPodFields), dnsServiceIPs: ['10.96.0.11'] },
  },
  network: {
    ...sampleOf(networkFields),
    ...sampleOf(serviceFields),
    serviceType: 'LoadBalancer',
    serviceAddress: '192.0.2.1',
    additionalServicePorts: [{ name: 'p', port: 1, targetPort: 2, protocol: 'UDP', appProtocol: 'x' }],
    serviceLabels: { a: 'b' },
    serviceAnnotations: { c: 'd' },
    loadBalancerConfig: sampleOf(loadBalancerFields),
    policy: { ingress: 'Open', egress: 'Open' },
    ingress: {
      ...sampleOf(ingressFields),
      className: 'nginx',
      hostname: 'a.example.org',
      extraLabels: { a: 'b' },
      extraAnnotations: { c: 'd' },
    },
  },
  deployment: {
    ...sampleOf(deploymentFields),
    extraInitContainers: [container],
    extraContainers: [container],
    extraVolumes: [{ name: 'v' }],
    probes,
  },
};

const published = { hostname: 'a.example.org', extraLabels: { a: 'b' }, extraAnnotations: { c: 'd' } };

/** The fields that exclude some of those above. */
const others: readonly object[] = [
  { ...full, network: { ...full.network, ingress: undefined, gateway: { ...sampleOf(gatewayFields), ...published } } },
  {
    ...full,
    network: {
      ...full.network,
      ingress: undefined,
      gateway: { ...published, name: 'gw', namespace: 'n', sectionName: 'tls', port: 443 },
    },
  },
  {
    ...full,
    dataStoreName: undefined,
    ...sampleOf(placementFields),
    addons: { ...full.addons, coreDNS: {} },
  },
];

const cluster: CapiCluster = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: storedMeta({ name: 'cluster' }),
  spec: {
    clusterNetwork: {
      apiServerPort: 7443,
      services: { cidrBlocks: ['10.96.0.0/16', 'fd00::/112'] },
      pods: { cidrBlocks: ['10.244.0.0/16', 'fd01::/48'] },
      serviceDomain: 'corp.example',
    },
  },
};

function madeOf(spec: object): Manifest {
  const scp = {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
    kind: 'StewardControlPlane',
    metadata: { name: 'scp', namespace: 'default', uid: 'u' },
    spec: JSON.parse(JSON.stringify(spec)) as unknown,
  } as StewardControlPlane;
  return tenantControlPlaneOf(scp, cluster, { now: new Date('2026-01-01T00:00:00Z') });
}

/**
 * Not passed on: fields that Cluster API reads and writes here, fields about another cluster or a restore, and fields that no
 * TenantControlPlane has.
 */
const ownFields = [
  'spec.controlPlaneEndpoint.host',
  'spec.controlPlaneEndpoint.port',
  'spec.network.gateway.parentRefs[].sectionName',
  'spec.network.gateway.parentRefs[].port',
];
const leaves = fieldLeaves(stewardControlPlane.spec.openapi, 'spec').filter(
  (field) =>
    !ownFields.includes(field) &&
    !field.startsWith('spec.deployment.externalClusterReference.') &&
    !field.startsWith('spec.restoreFrom.'),
);

/** The spec without a field, and whether it was there; of lists the items lose it. */
function without(value: unknown, steps: readonly string[]): readonly [value: unknown, wasThere: boolean] {
  const [step = '', ...rest] = steps;
  if (Array.isArray(value)) {
    const items = value.map((item) => without(item, steps));
    return [items.map(([item]) => item), items.some(([, wasThere]) => wasThere)];
  }
  if (typeof value !== 'object' || value === null) return [value, false];
  const fields = value as Readonly<Record<string, unknown>>;
  const name = step.replace('[]', '');
  if (fields[name] === undefined) return [value, false];
  if (rest.length === 0) return [Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name)), true];
  const [inner, wasThere] = without(fields[name], rest);
  return [{ ...fields, [name]: inner }, wasThere];
}

describe('A field of a StewardControlPlane', () => {
  const samples = [full, ...others];

  test.each(leaves)('reaches the TenantControlPlane: %s', (field) => {
    const steps = field.replace(/^spec\./, '').split('.');
    const removed = samples.map((sample) => ({ sample, stripped: without(sample, steps) }));
    const present = removed.filter(({ stripped: [, wasThere] }) => wasThere);
    expect(present.length).toBeGreaterThan(0);
    // What its TenantControlPlane needs cannot be left out.
    if (field === 'spec.version') return;
    const reaching = present.filter(
      ({ sample, stripped: [stripped] }) =>
        JSON.stringify(madeOf(stripped as object)) !== JSON.stringify(madeOf(sample)),
    );
    expect(reaching.length).toBeGreaterThan(0);
  });

  test('yields, with all others, a TenantControlPlane that the schema accepts unchanged', () => {
    const { openapi } = tenantControlPlane.spec;
    for (const sample of samples) {
      const { spec } = madeOf(sample) as { readonly spec?: unknown };
      const sent: unknown = JSON.parse(JSON.stringify(spec));
      expect(prune(openapi, sent)).toEqual(sent);
      expect(validate(openapi, applyDefaults(openapi, sent), 'spec')).toEqual([]);
    }
  });
});

test('The networks of a Cluster are used with both families, and the version with its v', () => {
  expect((madeOf(full) as { readonly spec?: unknown }).spec).toMatchObject({
    kubernetes: { version: 'v1.36.3' },
    networkProfile: {
      port: 7443,
      serviceCidr: '10.96.0.0/16,fd00::/112',
      podCidr: '10.244.0.0/16,fd01::/48',
      clusterDomain: 'corp.example',
    },
  });
});
