import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { recentListsOf } from './ttl-list-cache.ts';

function listing() {
  const [cluster, clock] = [new FakeCluster(), new FakeClock()];
  const asked: string[] = [];
  cluster.before(({ verb, namespace = '' }) => {
    if (verb === 'list') asked.push(namespace);
  });
  return { clock, asked, cluster, list: recentListsOf(cluster, clock) };
}

describe('Lists that are at most a minute old', () => {
  test('are read once a minute for each namespace', async () => {
    const { clock, asked, list } = listing();
    for (let n = 0; n < 3; n += 1) await list(kinds.Secret, 'a');
    await list(kinds.Secret, 'b');
    expect(asked).toEqual(['a', 'b']);
    await clock.advance(60_001);
    await list(kinds.Secret, 'a');
    expect(asked).toEqual(['a', 'b', 'a']);
  });

  test('are read again when a watch has seen another version', async () => {
    const { asked, list } = listing();
    await list(kinds.Secret, 'a', '1');
    await list(kinds.Secret, 'a', '2');
    await list(kinds.Secret, 'a', '2');
    expect(asked).toEqual(['a', 'a']);
  });

  test('are requested again after a refusal', async () => {
    const { asked, cluster, list } = listing();
    let refuses = true;
    cluster.before(({ verb }) => {
      if (verb === 'list' && refuses) throw new Error('refused');
    });
    await expect(list(kinds.Secret, 'a')).rejects.toThrow('refused');
    refuses = false;
    await expect(list(kinds.Secret, 'a')).resolves.toEqual([]);
    expect(asked).toEqual(['a', 'a']);
  });
});
