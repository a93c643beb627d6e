import { expect, test } from '@jest/globals';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { templateHash } from './template-hash.ts';

test('the hash of a template depends on its content, and not on the order of keys', () => {
  const { spec } = tenantControlPlaneWith();
  const { controlPlane, kubernetes, ...rest } = spec;
  const hash = templateHash({ spec });
  expect(hash).toMatch(/^[0-9a-f]{16}$/);
  expect(templateHash({ spec: { kubernetes, ...rest, controlPlane } })).toBe(hash);
  expect(templateHash({ spec: { ...spec, kubernetes: { ...kubernetes, version: 'v1.35.0' } } })).not.toBe(hash);
  expect(templateHash({ spec, metadata: { labels: { a: 'b' } } })).not.toBe(hash);
  const plugins = (...admissionControllers: readonly ('PodSecurity' | 'LimitRanger')[]): string =>
    templateHash({ spec: { ...spec, kubernetes: { ...kubernetes, admissionControllers } } });
  expect(plugins('PodSecurity', 'LimitRanger')).not.toBe(plugins('LimitRanger', 'PodSecurity'));
});
