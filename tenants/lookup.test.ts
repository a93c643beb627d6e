import type { LookupAddress } from 'node:dns';

import { expect, test } from '@jest/globals';

import { strangersLookup } from './lookup.ts';
import type { NameServers } from './lookup.ts';

const unknown = (): Promise<never> => Promise.reject(new Error('queryA ENOTFOUND shop.example'));
const servers: NameServers = {
  resolve4: () => Promise.resolve(['192.0.2.1', '192.0.2.2']),
  resolve6: () => Promise.resolve(['2001:db8::1']),
};

const ask = (of: NameServers, all: boolean): Promise<string | LookupAddress[]> =>
  new Promise((resolve, reject) => {
    strangersLookup(of)('shop.example', { all }, (error, address) => {
      if (error === null) resolve(address);
      else reject(error);
    });
  });

test('all addresses of both families are found', async () => {
  expect(await ask(servers, true)).toEqual([
    { address: '192.0.2.1', family: 4 },
    { address: '192.0.2.2', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ]);
  expect(await ask(servers, false)).toBe('192.0.2.1');
});

test('a name with one family is found', async () => {
  expect(await ask({ ...servers, resolve4: unknown }, false)).toBe('2001:db8::1');
  expect(await ask({ ...servers, resolve6: unknown }, false)).toBe('192.0.2.1');
});

test('a name that does not exist, or that has no address, is an error', async () => {
  await expect(ask({ resolve4: unknown, resolve6: unknown }, true)).rejects.toThrow('ENOTFOUND');
  const none = (): Promise<string[]> => Promise.resolve([]);
  await expect(ask({ resolve4: none, resolve6: none }, true)).rejects.toThrow('shop.example has no address');
});
