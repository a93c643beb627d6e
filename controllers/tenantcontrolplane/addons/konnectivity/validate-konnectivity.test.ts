import { describe, expect, test } from '@jest/globals';
import { validate } from '../../../../api/structural/validate.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { konnectivityAddon } from '../../../../testing/builders/konnectivity-addon.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { validateAddons } from '../validate-addons.ts';
import { konnectivity } from './addon.ts';

const additionalPorts = [{ name: 'extra', port: 9000, targetPort: 1, protocol: 'TCP' }] as const;

const errors = (port: number, apiServerPort = 6443): readonly string[] =>
  validateAddons(
    [konnectivity],
    tenantControlPlaneWith({
      service: { additionalPorts },
      networkProfile: { port: apiServerPort },
      spec: { dataStore: 'default', addons: { konnectivity: konnectivityAddon({ server: { port } }) } },
    }),
  ).map(({ field, value = '', reason }) => `${field} ${value} ${reason}`);

describe('the port of the konnectivity server', () => {
  const at = 'spec.addons.konnectivity.server.port';

  test.each([
    [8132, []],
    [30132, []],
    [443, [`${at} 443 is not a port that the konnectivity server accepts`]],
    [50000, [`${at} 50000 is not a port that the konnectivity server accepts`]],
    [6443, [`${at} 6443 is used by kube-apiserver (spec.networkProfile.port)`]],
    [8134, [`${at} 8134 is used by the konnectivity server itself`]],
    [10257, [`${at} 10257 is used by kube-controller-manager in the same pod`]],
    [9000, [`${at} 9000 is used by the additional port extra of the Service`]],
  ])('%d is accepted or refused', (port, expected) => {
    expect(errors(port)).toEqual(expected);
  });

  test('and its other ports cannot be used by other components of the pod', () => {
    expect(errors(8132, 8133)).toEqual([
      'spec.networkProfile.port 8133 is used by the konnectivity server in the same pod',
    ]);
  });

  test('is not validated without the add-on', () => {
    expect(validateAddons([konnectivity], tenantControlPlaneWith({ networkProfile: { port: 8133 } }))).toEqual([]);
  });
});

describe('the host name of the konnectivity server', () => {
  test.each([
    ['agents.example.org', true],
    ['agents', true],
    ['1.agents.example.org', true],
    [`${'a'.repeat(63)}.example.org`, true],
    ['', false],
    ['Agents.example.org', false],
    ['*.example.org', false],
    ['agents.example.org:443', false],
    ['agents.example.org.', false],
    ['192.0.2.7', false],
    ['2001:db8::1', false],
    ['a`) || HostSNI(`b.example.org', false],
    [`${'a.'.repeat(127)}a`, false],
  ])('%s is a DNS name or refused', (hostname, isValid) => {
    const { spec } = tenantControlPlaneWith({
      spec: { dataStore: 'default', addons: { konnectivity: konnectivityAddon({ server: { hostname } }) } },
    });
    const fields = validate(tenantControlPlane.spec.openapi, spec).map(({ field }) => field);
    expect(fields).toEqual(isValid ? [] : expect.arrayContaining(['addons.konnectivity.server.hostname']));
  });
});
