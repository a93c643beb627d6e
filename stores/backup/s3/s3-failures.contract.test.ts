import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '../../../runtime/clock.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import { startCuttingProxy } from '../../../testing/servers/s3/cutting-proxy.ts';
import { freePorts } from '../../../testing/servers/free-ports.ts';
import { startS3 } from '../../../testing/servers/s3/s3-server.ts';
import type { S3Server } from '../../../testing/servers/s3/s3-server.ts';
import { serverCa } from '../../../testing/servers/server-certificates.ts';
import { startTcpProxy } from '../../../testing/servers/tcp-proxy.ts';
import { RepositoryError } from '../backup-repository.ts';
import { openS3Client } from './s3-client.ts';
import type { S3Connection, S3Timeouts } from './s3-client.ts';
import { S3Repository } from './s3-repository.ts';

let server: S3Server;
let plain: S3Server;
let bucket: string;
beforeAll(async () => {
  [server, plain] = await Promise.all([startS3(), startS3({ hasTls: false })]);
  bucket = await server.makeBucket();
}, 120_000);
afterAll(async () => {
  await Promise.all([server, plain].map((one) => one[Symbol.asyncDispose]()));
});

interface Opened {
  readonly connection?: Partial<S3Connection>;
  readonly to?: string;
  readonly clock?: Clock;
  readonly timeouts?: S3Timeouts;
  /** Shifts the clock that requests are signed with. In milliseconds. */
  readonly skewMs?: number;
  readonly waiting?: (failure: RepositoryError) => void;
}

function open({ connection, to = bucket, clock = systemClock, timeouts, skewMs, waiting }: Opened = {}): S3Repository {
  const client = openS3Client({ ...server.connection, ...connection }, timeouts);
  if (skewMs !== undefined) client.config.systemClockOffset = skewMs;
  const place = { bucket: to, prefix: 'steward' };
  return new S3Repository({ client, place, clock, random: Math.random, ...(waiting && { waiting }) });
}

const port = (number: number): Partial<S3Connection> => ({ endpoint: `https://127.0.0.1:${number}` });

describe('a repository in a bucket says what is wrong', () => {
  const wrong: Readonly<Record<string, () => Promise<readonly [Opened, string]> | readonly [Opened, string]>> = {
    'no such bucket': () => [{ to: 'never-made' }, 'bucket never-made does not exist there: create it'],
    'an unknown key': () => [
      { connection: { credentials: { accessKeyId: 'nobody', secretAccessKey: 'x' } } },
      'does not know the access key ID',
    ],
    'another secret': () => [
      { connection: { credentials: { ...server.connection.credentials, secretAccessKey: 'x' } } },
      'the secret access key does not belong to the access key ID',
    ],
    'no permission': async () => [
      { connection: { credentials: await server.makeUser() } },
      'access is denied: the key needs s3:ListBucket for bucket backups-',
    ],
    'another region': () => [{ connection: { region: 'us-east-1' } }, 'is in the region eu-test-1: set this region'],
    'an unknown CA': async () => [
      { connection: { ca: (await serverCa('other')).certificate } },
      'is not trusted: supply the CA that issued it',
    ],
    'no CA': () => [{ connection: { ca: undefined } }, 'is not trusted: supply the CA that issued it'],
    'TLS to a server without it': () => [{ connection: port(plain.port) }, 'the server does not speak TLS'],
    'no TLS': () => [{ connection: { endpoint: plain.connection.endpoint } }, 'the endpoint has no TLS'],
  };

  test.each(Object.keys(wrong))('when there is %s', async (name) => {
    const [opened, expected] = (await wrong[name]?.()) ?? [{}, ''];
    using repository = open(opened);
    const failed = repository.list('a/');
    await expect(failed).rejects.toThrow(RepositoryError);
    await expect(failed).rejects.toThrow(expected);
    await expect(failed).rejects.toThrow(/^the repository s3:\/\/.+\/steward failed: /);
  });

  test('when there are no credentials', async () => {
    // Otherwise the SDK asks the address at which machines of AWS are told who they are.
    process.env.AWS_EC2_METADATA_DISABLED = 'true';
    const { endpoint, region, ca } = server.connection;
    using repository = new S3Repository({
      client: openS3Client({ endpoint, region, ca, pathStyle: true, allowHttp: false }),
      place: { bucket, prefix: '' },
      clock: systemClock,
      random: Math.random,
    });
    await expect(repository.list('a/')).rejects.toThrow('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  });

  test('and shows no secret', async () => {
    const credentials = { ...server.connection.credentials, secretAccessKey: 'hidden-secret' };
    using repository = open({ connection: { credentials } });
    const failure: unknown = await repository.list('a/').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RepositoryError);
    expect(String(failure)).not.toContain('hidden');
  });
});

describe('a request to a bucket', () => {
  const content = randomBytes(3 * 1024 * 1024);

  test('is sent without TLS where that is allowed', async () => {
    const to = await plain.makeBucket();
    using repository = open({ connection: plain.connection, to });
    await repository.write('plain/a', content);
    expect(await repository.list('plain/')).toEqual(['plain/a']);
  });

  test('goes through a proxy where one is named, with TLS to the server', async () => {
    const seen: string[] = [];
    const proxy = createServer().on('connect', (request, client) => {
      seen.push(request.url ?? '');
      const upstream = connect(server.port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        client.pipe(upstream).pipe(client);
      });
      for (const [one, other] of [[client, upstream] as const, [upstream, client] as const]) {
        one.on('error', () => undefined).on('close', () => other.destroy());
      }
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const { port: at } = proxy.address() as AddressInfo;
    {
      using repository = open({ connection: { proxy: { HTTPS_PROXY: `http://127.0.0.1:${at}` } } });
      await repository.write('proxied/a', content);
      expect(content.equals((await repository.read('proxied/a')) ?? Buffer.of())).toBe(true);
    }
    expect(seen[0]).toBe(`127.0.0.1:${server.port}`);
    proxy.closeAllConnections();
    proxy.close();
  });

  test.each([-5, 5])('succeeds when the clock of this machine is wrong by %i hours', async (hours) => {
    using repository = open({ skewMs: hours * 3_600_000 });
    await repository.write(`skewed/a${hours}`, content);
    expect(await repository.list('skewed/')).toContain(`skewed/a${hours}`);
  });

  test.each([100, 10_000, 2_000_000])(
    'is repeated when its connection is cut after %i bytes to the server',
    async (bytes) => {
      await using proxy = await startCuttingProxy(server.port);
      using repository = open({ connection: port(proxy.port) });
      const name = `cut/up-${bytes}`;
      proxy.cut({ way: 'to the server', bytes, times: 2 });
      await repository.write(name, content);
      expect(proxy.cuts).toBe(2);
      expect(content.equals((await repository.read(name)) ?? Buffer.of())).toBe(true);
    },
  );

  test.each([10, 10_000, 2_000_000])(
    'is repeated when its connection is cut after %i bytes to the client',
    async (bytes) => {
      await using proxy = await startCuttingProxy(server.port);
      using direct = open();
      using repository = open({ connection: port(proxy.port) });
      const name = `cut/down-${bytes}`;
      await direct.write(name, content);
      proxy.cut({ way: 'to the client', bytes, times: 2 });
      expect(content.equals((await repository.read(name)) ?? Buffer.of())).toBe(true);
      expect(proxy.cuts).toBe(2);
    },
  );

  test('leaves the former content when it is cut each time', async () => {
    await using proxy = await startCuttingProxy(server.port);
    using direct = open();
    await direct.write('cut/former', Buffer.from('former'));
    const clock = new FakeClock();
    using repository = open({ connection: port(proxy.port), clock });
    proxy.cut({ way: 'to the server', bytes: 1_000_000, times: Infinity });
    await expect(settled(clock, repository.write('cut/former', content))).rejects.toThrow('failed: ');
    expect(proxy.cuts).toBeGreaterThan(10);
    expect(Buffer.from((await direct.read('cut/former')) ?? []).toString()).toBe('former');
    expect(await direct.list('cut/former/')).toEqual([]);
  });

  test('is repeated when nothing comes back', async () => {
    await using proxy = await startTcpProxy(server.port);
    proxy.freeze();
    const failures: string[] = [];
    using repository = open({
      connection: port(proxy.port),
      timeouts: { connectMs: 500, silenceMs: 500 },
      waiting: ({ message }) => {
        failures.push(message);
        proxy.thaw();
        proxy.cut();
      },
    });
    await repository.write('silent/a', content);
    expect(failures.length).toBeGreaterThan(0);
    expect(await repository.list('silent/')).toEqual(['silent/a']);
  });

  test('is given up two minutes after a server went away, and says why', async () => {
    const [unused = 0] = await freePorts(1);
    const clock = new FakeClock();
    const failures: string[] = [];
    using repository = open({ connection: port(unused), clock, waiting: ({ message }) => failures.push(message) });
    await expect(settled(clock, repository.list('a/'))).rejects.toThrow('ECONNREFUSED');
    expect(clock.monotonic()).toBeGreaterThan(100_000);
    expect(clock.monotonic()).toBeLessThanOrEqual(120_000);
    expect(failures.length).toBeGreaterThan(10);
    expect(failures[0]).toMatch(/^the repository s3:\/\/.*ECONNREFUSED/);
  });

  test('is answered after a server was killed and started again', async () => {
    const failures: string[] = [];
    const state: { restarted?: Promise<void> } = {};
    using repository = open({
      waiting: ({ message }) => {
        failures.push(message);
        state.restarted ??= server.restart();
      },
    });
    await repository.write('restarted/before', content);
    await server.kill();
    await repository.write('restarted/after', content);
    await state.restarted;
    expect(failures.length).toBeGreaterThan(0);
    expect(await repository.list('restarted/')).toEqual(['restarted/after', 'restarted/before']);
  });
});

/** Lets time pass, as long as somebody waits for it, until there is a result. */
async function settled<T>(clock: FakeClock, result: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const over = (): void => {
    state.isOver = true;
  };
  result.then(over, over);
  while (!state.isOver) {
    const due = clock.nextDueMs;
    if (due === undefined) await turn();
    else await clock.advance(due);
  }
  return result;
}
