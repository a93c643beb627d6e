import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  annotations,
  containers,
  finalizers,
  generatedKubeconfig,
  labels,
  migrationJob,
  ports,
  tenantObjects,
  volumes,
} from './names.ts';

const qualified = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
/** A DNS-1035 label, which the name of a TenantControlPlane must be. */
const label = fc.stringMatching(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);

describe('The names of the project', () => {
  test.each([...Object.values(labels), ...Object.values(annotations), ...Object.values(finalizers)])(
    '%s is a qualified name',
    (name) => {
      expect(name).toMatch(qualified);
      expect(name.split('/').at(-1)?.length).toBeLessThanOrEqual(63);
    },
  );

  test.each([...Object.values(containers), ...Object.values(volumes)])('%s is a DNS-1123 label', (name) => {
    expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
  });

  test.each([
    ...new Set([ports.kine, ports.konnectivityAgent, ports.konnectivityAdmin, ports.konnectivityHealth, ports.trustd]),
  ])('%s is a port name that a container may carry', (name) => {
    expect(name).toMatch(/^(?=.*[a-z])[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$/);
  });

  test('every object of a tenant has a valid name of its own kind, and no two tenants share a Secret', () => {
    fc.assert(
      fc.property(label, label, (a, b) => {
        const names = tenantObjects(a);
        for (const name of Object.values(names)) expect(name).toMatch(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
        expect(names.ca).toBe(`${a}-ca`);
        expect(names.adminKubeconfig).toBe(`${a}-admin-kubeconfig`);
        if (a !== b) expect(tenantObjects(b).dataStoreConfig).not.toBe(names.dataStoreConfig);
      }),
    );
  });

  test('objects of a tenant in other places contain its name or its UID', () => {
    expect(generatedKubeconfig('tenant-1', 'viewers')).toBe('tenant-1-viewers');
    expect(migrationJob('6d2b')).toBe('migrate-6d2b');
  });
});
