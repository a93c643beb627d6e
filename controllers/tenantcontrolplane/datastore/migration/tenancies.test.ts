import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { MigrationStatus, TenancyShare } from '../../../../api/steward/v1alpha1/migration-status.ts';
import { tenancyIdentifier } from '../../../../stores/tenancy-names.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { nextShare, targetShares } from './tenancies.ts';

const uid = tenantControlPlaneWith().metadata.uid;
const own = tenancyIdentifier(uid);

const from = (source: TenancyShare, target = 'target'): MigrationStatus => ({
  phase: 'Preparing',
  startedAt: '2030-01-01T00:00:00.000Z',
  source,
  target: { dataStoreName: target },
});

const share = (driver: string, name: string): TenancyShare => ({
  dataStoreName: 'a',
  driver,
  schema: name,
  user: name,
});

const namesOf = (shares: readonly TenancyShare[]): readonly (string | undefined)[] =>
  shares.map(({ schema }) => schema);

describe('The names in the target of a migration', () => {
  test('are those of the source if the driver is another one', () => {
    const shares = targetShares(tenantControlPlaneWith(), from(share('etcd', 'chosen')), 'MySQL');
    expect(namesOf(shares).slice(0, 2)).toEqual(['chosen', own]);
  });

  test('are those of a new tenancy if the driver is the same and they are not in use', () => {
    const shares = targetShares(tenantControlPlaneWith(), from(share('etcd', 'ns_name')), 'etcd');
    expect(namesOf(shares)[0]).toBe(own);
  });

  test('are never those of any tenancy of the tenant in a datastore of the same driver', () => {
    const driver = fc.constantFrom('etcd', 'PostgreSQL');
    const name = fc.constantFrom(own, 'x', 'y');
    const shares = fc.array(fc.record({ driver, name }), { maxLength: 4 });
    fc.assert(
      fc.property(fc.record({ driver, name }), shares, driver, (source, kept, to) => {
        const previous = kept.map((one) => ({ ...share(one.driver, one.name), since: '2030-01-01T00:00:00Z' }));
        const tcp = tenantControlPlaneWith({ status: { storage: { previous } } });
        const found = targetShares(tcp, from(share(source.driver, source.name)), to);
        const taken = [source, ...kept].filter((one) => one.driver === to).map((one) => one.name);
        expect(found.length).toBeGreaterThan(0);
        for (const { schema = '', user = '' } of found)
          expect([taken.includes(schema), taken.includes(user)]).toEqual([false, false]);
      }),
    );
  });

  test('are tried one after the other, each once', () => {
    const shares = targetShares(tenantControlPlaneWith(), from(share('etcd', own)), 'MySQL');
    const [first, , last] = shares;
    if (first === undefined || last === undefined) throw new Error('three are expected');
    // The source has the names that a new tenancy would have.
    expect(nextShare(shares, first)).toEqual(last);
    expect(nextShare(shares, last)).toBeUndefined();
  });
});
