import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  annotations,
  configurationSecret,
  containers,
  externalClaimSecret,
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
const short = fc.stringMatching(/^[a-z]([-a-z0-9]{0,5}[a-z0-9])?$/);

/** The objects of a tenant that have one kind, by the name of the object. */
function namesByKind(tcp: string): Readonly<Record<'Secret' | 'ConfigMap' | 'route' | 'other', readonly string[]>> {
  const { kubeadmConfig, konnectivityEgress, konnectivityRoute, trustdRoute, ...rest } = tenantObjects(tcp);
  const { deployment, service, podDisruptionBudget, horizontalPodAutoscaler, networkPolicy, podMonitor, ...named } =
    rest;
  const { ingress, tlsRoute, ...secrets } = named;
  return {
    Secret: [
      ...Object.values(secrets),
      configurationSecret(tcp, '0123456789ab'),
      configurationSecret(tcp, 'cacacacacaca'),
    ],
    ConfigMap: [kubeadmConfig, konnectivityEgress],
    route: [ingress, tlsRoute, konnectivityRoute, trustdRoute],
    other: [deployment, service, podDisruptionBudget, horizontalPodAutoscaler, networkPolicy, podMonitor],
  };
}

/** What follows the name of a tenant in the names of its objects. */
const suffixes = [...new Set(Object.values(namesByKind('')).flat())].filter((suffix) => suffix !== '');

/** Two tenants, of which one often has a name that an object of the other has, or that is about to become one. */
const pairs = fc.oneof(
  fc.tuple(label, label),
  fc.tuple(short, fc.constantFrom(...suffixes)).map(([a, suffix]) => [a, a + suffix] as const),
  fc
    .tuple(short, fc.constantFrom(...suffixes), fc.nat())
    .map(([a, suffix, at]) => [a, a + suffix.slice(0, 1 + (at % suffix.length))] as const),
  fc.tuple(short, short).map(([a, b]) => [a, `${a}-${b}`] as const),
);

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

  test('every object of a tenant has a valid name of its own kind', () => {
    fc.assert(
      fc.property(label, (a) => {
        const names = tenantObjects(a);
        for (const name of Object.values(names)) expect(name).toMatch(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
        expect(names.ca).toBe(`${a}-ca`);
        expect(names.adminKubeconfig).toBe(`${a}-admin-kubeconfig`);
      }),
    );
  });

  test('a Secret of a tenant has no name of another one of it', () => {
    fc.assert(
      fc.property(short, (a) => {
        const { Secret: secrets, ConfigMap: maps } = namesByKind(a);
        expect(new Set(secrets).size).toBe(secrets.length);
        expect(new Set(maps).size).toBe(maps.length);
      }),
    );
  });

  test('no two tenants share an object, except the route of one for agents and that of another one’s API server', () => {
    const examples = suffixes.map((suffix): [readonly [string, string]] => [['a', `a${suffix}`]]);
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        fc.pre(a !== b);
        const [one, other] = [namesByKind(a), namesByKind(b)];
        for (const kind of ['Secret', 'ConfigMap', 'other'] as const)
          expect(one[kind].filter((name) => other[kind].includes(name))).toEqual([]);
        const { konnectivityRoute, trustdRoute } = tenantObjects(a);
        const known = [b, `${b}-konnectivity`, `${b}-trustd`].filter((name) =>
          name === b ? [konnectivityRoute, trustdRoute].includes(b) : name === a,
        );
        // The owner of a route decides who has it: see the tests of exposures.
        expect([...new Set(one.route)].filter((name) => other.route.includes(name))).toEqual(known);
      }),
      { numRuns: 2000, examples },
    );
  });

  test('the Secret of a claim has no name of any Secret of a tenant', () => {
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        expect(namesByKind(a).Secret).not.toContain(externalClaimSecret(b));
        expect(namesByKind(b).Secret).not.toContain(externalClaimSecret(a));
      }),
    );
  });

  test('objects of a tenant in other places contain its name or its UID', () => {
    expect(generatedKubeconfig('tenant-1', 'viewers')).toBe('tenant-1-viewers');
    expect(migrationJob('6d2b')).toBe('migrate-6d2b');
  });
});
