import { afterEach, describe, expect, test } from '@jest/globals';
import { KubeconfigError } from '../../../api/kubeconfig.ts';
import { settle } from '../../../testing/fake/fake-clock.ts';
import { Http2Servers } from '../../../testing/http2/http2-servers.ts';
import { systemClock } from '../../clock.ts';
import { UnprocessedError } from '../exchange/unprocessed-error.ts';
import { Http2Sessions } from './http2-sessions.ts';

const servers = new Http2Servers();
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
  servers[Symbol.dispose]();
});

const made = (): Http2Sessions => new Http2Sessions({ clock: systemClock, random: () => 0 });

describe('Sessions over HTTP/2', () => {
  test('are shared by those with the same server and credentials only', async () => {
    const { url, opened } = await servers.serve();
    const sessions = made();
    const [one, same, other] = [{ server: url }, { server: url }, { server: url, token: 'b' }].map((connection) =>
      sessions.lease(connection),
    );
    const [first, second, third] = await Promise.all([one?.session(), same?.session(), other?.session()]);
    expect([first === second, first === third, opened.length, sessions.size]).toEqual([true, false, 2, 2]);
    for (const lease of [one, same, other]) lease?.release();
    expect(sessions.size).toBe(0);
  });

  test('end with their last holder, who may release twice', async () => {
    const { url, opened } = await servers.serve();
    const sessions = made();
    const [one, two] = [sessions.lease({ server: url }), sessions.lease({ server: url })];
    const session = await one.session();
    one.release();
    one.release();
    expect(session.failure).toBeUndefined();
    expect(await two.session()).toBe(session);
    two.release();
    while (opened[0]?.destroyed === false) await settle();
    await expect(one.session()).rejects.toThrow(/has been closed/);
    expect(opened.length).toBe(1);
  });

  test('are opened again once lost', async () => {
    const { url, opened } = await servers.serve();
    const lease = made().lease({ server: url });
    cleanups.push(() => {
      lease.release();
    });
    const lost = await lease.session();
    lost.destroy(new Error('lost'));
    const send = () => lost.request({ method: 'POST', path: '/', headers: {} }, 'call', '{}');
    expect(send).toThrow(UnprocessedError);
    expect(await lease.session()).not.toBe(lost);
    expect(opened.length).toBe(2);
  });

  test('are waited for no longer than somebody wants to, and by others still', async () => {
    const { url } = await servers.serve();
    const lease = made().lease({ server: url });
    cleanups.push(() => {
      lease.release();
    });
    const stop = new AbortController();
    const [given, taken] = [lease.session(stop.signal), lease.session()];
    stop.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    expect((await taken).isReady).toBe(true);
  });

  test('are refused for credentials that cannot be used', () => {
    expect(() => made().lease({ server: 'https://a', clientCert: 'no', clientKey: 'PEM' })).toThrow(KubeconfigError);
    expect(() => made().lease({ server: 'http://a' })).toThrow(/only https/);
  });
});
