import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { kinds } from '../../api/core/kinds.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { ApiError } from '../client/errors.ts';
import { SharedRecord } from './shared-record.ts';

const lease = { namespace: 'steward-system', name: 'record' };
const { signal } = new AbortController();

const recordOf = (cluster: FakeCluster): SharedRecord<readonly string[]> =>
  new SharedRecord<readonly string[]>({
    ...{ cluster, lease, annotation: 'example.com/names' },
    parse: (text = '') => text.split(',').filter((one) => one !== ''),
    print: (names) => names.join(),
  });

const add = (record: SharedRecord<readonly string[]>, name: string, wait: () => Promise<void>): Promise<number> =>
  record.update(async (names) => {
    await wait();
    return { result: names.length, next: [...names, name] };
  }, signal);

test('no change of any process is lost, and each sees all those before it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(2), { maxLength: 12 }), fc.infiniteStream(fc.nat(5)), async (who, turns) => {
      const cluster = new FakeCluster();
      const records = [recordOf(cluster), recordOf(cluster), recordOf(cluster)];
      const wait = async (): Promise<void> => {
        for (let turn = Number(turns.next().value); turn > 0; turn -= 1) await Promise.resolve();
      };
      const made = who.map((n, at) => add(records[n] ?? recordOf(cluster), `change-${at}`, wait));
      const seen = await Promise.all(made);
      expect(seen.toSorted((a, b) => a - b)).toEqual(who.map((_, at) => at));
    }),
    { numRuns: 40 },
  );
});

test('a change without another record writes nothing', async () => {
  const cluster = new FakeCluster();
  expect(await recordOf(cluster).update(() => Promise.resolve({ result: 1 }), signal)).toBe(1);
  expect(await cluster.admin.get(kinds.Lease, lease)).toBeUndefined();
});

test('a change to the same record writes nothing', async () => {
  const cluster = new FakeCluster();
  await add(recordOf(cluster), 'a', () => Promise.resolve());
  const before = (await cluster.admin.get(kinds.Lease, lease))?.metadata.resourceVersion;
  await recordOf(cluster).update((names) => Promise.resolve({ result: 0, next: [...names] }), signal);
  expect((await cluster.admin.get(kinds.Lease, lease))?.metadata.resourceVersion).toBe(before);
});

test('a change that fails does not keep others from theirs', async () => {
  const cluster = new FakeCluster();
  const record = recordOf(cluster);
  const refusal = new ApiError(403, 'Forbidden', 'may not');
  cluster.failNext({ verb: 'create' }, refusal);
  await expect(add(record, 'a', () => Promise.resolve())).rejects.toBe(refusal);
  expect(await add(record, 'b', () => Promise.resolve())).toBe(0);
  expect(await add(record, 'c', () => Promise.resolve())).toBe(1);
});
