import { describe, expect, test } from '@jest/globals';

import { systemClock } from '../clock.ts';
import type { Page } from './http-endpoints.ts';
import { profilePages } from './profile-pages.ts';

const pages = profilePages(systemClock);
const ask = async (kind: 'cpu' | 'heap', query: string): Promise<Page> => {
  const path = `/debug/profiles/${kind}`;
  const page = pages[path];
  if (page === undefined) throw new Error(`no page ${path}`);
  return page(path, new URLSearchParams(query));
};

/** Works and allocates until the promise is settled, as a function that profiles must name. */
async function burnForTheProfile(until: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const end = (): void => {
    over.abort();
  };
  until.then(end, end);
  const kept: string[][] = [];
  while (!over.signal.aborted) {
    for (let round = 0; round < 50; round += 1) kept.push(Array.from({ length: 1000 }, (_, at) => `text ${at}`));
    kept.splice(0, kept.length - 20);
    await new Promise(setImmediate);
  }
}

describe('The profiles of the manager', () => {
  test.each(['cpu', 'heap'] as const)('a profile of %s names the functions that work', async (kind) => {
    const asked = ask(kind, 'seconds=0.3');
    await burnForTheProfile(asked);
    const { code, type, body } = await asked;
    expect([code, type]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body).toContain('burnForTheProfile');
    expect(Object.keys(JSON.parse(body) as object)).toContain(kind === 'cpu' ? 'nodes' : 'head');
  });

  test('are taken one at a time, and again afterwards', async () => {
    const first = ask('cpu', 'seconds=0.1');
    expect(await ask('heap', 'seconds=0.1')).toMatchObject({ code: 429 });
    expect((await first).code).toBe(200);
    expect((await ask('heap', 'seconds=0.1')).code).toBe(200);
  });

  test.each(['0', '-1', '26', 'soon', ''])('do not take "%s" seconds', async (seconds) => {
    expect(await ask('cpu', `seconds=${seconds}`)).toMatchObject({ code: 400 });
  });
});
