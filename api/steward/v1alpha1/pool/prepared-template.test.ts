import { expect, test } from '@jest/globals';
import type { OpenApi } from '../../../schema.ts';
import { fieldLeaves } from '../../../generate/field-leaves.ts';
import { tenantControlPlaneSpec } from '../tenant-control-plane-spec.ts';
import { preparedTemplate } from './prepared-template.ts';

const rulesIn = (schema: OpenApi): readonly string[] => [
  ...(schema['x-kubernetes-validations'] ?? []).map(({ rule }) => rule),
  ...Object.values(schema.properties ?? {}).flatMap(rulesIn),
  ...(schema.items ? rulesIn(schema.items) : []),
  ...(schema.additionalProperties ? rulesIn(schema.additionalProperties) : []),
];

const spec = preparedTemplate.openapi.properties?.spec ?? {};

test('a template has every field of a TenantControlPlane', () => {
  expect(fieldLeaves(spec, 'spec')).toEqual(fieldLeaves(tenantControlPlaneSpec.openapi, 'spec'));
});

test('a template has every rule of a TenantControlPlane but for those about changes, because each control plane is new', () => {
  const all = rulesIn(tenantControlPlaneSpec.openapi);
  const about = all.filter((rule) => rule.includes('oldSelf'));
  expect(about.length).toBeGreaterThan(5);
  const kept = new Set(rulesIn(spec));
  expect(all.filter((rule) => !about.includes(rule) && !kept.has(rule))).toEqual([]);
  expect([...kept].filter((rule) => rule.includes('oldSelf'))).toEqual([]);
});
