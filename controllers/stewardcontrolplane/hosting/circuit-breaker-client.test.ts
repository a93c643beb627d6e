import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { ApiError, UnreachableError } from '../../../runtime/client/errors.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { circuitBreakerClient } from './circuit-breaker-client.ts';

const key = { namespace: 'a', name: 'b' };

describe('The client of a cluster that is down', () => {
  const away = (error: Error = new UnreachableError('no answer')) => {
    const there = new FakeCluster();
    const clock = new FakeClock();
    const end = there.before(() => {
      throw error;
    });
    return { there, clock, end, client: circuitBreakerClient(there, { clock, random: () => 0 }) };
  };

  test('sends one request, and fails at once until the pause is over', async () => {
    const { there, clock, client } = away();
    await expect(client.get(kinds.Secret, key)).rejects.toThrow('no answer');
    await expect(client.list(kinds.Secret)).rejects.toThrow('no answer');
    expect(there.calls).toHaveLength(1);
    expect(client.restMs()).toBe(1_000);
    await clock.advance(1_000);
    await expect(client.get(kinds.Secret, key)).rejects.toThrow('no answer');
    expect(there.calls).toHaveLength(2);
    expect(client.restMs()).toBe(2_000);
  });

  test('lets one call find out whether the cluster is back, however many wait', async () => {
    const { there, clock, client } = away();
    await expect(client.get(kinds.Secret, key)).rejects.toThrow('no answer');
    await clock.advance(1_000);
    await Promise.allSettled([
      client.get(kinds.Secret, key),
      client.get(kinds.Secret, key),
      client.get(kinds.Secret, key),
    ]);
    expect(there.calls).toHaveLength(2);
  });

  test('counts calls that fail together once', async () => {
    const { there, client } = away();
    await Promise.allSettled([
      client.get(kinds.Secret, key),
      client.get(kinds.Secret, key),
      client.get(kinds.Secret, key),
    ]);
    expect(there.calls).toHaveLength(3);
    expect(client.restMs()).toBe(1_000);
  });

  test('lets all calls through as soon as one was answered, with any result', async () => {
    const { there, clock, client, end } = away();
    await expect(client.get(kinds.Secret, key)).rejects.toThrow('no answer');
    await clock.advance(1_000);
    end();
    there.failNext({ verb: 'get' }, new ApiError(500, 'InternalError', 'ill'));
    await expect(client.get(kinds.Secret, key)).rejects.toThrow('ill');
    await expect(client.get(kinds.Secret, key)).resolves.toBeUndefined();
    expect(client.restMs()).toBe(0);
  });

  test('does not count the abort of a reconcile as a failure of the cluster', async () => {
    const { client } = away();
    const ended = AbortSignal.abort(new Error('the reconcile ends'));
    await expect(client.get(kinds.Secret, key, { signal: ended })).rejects.toThrow();
    expect(client.restMs()).toBe(0);
  });
});
