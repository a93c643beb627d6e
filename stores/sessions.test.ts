import { describe, expect, test } from '@jest/globals';
import { FakeClock, settle } from '../testing/fake/fake-clock.ts';
import type { Driver, Session } from './driver.ts';
import { Sessions } from './sessions.ts';
import { StoreError } from './store-error.ts';

interface Dialed {
  readonly log: string[];
  readonly driver: Driver<string>;
}

/** A driver whose config is its checksum; it notes what is opened and closed. */
function dialing(open: (config: string) => Promise<void> = () => Promise.resolve()): Dialed {
  const log: string[] = [];
  const session = (config: string): Session => ({
    ping: () => Promise.resolve({ version: '1', supported: true, floor: '1' }),
    ensure: () => Promise.resolve(),
    remove: () => Promise.resolve(),
    measure: () => Promise.resolve(undefined),
    countWrites: () => Promise.resolve(undefined),
    [Symbol.asyncDispose]: () => Promise.resolve(void log.push(`close ${config}`)),
  });
  const driver: Driver<string> = {
    name: 'etcd',
    capabilities: { passwords: false, kine: true, opensUncopied: false, servesOneTenant: () => false },
    configure: () => Promise.resolve(''),
    checksum: (config) => config,
    bind: () => ({ kind: 'kine', endpoint: '', connection: '' }),
    clientTls: () => Promise.resolve(undefined),
    open: async (config) => {
      log.push(`open ${config}`);
      await open(config);
      return session(config);
    },
    isolation: () => Promise.reject(new Error('no canary tenants are created in it')),
  };
  return { log, driver };
}

const ping = (session: Session): Promise<unknown> => session.ping();

describe('Sessions', () => {
  test('opens one session for many concurrent users, and another one for another configuration', async () => {
    const { log, driver } = dialing();
    await using sessions = new Sessions({ clock: new FakeClock() });
    await Promise.all([
      sessions.use(driver, 'a', ping),
      sessions.use(driver, 'a', ping),
      sessions.use(driver, 'b', ping),
    ]);
    await sessions.use(driver, 'a', ping);
    expect(log).toEqual(['open a', 'open b']);
  });

  test('closes a session that was idle for a while, and none in use', async () => {
    const clock = new FakeClock();
    const { log, driver } = dialing();
    await using sessions = new Sessions({ clock, idleMs: 1000 });
    await sessions.use(driver, 'a', ping);
    await clock.advance(900);
    await sessions.use(driver, 'a', async () => clock.advance(5000));
    expect(log).toEqual(['open a']);
    await clock.advance(1000);
    expect(log).toEqual(['open a', 'close a']);
    expect(sessions.size).toBe(0);
  });

  test.each(['Unreachable', 'Unauthorized'] as const)(
    'opens a new session after %s, but not after other errors',
    async (reason) => {
      const { log, driver } = dialing();
      await using sessions = new Sessions({ clock: new FakeClock() });
      const fail = (error: Error) => sessions.use(driver, 'a', () => Promise.reject(error));
      await expect(fail(new StoreError('OwnedByAnother', 'x'))).rejects.toThrow('x');
      await expect(fail(new StoreError(reason, 'y'))).rejects.toThrow('y');
      await settle();
      await sessions.use(driver, 'a', ping, { probe: true });
      expect(log).toEqual(['open a', 'close a', 'open a']);
    },
  );

  test('tries again after a session could not be opened', async () => {
    let broken = true;
    const { log, driver } = dialing(() => (broken ? Promise.reject(new Error('no')) : Promise.resolve()));
    await using sessions = new Sessions({ clock: new FakeClock() });
    await expect(sessions.use(driver, 'a', ping)).rejects.toThrow('no');
    broken = false;
    await sessions.use(driver, 'a', ping);
    expect(log).toEqual(['open a', 'open a']);
  });

  test('closes everything at the end and refuses further use', async () => {
    const { log, driver } = dialing();
    const clock = new FakeClock();
    const sessions = new Sessions({ clock });
    await sessions.use(driver, 'a', ping);
    await sessions[Symbol.asyncDispose]();
    expect(log).toEqual(['open a', 'close a']);
    expect(clock.pending).toBe(0);
    await expect(sessions.use(driver, 'a', ping)).rejects.toThrow(/being closed/);
  });

  test('does not use a datastore that was just unreachable, and admits one use after ten seconds', async () => {
    const clock = new FakeClock();
    const { log, driver } = dialing();
    await using sessions = new Sessions({ clock });
    const dead = new StoreError('Unreachable', 'a:2379: no answer');
    let asked = 0;
    const ask = (): Promise<never> => {
      asked += 1;
      return Promise.reject(dead);
    };
    await expect(sessions.use(driver, 'a', ask)).rejects.toBe(dead);
    await expect(sessions.use(driver, 'a', ask)).rejects.toBe(dead);
    await sessions.use(driver, 'b', ping);
    expect([asked, log]).toEqual([1, ['open a', 'close a', 'open b']]);
    await clock.advance(10_000);
    const trial = Promise.withResolvers<never>();
    const waiting = sessions.use(driver, 'a', () => trial.promise);
    await expect(sessions.use(driver, 'a', ask)).rejects.toBe(dead);
    trial.reject(dead);
    await expect(waiting).rejects.toBe(dead);
    await expect(sessions.use(driver, 'a', ask)).rejects.toBe(dead);
    expect(asked).toBe(1);
  });

  test('uses a datastore again once a probe got an answer, even a refusal', async () => {
    const { driver } = dialing();
    await using sessions = new Sessions({ clock: new FakeClock() });
    const fail = (reason: 'Unreachable' | 'Unauthorized', probe: boolean) =>
      sessions.use(driver, 'a', () => Promise.reject(new StoreError(reason, reason)), { probe });
    await expect(fail('Unreachable', false)).rejects.toThrow('Unreachable');
    await expect(fail('Unreachable', true)).rejects.toThrow('Unreachable');
    await expect(sessions.use(driver, 'a', ping)).rejects.toThrow('Unreachable');
    await expect(fail('Unauthorized', true)).rejects.toThrow('Unauthorized');
    await expect(sessions.use(driver, 'a', ping)).resolves.toBeDefined();
  });

  test('ignores a failure that began before the datastore came back', async () => {
    const clock = new FakeClock();
    const { driver } = dialing();
    await using sessions = new Sessions({ clock });
    const late = Promise.withResolvers<never>();
    const old = sessions.use(driver, 'a', () => late.promise);
    await clock.advance(5_000);
    await sessions.use(driver, 'a', ping);
    late.reject(new StoreError('Unreachable', 'a'));
    await expect(old).rejects.toThrow('a');
    await expect(sessions.use(driver, 'a', ping)).resolves.toBeDefined();
  });

  test('ends the wait for a connection when the reconcile is over, and keeps the connection for others', async () => {
    const dial = Promise.withResolvers<undefined>();
    const { log, driver } = dialing(() => dial.promise);
    await using sessions = new Sessions({ clock: new FakeClock() });
    const reconcile = new AbortController();
    const first = sessions.use(driver, 'a', ping, { signal: reconcile.signal });
    const second = sessions.use(driver, 'a', ping);
    reconcile.abort(new Error('the reconcile took too long'));
    await expect(first).rejects.toThrow('took too long');
    await expect(sessions.use(driver, 'a', ping, { signal: reconcile.signal })).rejects.toThrow('took too long');
    dial.resolve(undefined);
    await second;
    await sessions.use(driver, 'a', ping);
    expect(log).toEqual(['open a']);
  });

  test('do not change a datastore once this process must no longer act, also with a session from before', async () => {
    const { driver } = dialing();
    let leads = true;
    const mayWrite = (): void => {
      if (!leads) throw new Error('this process is not the leader');
    };
    await using sessions = new Sessions({ clock: new FakeClock(), mayWrite });
    const ensure = (session: Session): Promise<void> => session.ensure({ schema: 'a', user: 'a', owner: 'uid' });
    await sessions.use(driver, 'a', ensure);
    const opened = Promise.withResolvers<undefined>();
    const waiting = sessions.use(driver, 'a', async (session) => {
      await opened.promise;
      await ensure(session);
    });
    leads = false;
    opened.resolve(undefined);
    await expect(waiting).rejects.toThrow('not the leader');
    await expect(sessions.use(driver, 'b', ensure)).rejects.toThrow('not the leader');
    await expect(sessions.use(driver, 'a', ping)).resolves.toBeDefined();
  });
});
