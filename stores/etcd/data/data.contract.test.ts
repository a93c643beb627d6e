import { expect, test } from '@jest/globals';
import { startEtcdDataUnderTest } from '../../../testing/contracts/stores/etcd/data-under-test.ts';
import { testScope } from '../../../testing/runner/test-scope.ts';
import { describeTenancyData } from '../../contract/tenancy-data-contract.ts';

for (const { version } of testScope().etcd) {
  describeTenancyData(`etcd ${version}`, () => startEtcdDataUnderTest(version));
}

test('a fence that is open for keys that are not copied lets nothing else through, also after repeated calls', async () => {
  await using store = await startEtcdDataUnderTest('3.7');
  await using tenant = await store.tenant();
  const { data, hand } = tenant;
  const lease = 'leases/kube-system/kube-scheduler';
  const put = (key: string, value: string): Promise<string> =>
    hand.put(key, Buffer.from(value)).then(
      () => 'written',
      () => 'refused',
    );
  expect([await put(lease, '1'), await put('leases/kube-system/mine', '1')]).toEqual(['written', 'written']);
  await data.fence();
  expect(await put(lease, '2')).toBe('refused');
  await data.openUncopied?.();
  await data.openUncopied?.();
  for (const repeat of [() => Promise.resolve(), () => tenant.ensure(), () => data.fence()]) {
    await repeat();
    expect([await put(lease, '3'), await put('leases/kube-system/mine', '3')]).toEqual(['written', 'refused']);
  }
  expect(Buffer.from((await hand.get(lease)) ?? []).toString()).toBe('3');
  expect(await data.count()).toBe(1);
  await data.unfence();
  await tenant.ensure();
  expect([await put(lease, '4'), await put('leases/kube-system/mine', '4')]).toEqual(['written', 'written']);
  await data.fence();
  expect([await put(lease, '5'), await put('leases/kube-system/mine', '5')]).toEqual(['refused', 'refused']);
}, 120_000);
