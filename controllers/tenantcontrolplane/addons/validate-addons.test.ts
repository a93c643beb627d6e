import { describe, expect, test } from '@jest/globals';
import type { TenantControlPlaneSpec } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { konnectivityAddon } from '../../../testing/builders/konnectivity-addon.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { workerBootstrapAddon } from '../../../testing/builders/worker-bootstrap-addon.ts';
import { validate } from '../admission.ts';
import { addons as all } from './registry.ts';
import { validateAddons } from './validate-addons.ts';

type Addons = TenantControlPlaneSpec['addons'];

const additionalPorts = [{ name: 'extra', port: 9000, targetPort: 1, protocol: 'TCP' }] as const;
const tenant = (addons: Addons): ReturnType<typeof tenantControlPlaneWith> =>
  tenantControlPlaneWith({ service: { additionalPorts }, spec: { dataStore: 'default', addons } });
const brief = (found: ReturnType<typeof validateAddons>): readonly string[] =>
  found.map(({ field, value = '', reason }) => `${field} ${value} ${reason}`);

describe('the port of trustd', () => {
  const at = 'spec.addons.workerBootstrap.talos.port';

  test.each([
    [50001, []],
    [443, []],
    [6443, [`${at} 6443 is used by kube-apiserver (spec.networkProfile.port)`]],
    [9000, [`${at} 9000 is used by the additional port extra of the Service`]],
    [10257, [`${at} 10257 is used by kube-controller-manager in the same pod`]],
    [10259, [`${at} 10259 is used by kube-scheduler in the same pod`]],
    [8132, [`${at} 8132 is used by konnectivity-server in the same pod`]],
    [8134, [`${at} 8134 is used by konnectivity-server in the same pod`]],
  ])('%d is accepted or refused', (port, expected) => {
    const addons = { konnectivity: konnectivityAddon(), workerBootstrap: workerBootstrapAddon({ talos: { port } }) };
    expect(brief(validateAddons(all, tenant(addons)))).toEqual(expected);
  });
});

describe('a setting of an add-on', () => {
  const proxy = 'spec.addons.tcpProxy';

  test.each<[string, Addons, readonly string[]]>([
    [
      'a name that no certificate can have',
      { workerBootstrap: workerBootstrapAddon({ talos: { certSANs: ['a.example', 'a b'] } }) },
      ['spec.addons.workerBootstrap.talos.certSANs[1] a b is neither an IP address nor a DNS name'],
    ],
    ['an address without a port', { tcpProxy: { internalEndpoint: '192.0.2.7' } }, []],
    ['an address with a port', { tcpProxy: { internalEndpoint: '[fd00::7]:6443' } }, []],
    [
      'a port alone',
      { tcpProxy: { internalEndpoint: ':6443' } },
      [`${proxy}.internalEndpoint :6443 is not an endpoint`],
    ],
    [
      'a URL',
      { tcpProxy: { internalEndpoint: 'https://a' } },
      [`${proxy}.internalEndpoint https://a is not an endpoint`],
    ],
    [
      'a host that is none',
      { tcpProxy: { internalEndpoint: 'a_b:6443' } },
      [`${proxy}.internalEndpoint a_b:6443 is neither an IP address nor a DNS name`],
    ],
    [
      'aliases of nothing',
      { tcpProxy: { hostAliases: [{ ip: 'x', hostnames: ['a.example', '-'] }] } },
      [`${proxy}.hostAliases[0].ip x is not an IP address`, `${proxy}.hostAliases[0].hostnames[1] - is not a DNS name`],
    ],
  ])('is refused if it is %s, else accepted', (_what, addons, expected) => {
    expect(brief(validateAddons(all, tenant(addons)))).toEqual(expected);
  });

  test('is admitted if it was stored before Steward used it', () => {
    const old = tenant({ tcpProxy: { internalEndpoint: ':6443' } });
    const fields = (before?: typeof old): readonly string[] =>
      validate({ tcp: old, old: before, drivers: new Map([['default', 'etcd']]) }).map(({ field }) => field);
    expect(fields()).toEqual([`${proxy}.internalEndpoint`]);
    expect(fields(old)).toEqual([]);
  });
});
