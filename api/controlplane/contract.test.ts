import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { crd } from '../generate/crd.ts';
import type { OpenApi } from '../schema.ts';
import { stewardControlPlane } from './steward-control-plane.ts';
import { stewardControlPlaneTemplate } from './steward-control-plane-template.ts';

// What Cluster API reads of a control-plane provider's definitions
// (https://cluster-api.sigs.k8s.io/developer/providers/contracts/control-plane).

interface Definition {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly conversion?: unknown;
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: OpenApi };
      readonly subresources?: unknown;
    }[];
  };
}

const root = join(import.meta.dirname, '..', '..');
const kinds = [stewardControlPlane, stewardControlPlaneTemplate] as const;
const definitions = kinds.map((kind) => [kind.kind, JSON.parse(JSON.stringify(crd(kind))) as Definition] as const);

/** A schema without its descriptions. A field may have that name, but is no text. */
const undescribed = (schema: unknown): unknown =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === 'description' && typeof value === 'string' ? undefined : value,
    ),
  );

describe.each(definitions)('The definition of %s', (_, { metadata, spec }) => {
  test('has one version for each contract, and the versions differ only in their printer columns and descriptions', () => {
    expect(metadata.labels).toMatchObject({
      'cluster.x-k8s.io/v1beta1': 'v1alpha1',
      'cluster.x-k8s.io/v1beta2': 'v1alpha2',
    });
    const [first, second, ...more] = spec.versions;
    expect([first?.name, second?.name, more]).toEqual(['v1alpha1', 'v1alpha2', []]);
    expect(undescribed(first?.schema)).toEqual(first?.schema);
    expect(undescribed(second?.schema)).toEqual(first?.schema);
    expect(second?.schema).not.toEqual(first?.schema);
    expect(spec.conversion).toEqual({ strategy: 'None' });
  });
});

test('The status of a control plane has no required field, and its conditions and versions are maps', () => {
  const { status } = stewardControlPlane;
  expect(status?.openapi.required ?? []).toEqual([]);
  const { conditions, versions } = status?.openapi.properties ?? {};
  expect(conditions).toMatchObject({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });
  expect(versions).toMatchObject({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['version'] });
});

test('A control plane can be scaled, with the selector in its status', () => {
  const { scale } = stewardControlPlane;
  expect(scale).toEqual({
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  });
});

test('A template has no version, replicas, endpoint or rollout, which the topology sets', () => {
  const { properties = {} } = stewardControlPlaneTemplate.spec.openapi.properties?.template?.properties?.spec ?? {};
  const own = Object.keys(stewardControlPlane.spec.openapi.properties ?? {}).filter((field) => !(field in properties));
  expect(own.sort()).toEqual(['controlPlaneEndpoint', 'replicas', 'rollout', 'version']);
});

test('The bootstrap provider may read control planes, under a name that clusterctl does not move', () => {
  const text = readFileSync(join(root, 'clusterctl', 'kubeadm-bootstrap-rbac.yaml'), 'utf8');
  const manifests = parseAllDocuments(text).map((document) => document.toJS() as Readonly<Record<string, unknown>>);
  expect(manifests).toContainEqual(
    expect.objectContaining({
      kind: 'ClusterRoleBinding',
      subjects: [expect.objectContaining({ kind: 'User', name: expect.stringContaining('system:serviceaccount:') })],
    }),
  );
  expect(manifests).toContainEqual(
    expect.objectContaining({
      kind: 'ClusterRole',
      rules: [expect.objectContaining({ resources: ['stewardcontrolplanes'], verbs: expect.arrayContaining(['get']) })],
    }),
  );
});
