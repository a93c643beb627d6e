import { expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { CertificateSigningRequest } from '../../../api/core/kinds.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { issueThroughTenant } from './request-certificate.ts';

const wanted = { user: 'ada', groups: [], seconds: 3600 };

/** A tenant whose watches show `request`, if there is one, and end at once. */
function endsWatches(request?: unknown): { readonly tenant: Cluster; readonly watches: () => number } {
  const tenant = new FakeCluster();
  let watches = 0;
  const watch = () => {
    watches += 1;
    const events = request === undefined ? [] : [{ type: 'ADDED', object: request as CertificateSigningRequest }];
    return (async function* () {
      for (const event of events) yield await Promise.resolve(event);
    })();
  };
  return { tenant: Object.assign(tenant, { watch }), watches: () => watches };
}

test('a tenant that ends every watch at once gets one request a second, until the time is up', async () => {
  const clock = new FakeClock();
  const limit = new AbortController();
  const { tenant, watches } = endsWatches();
  const issued = issueThroughTenant(wanted, 'r', { tenant, clock, signal: limit.signal });
  const failed = expect(issued).rejects.toThrow('time is up');
  while (clock.pending === 0) await clock.advance(0);
  expect(watches()).toBe(1);
  await clock.advance(3_000);
  expect(watches()).toBe(4);
  limit.abort(new Error('time is up'));
  await failed;
  expect({ watches: watches(), pending: clock.pending }).toEqual({ watches: 4, pending: 0 });
});

test.each([7, {}, ['x'], true])(
  'a certificate that is not a string is reported as missing: %j',
  async (certificate) => {
    const { tenant } = endsWatches({
      ...kinds.CertificateSigningRequest,
      metadata: { name: 'r' },
      status: { certificate },
    });
    const signal = AbortSignal.timeout(60_000);
    await expect(issueThroughTenant(wanted, 'r', { tenant, clock: new FakeClock(), signal })).rejects.toThrow(
      'the tenant answered CertificateSigningRequest r with no certificate',
    );
  },
);
