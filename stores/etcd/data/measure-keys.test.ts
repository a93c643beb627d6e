import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { tenancyRange } from '../range.ts';
import type { EtcdDataCalls, EtcdEntry } from './data-client.ts';
import { measureKeys } from './measure-keys.ts';

const range = tenancyRange('a');

/** An etcd with these values, that counts its answers. */
function etcdWith(values: readonly Buffer[]): Pick<EtcdDataCalls, 'page'> & { readonly revisions: bigint[] } {
  const all = values.map((value, index): EtcdEntry => {
    return { key: Buffer.from(`/a/${String(index).padStart(6, '0')}`), value };
  });
  const revisions: bigint[] = [];
  return {
    revisions,
    page: ({ start }, revision, limit) => {
      revisions.push(revision);
      const rest = all.filter(({ key }) => Buffer.compare(key, start) >= 0);
      return Promise.resolve({ entries: rest.slice(0, limit), more: rest.length > limit });
    },
  };
}

test('the size is that of all keys and values, however they fall into pages', async () => {
  const value = fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes));
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 300 }), async (values) => {
      const expected = values.reduce((sum, one) => sum + '/a/000000'.length + one.length, 0);
      const measured = await measureKeys(etcdWith(values), range, new AbortController().signal);
      expect(measured).toEqual({ keys: values.length, bytes: expected });
    }),
    { numRuns: 50 },
  );
});

test('each page is read at the newest revision, so that a compaction interrupts nothing', async () => {
  const etcd = etcdWith(Array.from({ length: 200 }, () => Buffer.from('x')));
  await measureKeys(etcd, range, new AbortController().signal);
  expect(etcd.revisions).toEqual([0n, 0n]);
});

test('reading ends after the page in which it is no longer wanted', async () => {
  const etcd = etcdWith(Array.from({ length: 1000 }, () => Buffer.from('x')));
  const reason = new Error('the time is over');
  await expect(measureKeys(etcd, range, AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(etcd.revisions.length).toBe(1);
});
