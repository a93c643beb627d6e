import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { konnectivityAddon } from '../../../testing/builders/konnectivity-addon.ts';
import { publishedTenant } from '../../../testing/worlds/published-tenant.ts';
import { workerBootstrapAddon } from '../../../testing/builders/worker-bootstrap-addon.ts';
import type { PublishedBy } from '../../../testing/worlds/published-tenant.ts';
import { addons } from '../addons/registry.ts';
import { serversOf } from '../shared/addon-server.ts';
import { contestedHosts, hostClaims, hostNames, isSame, rivals, rivalWords, seniorRivals } from './host-claims.ts';

const servers = serversOf(addons);
const gw = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gw', namespace: 'infra' };
const ingress = (hostname: string, more: object = {}): PublishedBy => ({ ingress: { hostname, ...more } });
const gateway = (hostname: string, name = 'gw'): PublishedBy => ({
  gateway: { hostname, parentRefs: [{ ...gw, name }] },
});

interface Told {
  readonly uid?: string;
  readonly made?: string;
  readonly namespace?: string;
  readonly endpoint?: string;
  readonly agents?: boolean;
  /** The host name that the author gives for agents. */
  readonly agentsAt?: string;
  /** The host that agents dial. */
  readonly dialed?: string;
}

function tenant(name: string, by: PublishedBy, told: Told = {}): TenantControlPlane {
  const tcp = publishedTenant(by);
  const { uid = name, made = '2030-01-01T00:00:00Z', namespace = 'default', endpoint, agentsAt, dialed } = told;
  const hasAgents = told.agents ?? agentsAt !== undefined;
  const server = agentsAt === undefined ? {} : { hostname: agentsAt };
  return {
    ...tcp,
    metadata: { ...tcp.metadata, name, namespace, uid, creationTimestamp: made },
    spec: { ...tcp.spec, addons: hasAgents ? { konnectivity: konnectivityAddon({ server }) } : {} },
    status: {
      ...(endpoint !== undefined && { controlPlaneEndpoint: endpoint }),
      ...(dialed !== undefined && { addons: { konnectivity: { enabled: true, agent: { host: dialed } } } }),
    },
  };
}

const withTrustd = (tcp: TenantControlPlane): TenantControlPlane => ({
  ...tcp,
  spec: { ...tcp.spec, addons: { workerBootstrap: workerBootstrapAddon() } },
});

const atPort = ({ spec }: TenantControlPlane, port: number): TenantControlPlane['spec'] => ({
  ...spec,
  networkProfile: { ...spec.networkProfile, port },
});

const a = 'a.k8s.example.org';
const b = 'b.k8s.example.org';

describe('Two control planes', () => {
  test.each<[string, TenantControlPlane, TenantControlPlane, boolean]>([
    ['by Ingresses of one name', tenant('x', ingress(a)), tenant('y', ingress(a)), true],
    ['in two namespaces', tenant('x', ingress(a)), tenant('x', ingress(a), { namespace: 'other' }), true],
    ['of two classes', tenant('x', ingress(a, { ingressClassName: 'p' })), tenant('y', ingress(a)), true],
    ['by Ingress and Traefik', tenant('x', ingress(a)), tenant('y', ingress(a, { controllerType: 'traefik' })), true],
    ['at two ports of one name', tenant('x', ingress(a)), tenant('y', ingress(`${a}:8443`)), true],
    ['of two names', tenant('x', ingress(a)), tenant('y', ingress(b)), false],
    ['by one Gateway', tenant('x', gateway(a)), tenant('y', gateway(a)), true],
    ['by two Gateways', tenant('x', gateway(a)), tenant('y', gateway(a, 'other')), false],
    [
      'at two ports of one Gateway, with trustd at one',
      withTrustd(tenant('x', gateway(a))),
      withTrustd({ ...tenant('y', gateway(a)), spec: atPort(tenant('y', gateway(a)), 6444) }),
      true,
    ],
    [
      'at two ports of one Gateway',
      tenant('x', gateway(a)),
      { ...tenant('y', gateway(a)), spec: atPort(tenant('y', gateway(a)), 6444) },
      false,
    ],
    ['by Ingress and Gateway', tenant('x', ingress(a)), tenant('y', gateway(a)), false],
    ['of which one is not published', tenant('x', ingress(a)), tenant('y', {}), false],
    ['of which one has no valid name', tenant('x', ingress(a)), tenant('y', ingress('*.a')), false],
    [
      'of which one is on its way from it',
      tenant('x', ingress(a)),
      tenant('y', ingress(b), { endpoint: `${a}:443` }),
      true,
    ],
    [
      'of which one is named as the agents of the other',
      tenant('x', ingress(a), { agents: true }),
      tenant('y', ingress('a.konnectivity.example.org')),
      true,
    ],
    [
      'of which one is named as the author of the other names agents',
      tenant('x', ingress(a), { agentsAt: 'agents.example.org' }),
      tenant('y', ingress('agents.example.org')),
      true,
    ],
    [
      'of which one is named as agents of the other would be without a name from its author',
      tenant('x', ingress(a), { agentsAt: 'agents.example.org' }),
      tenant('y', ingress('a.konnectivity.example.org')),
      false,
    ],
    [
      'of which one is named as agents of the other still dial',
      tenant('x', ingress(a), { agentsAt: 'agents.example.org', dialed: 'a.konnectivity.example.org' }),
      tenant('y', ingress('a.konnectivity.example.org')),
      true,
    ],
    [
      'whose agents have one name at one Gateway',
      tenant('x', gateway(a), { agentsAt: 'agents.example.org' }),
      tenant('y', gateway(b), { agentsAt: 'agents.example.org' }),
      true,
    ],
    [
      'of which one is named as the agents of the other, at another port of one Gateway',
      tenant('x', gateway(a), { agentsAt: 'agents.example.org' }),
      tenant('y', gateway('agents.example.org')),
      false,
    ],
  ])('%s compete for a host name or not', (_words, one, other, expected) => {
    expect(rivals(one, [one, other], servers)).toEqual(expected ? [other] : []);
    expect(rivals(other, [one, other], servers)).toEqual(expected ? [one] : []);
  });

  const hosts = fc.constantFrom(a, b, 'agents.example.org', 'a.konnectivity.example.org', 'a.trustd.example.org');
  const one = fc
    .record({
      name: fc.constantFrom('x', 'y'),
      namespace: fc.constantFrom('default', 'other'),
      uid: fc.uuid(),
      made: fc.constantFrom('2029-01-01T00:00:00Z', '2030-01-01T00:00:00Z'),
      by: fc.oneof(
        hosts.map((host) => ingress(host)),
        hosts.map((host) => ingress(host, { controllerType: 'traefik' })),
        fc.tuple(hosts, fc.constantFrom('gw', 'gw2')).map(([host, name]) => gateway(host, name)),
      ),
      agents: fc.boolean(),
      agentsAt: fc.option(hosts, { nil: undefined }),
      dialed: fc.option(hosts, { nil: undefined }),
      endpoint: fc.option(
        hosts.map((host) => `${host}:443`),
        { nil: undefined },
      ),
      trustd: fc.boolean(),
      port: fc.constantFrom(6443, 443),
    })
    .map(({ name, by, trustd, port, ...told }): TenantControlPlane => {
      const tcp = tenant(name, by, told);
      const more = trustd ? { ...tcp.spec.addons, workerBootstrap: workerBootstrapAddon() } : tcp.spec.addons;
      return { ...tcp, spec: { ...atPort(tcp, port), addons: more } };
    });

  test('compete if and only if they claim one thing, in both directions, and one of them always has it', () => {
    fc.assert(
      fc.property(one, one, (left, right) => {
        const all = [left, right];
        const claims = new Set(hostClaims(left, servers));
        const isShared = hostClaims(right, servers).some((claim) => claims.has(claim));
        const expected = isShared && !isSame(left, right);
        expect(rivals(left, all, servers)).toEqual(expected ? [right] : []);
        expect(rivals(right, all, servers)).toEqual(expected ? [left] : []);
        fc.pre(left.metadata.uid !== right.metadata.uid);
        const seniors = all.map((tcp) => seniorRivals(tcp, all, servers).length);
        expect(seniors.sort()).toEqual(expected ? [0, 1] : [0, 0]);
        expect(contestedHosts(left, right, servers).length > 0).toBe(isShared);
        for (const host of contestedHosts(left, right, servers)) expect(hostNames(right, servers)).toContain(host);
      }),
      { numRuns: 500 },
    );
  });

  test('are ordered by their age, then by their UID, in the same way for both', () => {
    const old = tenant('z', ingress(a), { made: '2029-01-01T00:00:00Z', uid: '9' });
    const [first, second] = [tenant('x', ingress(a), { uid: '1' }), tenant('y', ingress(a), { uid: '2' })];
    const all = [second, first, old];
    const seniors = (one: TenantControlPlane, among: readonly TenantControlPlane[]): readonly string[] =>
      seniorRivals(one, among, servers).map(({ metadata }) => metadata.name);
    expect(all.map((one) => seniors(one, all))).toEqual([['z', 'x'], ['z'], []]);
    expect([first, second].map((one) => seniors(one, [second, first]))).toEqual([[], ['x']]);
  });

  test('see each other’s names in one namespace only', () => {
    const one = tenant('x', ingress(a));
    expect(rivalWords(one, tenant('y', ingress(a)))).toBe('TenantControlPlane y');
    expect(rivalWords(one, tenant('secret', ingress(a), { namespace: 'hidden' }))).toBe(
      'a TenantControlPlane in another namespace',
    );
  });
});
