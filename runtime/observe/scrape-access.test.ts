import { beforeEach, describe, expect, test } from '@jest/globals';
import type { KindRef, Manifest, Resource } from '../../api/meta.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import type { Cluster } from '../client/cluster.ts';
import { silent } from './logger.ts';
import { ScrapeAccess } from './scrape-access.ts';

/** What the API server was sent, and what it knows: names of accounts by token, and who may read metrics. */
const sent: Manifest[] = [];
const accounts = new Map([
  ['good', 'prometheus'],
  ['poor', 'visitor'],
]);
const readers = new Set(['prometheus']);
let fails = false;
let clock: FakeClock;
let access: ScrapeAccess;

function create<T extends Resource>(_: KindRef<T>, manifest: Manifest): Promise<T> {
  sent.push(manifest);
  if (fails) return Promise.reject(new Error('no route'));
  const spec = manifest.spec as { readonly token?: string; readonly user?: string };
  const username = accounts.get(spec.token ?? '');
  const status =
    manifest.kind === 'TokenReview'
      ? { authenticated: username !== undefined, user: { username, groups: ['g'], uid: 'u' } }
      : { allowed: readers.has(spec.user ?? '') };
  return Promise.resolve({ ...manifest, status } as Resource as T);
}

beforeEach(() => {
  sent.length = 0;
  fails = false;
  clock = new FakeClock();
  const cluster: Pick<Cluster, 'create'> = { create };
  access = new ScrapeAccess({ cluster, clock, log: silent });
});

const ask = async (token?: string): Promise<number | undefined> => {
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  return (await access.refusal({ authorization, path: '/metrics', method: 'get' }))?.code;
};

describe('Access to metrics', () => {
  test('is decided by the API server: who the client is, and whether it may read the path', async () => {
    expect(await ask('good')).toBeUndefined();
    expect(sent.map(({ kind, spec }) => [kind, spec])).toEqual([
      ['TokenReview', { token: 'good' }],
      [
        'SubjectAccessReview',
        { user: 'prometheus', groups: ['g'], uid: 'u', nonResourceAttributes: { path: '/metrics', verb: 'get' } },
      ],
    ]);
    expect(sent.every(({ metadata }) => metadata.name === '')).toBe(true);
  });

  test('is denied without a token, with an unknown one, and without permission', async () => {
    expect([await ask(), sent.length]).toEqual([401, 0]);
    expect(await ask('made-up')).toBe(401);
    expect(await ask('poor')).toBe(403);
  });

  test('is cached for a minute, a denial for ten seconds', async () => {
    await Promise.all([ask('good'), ask('good')]);
    await ask('poor');
    await clock.advance(9_000);
    expect([await ask('good'), await ask('poor'), sent.length]).toEqual([undefined, 403, 4]);
    readers.add('visitor');
    await clock.advance(2_000);
    expect(await ask('poor')).toBeUndefined();
    readers.delete('visitor');
    accounts.delete('good');
    await clock.advance(50_000);
    expect(await ask('good')).toBe(401);
    accounts.set('good', 'prometheus');
  });

  test('is denied while the API server does not answer, and is checked again', async () => {
    fails = true;
    expect(await ask('good')).toBe(503);
    fails = false;
    expect(await ask('good')).toBeUndefined();
  });

  test('causes a limited number of requests, whatever tokens are sent', async () => {
    await ask('good');
    const codes: (number | undefined)[] = [];
    for (let n = 0; n < 1000; n += 1) codes.push(await ask(`made-up-${n}`));
    expect([codes.filter((code) => code === 401).length, sent.length]).toEqual([19, 21]);
    expect(await ask('good')).toBeUndefined();
  });
});
