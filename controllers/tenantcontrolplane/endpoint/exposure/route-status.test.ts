import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../../api/as-stored.ts';
import type { Gateway, GatewayCondition, RouteParent, TlsRoute } from '../../../../api/gateway-api/kinds.ts';
import { publishedTenant } from '../../../../testing/worlds/published-tenant.ts';
import { accessPoints, routeVerdict } from './route-status.ts';
import type { RouteFacts } from './route-status.ts';

const asGateway = { group: 'gateway.networking.k8s.io', kind: 'Gateway' };
const near = { ...asGateway, name: 'near', port: 6443 };
const far = { ...asGateway, name: 'far', namespace: 'infra', port: 6443 };
const mesh = { group: '', kind: 'Service', name: 'mesh' };

const condition = (type: string, status: string, reason = ''): GatewayCondition => ({ type, status, reason });
const yes = condition('Accepted', 'True');
const no = condition('Accepted', 'False', 'NoMatchingListenerHostname');

function routeWith(...parents: readonly (readonly [RouteParent, ...GatewayCondition[]])[]): TlsRoute {
  const status = {
    parents: parents.map(([parentRef, ...conditions]) => ({ parentRef, controllerName: 'x', conditions })),
  };
  const metadata = { name: 'tenant', namespace: 'default', generation: 2 };
  return { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'TLSRoute', metadata: storedMeta(metadata), status };
}

const listening = (name: string, status = 'True'): readonly [string, Gateway] => {
  const conditions = [condition('Programmed', status, 'AddressNotAssigned')];
  return [
    name,
    { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', metadata: storedMeta({}), status: { conditions } },
  ];
};
const both = [listening('default/near'), listening('infra/far')];

const factsOf = (route: TlsRoute, gateways: readonly (readonly [string, Gateway])[] = both): RouteFacts => ({
  tcp: publishedTenant({ gateway: { hostname: 'a.example.org', parentRefs: [near, far, mesh] } }),
  route,
  host: 'a.example.org',
  listener: 'kube-apiserver',
  gateways: new Map(gateways),
});

describe('A route', () => {
  test.each<[string, RouteFacts, object, number]>([
    ['accepted by a Gateway that listens', factsOf(routeWith([near, yes])), { leads: true, message: '' }, 1],
    ['accepted by one of two', factsOf(routeWith([near, no], [far, yes])), { leads: true }, 1],
    ['accepted by both', factsOf(routeWith([near, yes], [far, yes])), { leads: true }, 2],
    [
      'accepted by both, of which one listens',
      factsOf(routeWith([near, yes], [far, yes]), [listening('default/near'), listening('infra/far', 'False')]),
      { leads: true, message: 'Gateway infra/far is not programmed: AddressNotAssigned' },
      1,
    ],
    ['accepted by what is no Gateway', factsOf(routeWith([mesh, yes])), { leads: true }, 1],
    ['accepted by a Gateway that is gone', factsOf(routeWith([near, yes]), []), { reason: 'NotExposed' }, 0],
    [
      'whose Service does not exist',
      factsOf(routeWith([near, yes, condition('ResolvedRefs', 'False', 'BackendNotFound')])),
      { reason: 'RouteNotAccepted', message: expect.stringContaining('Gateway default/near: BackendNotFound') },
      0,
    ],
    ['without a word', factsOf(routeWith()), { reason: 'RouteNotAccepted' }, 0],
    [
      'with a word about an older one',
      factsOf(routeWith([near, { ...yes, observedGeneration: 1 }])),
      { reason: 'RouteNotAccepted', message: expect.stringContaining('not reported yet') },
      0,
    ],
  ])('%s is evaluated by its status', (_words, facts, verdict, points) => {
    expect(routeVerdict(facts)).toMatchObject(verdict);
    expect(accessPoints(facts, { host: 'a.example.org', port: 7443 })).toHaveLength(points);
  });

  test('is reached at the port of the listener', () => {
    const [point] = accessPoints(factsOf(routeWith([near, yes])), { host: 'a.example.org', port: 7443 });
    expect(point).toEqual({ type: 'Hostname', value: 'https://a.example.org:6443', port: 6443 });
  });
});
