import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newestRelease } from './newest-release.ts';
import type { Channel } from './newest-release.ts';
import type { StackIdentity } from './release-name.ts';
import { withDot } from './release-version.ts';

const stack: StackIdentity = { provider: 'docker', name: 'scs', kubernetesVersion: '1.30' };
const newest = (channel: Channel, ...tags: (string | readonly [string, string])[]): string | undefined => {
  const releases = tags.map((one) =>
    typeof one === 'string'
      ? { tag: `docker-scs-1-30-${one}` }
      : { tag: `docker-scs-1-30-${one[0]}`, createdAt: one[1] },
  );
  const version = newestRelease(releases, stack, channel);
  return version && withDot(version);
};

describe('the newest release', () => {
  test('of the stable channel is the one with the highest number: v10 and not v9', () => {
    expect(newest('stable', 'v9', 'v10', 'v2', 'v11-rc.1')).toBe('v10');
  });

  test('of the custom channel is any with a suffix, not one whose suffix is the word custom', () => {
    expect(newest('custom', 'v1', 'v0-sha.rwvgrna')).toBe('v0-sha.rwvgrna');
    expect(newest('custom', 'v0-git-abc')).toBe('v0-git.abc');
  });

  test('of the custom channel is the one that was made last, whatever its hash', () => {
    const old = ['v0-sha.zzz', '2026-01-01T00:00:00Z'] as const;
    const young = ['v0-sha.aaa', '2026-02-01T00:00:00Z'] as const;
    expect(newest('custom', old, young, 'v0-sha.zzzz')).toBe('v0-sha.aaa');
  });

  test('ignores tags of other stacks, and tags that are not versions', () => {
    expect(newest('stable', 'latest', 'v1', 'v1.2.3')).toBe('v1');
    const others = ['docker-scs-1-31-v7', 'docker-scs2-1-30-v8', 'latest'].map((tag) => ({ tag }));
    expect(newestRelease(others, stack, 'stable')).toBeUndefined();
  });

  test('does not depend on the order in which a source lists', () => {
    const tags = ['v1', 'v2', 'v10', 'v0-sha.a', 'v0-sha.b', 'v0-ttl.20260101', 'v0-ttl.9'];
    fc.assert(
      fc.property(
        fc.shuffledSubarray(tags, { minLength: tags.length }),
        fc.constantFrom('stable', 'custom'),
        (some, channel) => {
          expect(newest(channel, ...some)).toBe(newest(channel, ...tags));
        },
      ),
    );
  });
});
