import { describe, expect, test } from '@jest/globals';
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
  ])('%d is judged', (port, expected) => {
    expect(errors(port)).toEqual(expected);
  });

  test('leaves those that the server has beside it to nobody else', () => {
    expect(errors(8132, 8133)).toEqual([
      'spec.networkProfile.port 8133 is used by the konnectivity server in the same pod',
    ]);
  });

  test('is nobody’s concern without the add-on', () => {
    expect(validateAddons([konnectivity], tenantControlPlaneWith({ networkProfile: { port: 8133 } }))).toEqual([]);
  });
});
