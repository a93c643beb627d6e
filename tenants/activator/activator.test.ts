import { EventEmitter, once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { hostileHello, validHello } from '../../testing/builders/hostile-hello.ts';
import { loopbackPair, serverCa } from '../../testing/servers/server-certificates.ts';
import { Activator, activatorTimes } from './activator.ts';
import type { ActivatorTimes, CallEnd, CallOutcome } from './activator.ts';
import { CallerAddresses } from './caller-addresses.ts';
import { ConnectionPlaces } from './connection-places.ts';
import type { PlaceLimits } from './connection-groups.ts';
import { passedSocket } from './pass-through.ts';
import { ReadyPods } from './ready-pods.ts';
import type { PodAddress } from './ready-pods.ts';
import { StartingPods } from './starting-pods.ts';
import { WakeRequests } from './wake-requests.ts';

const tenant = 'tenants/shop';

let ca: KeyPair;
let pair: KeyPair;
beforeAll(async () => {
  ca = await serverCa('ca of the tenant');
  pair = await loopbackPair(ca, 'kube-apiserver', ['kubernetes']);
});

interface WorldOptions {
  readonly limits?: PlaceLimits;
  readonly times?: Partial<ActivatorTimes>;
  readonly background?: CallerAddresses;
  readonly nodes?: CallerAddresses;
}

/** An activator with one tenant, whose server echoes what it receives once it has been woken up. */
class World {
  readonly outcomes: CallOutcome[] = [];
  readonly ends: CallEnd[] = [];
  /** Connections that were passed on and ended for others. */
  displaced = 0;
  /** Whether calls of the tenant lead to the activator. */
  isLed = true;
  readonly sent: string[] = [];
  readonly callers = new Set<string>();
  /** Callers who have said hello and waited. */
  waiting = 0;
  readonly pods = new ReadyPods();
  readonly places: ConnectionPlaces;
  readonly times: { -readonly [Name in keyof ActivatorTimes]: number };
  readonly wakes = new WakeRequests({
    clock: systemClock,
    log: silent,
    send: async (key, caller) => {
      this.sent.push(key);
      this.callers.add(caller);
      await this.onWake();
    },
  });
  readonly starting = new StartingPods({
    clock: systemClock,
    log: silent,
    pods: this.pods,
    answers: () => Promise.resolve(this.answers),
  });
  /** Whether API servers of pods that are not ready answer. */
  answers = false;
  /** What happens when the tenant is requested to wake up. */
  onWake: () => Promise<void> = () => this.start();
  readonly #activator: Activator;
  readonly #front: Server;
  readonly #open = new Set<Server | Socket>();
  readonly #told: (() => void)[] = [];

  constructor({ limits = { most: 1_000, mostOfTenant: 500 }, times = {}, background, nodes }: WorldOptions = {}) {
    this.places = new ConnectionPlaces(limits);
    // A hello is slow only where a test is about that: a busy machine pauses for seconds.
    this.times = { ...activatorTimes, helloMs: 60_000, dialMs: 10_000, ...times };
    const nobody = new CallerAddresses({});
    this.#activator = new Activator({
      clock: systemClock,
      places: this.places,
      pods: this.pods,
      wakes: {
        want: (key, caller) => {
          this.waiting += 1;
          return this.wakes.want(key, caller);
        },
      },
      starting: this.starting,
      background: background ?? nobody,
      times: this.times,
      displaced: () => (this.displaced += 1),
      ended: (end) => {
        this.ends.push(end);
        this.outcomes.push(end.outcome);
        for (const tell of this.#told.splice(0)) tell();
      },
    });
    this.#front = createServer({ ...passedSocket, pauseOnConnect: true }, (socket) => {
      this.#open.add(socket);
      socket.on('close', () => this.#open.delete(socket));
      const called = { key: tenant, background: nodes ?? nobody, isLed: () => this.isLed };
      this.#activator.serve(socket, called).catch((error: unknown) => {
        this.failures.push(error);
      });
    });
    this.#open.add(this.#front);
  }

  readonly failures: unknown[] = [];

  async listen(): Promise<number> {
    this.#front.listen(0, '127.0.0.1');
    await once(this.#front, 'listening');
    return (this.#front.address() as AddressInfo).port;
  }

  /** Starts the server of the tenant, and says that its pod is ready. */
  async start(): Promise<void> {
    this.pods.set(tenant, [await this.serve()]);
  }

  /** Starts the server of the tenant. */
  async serve(): Promise<PodAddress> {
    const server = createTlsServer({ cert: pair.certificate, key: pair.key, allowHalfOpen: true }, (socket) => {
      socket.pipe(socket);
    });
    this.#open.add(server);
    server.on('connection', (socket: Socket) => this.#open.add(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  }

  /** Resolves when so many connections have ended or were passed on. */
  async told(count: number): Promise<void> {
    while (this.outcomes.length < count) await new Promise<void>((resolve) => this.#told.push(resolve));
  }

  close(): void {
    this.wakes.close();
    this.starting.close();
    for (const one of this.#open) {
      if ('destroy' in one) one.destroy();
      else one.close();
    }
  }
}

const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.close();
});

async function worldWith(options: WorldOptions = {}): Promise<{ readonly world: World; readonly port: number }> {
  const world = new World(options);
  worlds.push(world);
  return { world, port: await world.listen() };
}

/** Calls as a client of TLS that verifies the server, and returns the echo. */
async function call(port: number, text: string, from = '127.0.0.1'): Promise<string> {
  const where = { host: '127.0.0.1', port, localAddress: from };
  const socket = connectTls({ ...where, ca: ca.certificate, servername: 'kubernetes' });
  await once(socket, 'secureConnect');
  socket.end(text);
  let echo = '';
  for await (const chunk of socket) echo += String(chunk);
  return echo;
}

/** Opens a connection, writes, and waits until it is closed. */
async function closedAfter(port: number, bytes: Uint8Array): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port });
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      resolve();
    });
  });
  socket.on('error', () => socket.destroy());
  socket.resume();
  socket.write(bytes);
  await closed;
}

describe('A call of a tenant that sleeps', () => {
  test('wakes it up and is answered by the tenant itself, whose certificate the caller verifies', async () => {
    const { world, port } = await worldWith();
    expect(await call(port, 'hello')).toBe('hello');
    expect([world.sent, world.outcomes, world.failures]).toEqual([[tenant], ['Passed'], []]);
    expect([...world.callers]).toEqual(['127.0.0.1']);
  });

  test('is one of a hundred at once: one request, all answered', async () => {
    const { world, port } = await worldWith();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    world.onWake = async () => {
      await promise;
      await world.start();
    };
    const calls = Array.from({ length: 100 }, (_, index) => call(port, `call ${index}`));
    while (world.waiting < 100) await new Promise((next) => setImmediate(next));
    resolve(undefined);
    expect(await Promise.all(calls)).toEqual(calls.map((_, index) => `call ${index}`));
    expect(world.sent).toEqual([tenant]);
  });

  test('carries megabytes in both directions unchanged', async () => {
    const { port } = await worldWith();
    const text = 'a line of some length\n'.repeat(200_000);
    expect((await call(port, text)) === text).toBe(true);
  });

  test('is passed on at once while the tenant is awake, without a request', async () => {
    const { world, port } = await worldWith();
    await world.start();
    expect(await call(port, 'awake')).toBe('awake');
    expect(world.sent).toEqual([]);
  });

  test('is passed on as soon as the API server of a pod answers, also if the pod is not ready', async () => {
    const { world, port } = await worldWith();
    world.onWake = async () => {
      world.starting.set(tenant, [await world.serve()]);
      world.answers = true;
    };
    expect(await Promise.all([call(port, 'early'), call(port, 'as well')])).toEqual(['early', 'as well']);
    expect([world.pods.of(tenant), world.starting.size]).toEqual([[], 0]);
  });

  test('waits while pods that are said to be ready do not accept yet', async () => {
    const { world, port } = await worldWith({ times: { dialMs: 200 } });
    world.onWake = async () => {
      const closed = createServer();
      closed.listen(0, '127.0.0.1');
      await once(closed, 'listening');
      const { port: nobody } = closed.address() as AddressInfo;
      closed.close();
      await once(closed, 'close');
      world.pods.set(tenant, [{ host: '127.0.0.1', port: nobody }]);
      systemClock.after(150, () => {
        world.start().catch((error: unknown) => world.failures.push(error));
      });
    };
    expect(await call(port, 'late')).toBe('late');
  });

  test('is ended after the limit when nobody wakes the tenant up', async () => {
    const { world, port } = await worldWith({ times: { readyMs: 50 } });
    world.onWake = () => Promise.resolve();
    await expect(call(port, 'nobody')).rejects.toThrow();
    await world.told(1);
    expect([world.outcomes, world.places.size]).toEqual([['NotReady'], 0]);
  });

  test('that gives up while it waits is forgotten at once', async () => {
    const { world, port } = await worldWith();
    const asked = Promise.withResolvers<undefined>();
    world.onWake = () => {
      asked.resolve(undefined);
      return Promise.resolve();
    };
    const socket = connectTls({ host: '127.0.0.1', port, ca: ca.certificate });
    socket.on('error', () => socket.destroy());
    await asked.promise;
    socket.destroy();
    await world.told(1);
    expect([world.outcomes, world.places.size]).toEqual([['Gone'], 0]);
  });

  test('ends at both sides when the server dies', async () => {
    const { world, port } = await worldWith();
    const socket = connectTls({ host: '127.0.0.1', port, ca: ca.certificate, servername: 'kubernetes' });
    await once(socket, 'secureConnect');
    const closed = once(socket, 'close');
    socket.on('error', () => socket.destroy());
    world.close();
    await closed;
  });
});

/** Connections of clients that have been answered and stay open. */
async function idle(port: number, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  for (let one = 0; one < count; one += 1) {
    const socket = connectTls({ host: '127.0.0.1', port, ca: ca.certificate, servername: 'kubernetes' });
    socket.on('error', () => socket.destroy());
    await once(socket, 'secureConnect');
    sockets.push(socket);
  }
  return sockets;
}

describe('Connections that were passed on', () => {
  test('keep nobody else out: when they are too many, the oldest one is ended', async () => {
    const { world, port } = await worldWith({ limits: { most: 3, mostOfTenant: 3 } });
    const [first, ...others] = await idle(port, 3);
    const ended = once(first ?? new EventEmitter(), 'close');
    expect(await call(port, 'one more')).toBe('one more');
    await ended;
    while (world.displaced < 1) await new Promise((next) => setImmediate(next));
    expect(others.map(({ destroyed }) => destroyed)).toEqual([false, false]);
    expect(world.outcomes).toEqual(Array(4).fill('Passed'));
    for (const socket of others) socket.destroy();
  });

  test('end when the server has ended and the caller, who says nothing, does not', async () => {
    const { world, port } = await worldWith({ times: { lingerMs: 50 } });
    const server = createServer({ allowHalfOpen: true }, (socket) => socket.resume().end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    world.pods.set(tenant, [{ host: '127.0.0.1', port: (server.address() as AddressInfo).port }]);
    const caller = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    caller.on('error', () => caller.destroy());
    caller.resume();
    caller.write(validHello());
    await once(caller, 'end');
    while (world.places.size > 0) await new Promise((next) => setImmediate(next));
    caller.destroy();
    server.close();
  });
});

describe('A call of a tenant that is awake', () => {
  test('is refused when its calls do not lead here, and passed on when they do', async () => {
    const { world, port } = await worldWith();
    await world.start();
    world.isLed = false;
    await expect(call(port, 'a second way in')).rejects.toThrow();
    world.isLed = true;
    expect(await call(port, 'late')).toBe('late');
    expect([world.outcomes, world.sent]).toEqual([['NotLed', 'Passed'], []]);
  });

  test('is held although it is not known yet that its calls lead here, as long as it is not ready', async () => {
    const { world, port } = await worldWith();
    world.isLed = false;
    world.onWake = async () => {
      world.isLed = true;
      await world.start();
    };
    expect(await call(port, 'first')).toBe('first');
  });

  test('is none that was held, unlike the one that woke it up', async () => {
    const { world, port } = await worldWith();
    expect([await call(port, 'first'), await call(port, 'second')]).toEqual(['first', 'second']);
    expect(world.ends.map(({ isHeld }) => isHeld)).toEqual([true, false]);
  });
});

describe('What does not wake a tenant', () => {
  test.each([
    ['a connection that says nothing', new Uint8Array(), 'Slow'],
    ['a request of HTTP', Buffer.from('GET /healthz HTTP/1.1\r\n\r\n'), 'NotTls'],
    ['a hello that does not end', Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]), 'Slow'],
    ['a hello that is too long', Buffer.from([22, 3, 1, 64, 0, 1, 0, 255, 255]), 'TooLong'],
  ])('is %s', async (_name, bytes, outcome) => {
    const { world, port } = await worldWith(outcome === 'Slow' ? { times: { helloMs: 50 } } : {});
    await closedAfter(port, bytes);
    await world.told(1);
    expect([world.outcomes, world.sent, world.places.size]).toEqual([[outcome], [], 0]);
  });

  test('is a connection that is closed at once, as probes of load balancers are', async () => {
    const { world, port } = await worldWith();
    const socket = connect({ host: '127.0.0.1', port });
    await once(socket, 'connect');
    socket.end();
    await world.told(1);
    expect([world.outcomes, world.sent]).toEqual([['Gone'], []]);
  });

  test.each<[string, WorldOptions]>([
    ['its own node', { nodes: new CallerAddresses({ addresses: ['127.0.0.1'] }) }],
    [
      'a caller in a network that is in the background',
      { background: new CallerAddresses({ networks: ['127.0.0.0/8'] }) },
    ],
  ])('is %s, which is served while it is awake', async (_name, options) => {
    const { world, port } = await worldWith(options);
    await expect(call(port, 'node')).rejects.toThrow();
    expect([world.outcomes, world.sent]).toEqual([['Background'], []]);
    await world.start();
    expect(await call(port, 'node')).toBe('node');
  });
});

describe('Callers who say nothing', () => {
  test('keep nobody out: the oldest of them is ended', async () => {
    const { world, port } = await worldWith({ limits: { most: 20, mostOfTenant: 10 }, times: { helloMs: 60_000 } });
    const silentOnes = Array.from({ length: 30 }, () => connect({ host: '127.0.0.1', port }));
    for (const socket of silentOnes) socket.on('error', () => socket.destroy());
    await world.told(20);
    expect(world.places.size).toBe(10);
    expect(await call(port, 'client')).toBe('client');
    for (const socket of silentOnes) socket.destroy();
    await world.told(31);
    expect(new Set(world.outcomes)).toEqual(new Set(['Full', 'Gone', 'Passed']));
  });

  test('that said hello and wait are not ended for others, who are refused', async () => {
    const { world, port } = await worldWith({ limits: { most: 20, mostOfTenant: 3 } });
    world.onWake = () => Promise.resolve();
    const calls = Array.from({ length: 3 }, (_, index) => call(port, `call ${index}`));
    while (world.waiting < 3) await new Promise((next) => setImmediate(next));
    const more = Array.from({ length: 3 }, () => closedAfter(port, Buffer.from([22])));
    await Promise.all(more);
    await world.start();
    expect(await Promise.all(calls)).toEqual(['call 0', 'call 1', 'call 2']);
  });
});

test('A caller who waits is ended for another one who has less, and that is counted', async () => {
  const { world, port } = await worldWith({ limits: { most: 20, mostOfTenant: 3 } });
  world.onWake = () => Promise.resolve();
  const calls = Array.from({ length: 3 }, (_, index) => call(port, `call ${index}`));
  const ended = Promise.allSettled(calls);
  while (world.waiting < 3) await new Promise((next) => setImmediate(next));
  const other = call(port, 'other', '127.0.0.2');
  await world.told(1);
  expect(world.outcomes).toEqual(['Full']);
  await world.start();
  expect(await other).toBe('other');
  expect((await ended).map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
});

test('Ten thousand hostile callers wake nothing, and leave no memory and no connection behind', async () => {
  const { world, port } = await worldWith({ times: { helloMs: 20 } });
  const attack = async (from: number, to: number): Promise<void> => {
    for (let batch = from; batch < to; batch += 250) {
      const calls = Array.from({ length: Math.min(250, to - batch) }, (_, index) =>
        closedAfter(port, hostileHello(batch + index).bytes),
      );
      await Promise.all(calls);
    }
  };
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await attack(0, 2_000);
  collect();
  const before = process.memoryUsage();
  await attack(2_000, 10_000);
  collect();
  const after = process.memoryUsage();
  await world.told(10_000);
  expect([world.sent, world.places.size, world.wakes.size, world.failures]).toEqual([[], 0, 0, []]);
  const grown = (after.heapUsed + after.external - before.heapUsed - before.external) / 2 ** 20;
  expect(grown).toBeLessThan(8);
  world.times.helloMs = 60_000;
  expect(await call(port, 'still there')).toBe('still there');
}, 300_000);
