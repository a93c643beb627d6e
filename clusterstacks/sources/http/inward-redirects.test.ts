import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';

import { HostileServer } from '../../../testing/worlds/stacks/hostile-server.ts';
import { SourceUnavailableError } from '../asset-errors.ts';
import { defaultAssetLimits } from '../asset-limits.ts';
import type { Reach } from './address-reach.ts';
import { reachOf } from './address-reach.ts';
import { SourceHttp } from './source-http.ts';

const never = new AbortController().signal;

const sourceOf = (origin: string, rest: { readonly closed?: string[]; readonly reach?: (one: string) => Reach } = {}) =>
  new SourceHttp({ name: 'the source', home: new URL(origin), limits: defaultAssetLimits, plainHttp: true, ...rest });

const leadingTo = (location: () => string) =>
  HostileServer.start((_, response) => response.writeHead(302, { location: location() }).end());

const portOf = ({ host }: HostileServer): string => host.split(':')[1] ?? '';

/** As if 127.0.0.2 were an address of the internet. */
const withPublic = (address: string): Reach => (address === '127.0.0.2' ? 'public' : reachOf(address));

async function publicServer(location: string) {
  const server = createServer((_, response) => response.writeHead(302, { location }).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve));
  return {
    origin: `http://127.0.0.2:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('A source is not followed', () => {
  test.each([
    ['http://169.254.169.254/latest/meta-data/', /link-local address or the address of a metadata service/],
    ['http://2852039166/', /link-local/],
    ['http://[fd00:ec2::254]/', /metadata service/],
    ['http://100.100.100.200/', /metadata service/],
    ['http://[fe80::1]/', /link-local/],
    ['http://10.0.0.1/', /private network/],
    ['http://192.168.1.1:8080/', /private network/],
    ['http://[::ffff:10.0.0.1]/', /private network/],
    ['http://[64:ff9b::a00:1]/', /private network/],
    ['http://[fd12::1]/', /private network/],
  ])('to %s', async (location, why) => {
    await using server = await leadingTo(() => location);
    const asked = sourceOf(server.origin).send({ url: new URL(server.origin) }, never);
    await expect(asked).rejects.toThrow(SourceUnavailableError);
    await expect(asked).rejects.toThrow(why);
    expect(server.seen).toHaveLength(1);
  });

  test.each(['127.0.0.1', 'localhost', '0.0.0.0', '[::ffff:127.0.0.1]'])(
    'from a public address to the manager’s own machine, called %s',
    async (name) => {
      await using inside = await HostileServer.start((_, response) => response.end('the secret'));
      await using server = await publicServer(`http://${name}:${portOf(inside)}/`);
      const source = sourceOf(server.origin, { reach: withPublic });
      const asked = source.send({ url: new URL(server.origin) }, never);
      await expect(asked).rejects.toThrow(
        /the source points to http.*, which is the manager’s own machine: only a source with such an address itself may/,
      );
      expect(inside.seen).toEqual([]);
    },
  );

  test.each(['127.0.0.1', 'localhost'])('to the API server of the management cluster, called %s', async (name) => {
    await using apiServer = await HostileServer.start((_, response) => response.end('{}'));
    await using server = await leadingTo(() => `http://${name}:${portOf(apiServer)}/api`);
    const source = sourceOf(server.origin, { closed: [apiServer.host] });
    await expect(source.send({ url: new URL(server.origin) }, never)).rejects.toThrow(
      /which is the API server of the management cluster/,
    );
    expect(apiServer.seen).toEqual([]);
  });

  test('if its own address is the API server', async () => {
    await using apiServer = await HostileServer.start((_, response) => response.end('{}'));
    const source = sourceOf(apiServer.origin, { closed: [apiServer.host] });
    await expect(source.send({ url: new URL(apiServer.origin) }, never)).rejects.toThrow(/API server/);
    expect(apiServer.seen).toEqual([]);
  });
});

describe('A source is followed', () => {
  test('to another host of its own network', async () => {
    await using storage = await HostileServer.start((_, response) => response.end('bytes'));
    await using server = await leadingTo(() => `http://localhost:${portOf(storage)}/`);
    const source = sourceOf(server.origin);
    const answer = await source.send({ url: new URL(server.origin) }, never);
    await expect(source.text(answer, never)).resolves.toBe('bytes');
  });

  test('back to itself, but without credentials', async () => {
    const shown: (string | undefined)[] = [];
    await using elsewhere = await leadingTo(() => `${home.origin}/again`);
    await using home = await HostileServer.start(({ url = '', headers }, response) => {
      shown.push(headers.authorization);
      if (url === '/again') response.end('bytes');
      else response.writeHead(307, { location: elsewhere.origin }).end();
    });
    const source = sourceOf(home.origin);
    const answer = await source.send({ url: new URL(home.origin), authorization: 'Basic x' }, never);
    expect(answer.status).toBe(200);
    await source.drop(answer);
    expect(shown).toEqual(['Basic x', undefined]);
    expect(elsewhere.seen.map(({ authorization }) => authorization)).toEqual([undefined]);
  });
});
