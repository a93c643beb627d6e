import { describe, expect, test } from '@jest/globals';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { konnectivityAddon } from '../../../testing/builders/konnectivity-addon.ts';
import { publishedTenant } from '../../../testing/worlds/published-tenant.ts';
import { workerBootstrapAddon } from '../../../testing/builders/worker-bootstrap-addon.ts';
import type { PublishedBy } from '../../../testing/worlds/published-tenant.ts';
import { addons } from '../addons/registry.ts';
import { serversOf } from '../shared/addon-server.ts';
import { rivals, rivalWords, seniorRivals } from './host-claims.ts';

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
