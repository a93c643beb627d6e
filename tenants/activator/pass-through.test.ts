import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { passedSocket, passThrough } from './pass-through.ts';

const lingerMs = 10_000;

const open: (Server | Socket)[] = [];
afterEach(() => {
  for (const one of open.splice(0)) {
    if ('destroy' in one) one.destroy();
    else one.close();
  }
});

/** Both ends of a connection on this host; the outer one is that of a client or of an API server. */
async function connection(): Promise<{ readonly inner: Socket; readonly outer: Socket }> {
  const server = createServer({ ...passedSocket, pauseOnConnect: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const outer = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  const [inner] = (await once(server, 'connection')) as [Socket];
  open.push(server, outer, inner);
  for (const socket of [inner, outer]) socket.on('error', () => socket.destroy());
  return { inner, outer };
}

/** A caller and an API server between which everything is passed on, on a clock of its own. */
class Passed {
  readonly clock = new FakeClock();
  isOver = false;
  readonly caller: Socket;
  readonly server: Socket;
  readonly over: Promise<void>;

  private constructor(caller: { inner: Socket; outer: Socket }, server: { inner: Socket; outer: Socket }) {
    this.caller = caller.outer;
    this.server = server.outer;
    const options = { clock: this.clock, lingerMs };
    this.over = passThrough(caller.inner, server.inner, [Buffer.from('hello ')], options).then(() => {
      this.isOver = true;
    });
  }

  static async start(): Promise<Passed> {
    return new Passed(await connection(), await connection());
  }

  /** Sends from one side, and waits until it has arrived at the other one. */
  async send(from: 'caller' | 'server', text: string): Promise<void> {
    const to = from === 'caller' ? this.server : this.caller;
    let arrived = '';
    const all = new Promise<void>((resolve) => {
      const take = (chunk: Buffer): void => {
        arrived += String(chunk);
        if (!arrived.endsWith(text)) return;
        to.off('data', take);
        resolve();
      };
      to.on('data', take);
    });
    this[from].write(text);
    await all;
  }

  /** One side says that it sends nothing more, and the other one hears it. */
  async end(side: 'caller' | 'server'): Promise<void> {
    const other = side === 'caller' ? this.server : this.caller;
    const ended = once(other, 'end');
    other.resume();
    this[side].end();
    await ended;
  }
}

describe('A connection that is passed on', () => {
  test.each(['caller', 'server'] as const)(
    'is closed at both sides when the %s has ended and the other one, with nothing to say, does not',
    async (side) => {
      const passed = await Passed.start();
      await passed.send('caller', 'hello');
      await passed.end(side);
      await passed.clock.advance(lingerMs - 1);
      expect(passed.isOver).toBe(false);
      const closed = Promise.all([once(passed.caller, 'close'), once(passed.server, 'close')]);
      await passed.clock.advance(1);
      await passed.over;
      for (const one of [passed.caller, passed.server]) one.end();
      await closed;
    },
  );

  test('stays while the side that has not ended sends', async () => {
    const passed = await Passed.start();
    await passed.end('caller');
    for (let part = 0; part < 5; part += 1) {
      await passed.clock.advance(lingerMs - 1);
      await passed.send('server', `part ${part}`);
    }
    expect(passed.isOver).toBe(false);
    const ended = once(passed.caller, 'end');
    passed.server.end('the last one');
    await ended;
    await passed.over;
    expect(passed.clock.pending).toBe(0);
  });

  test('stays, however long both sides say nothing, while none has ended', async () => {
    const passed = await Passed.start();
    await passed.send('server', 'an event');
    await passed.clock.advance(24 * 3_600_000);
    await passed.send('server', 'another event');
    expect([passed.isOver, passed.clock.pending]).toEqual([false, 0]);
  });

  test('is closed although the caller had ended before anything was passed on', async () => {
    const [caller, server] = [await connection(), await connection()];
    const ended = once(caller.inner, 'end');
    caller.inner.resume();
    caller.outer.end();
    await ended;
    const clock = new FakeClock();
    const over = passThrough(caller.inner, server.inner, [], { clock, lingerMs });
    server.outer.resume();
    await once(server.outer, 'end');
    await clock.advance(lingerMs);
    await over;
  });
});
