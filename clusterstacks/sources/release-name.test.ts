import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { StackIdentity } from './release-name.ts';
import { className, readReleaseName, releaseName, releaseOfClass, stackName, versionIn } from './release-name.ts';
import type { ReleaseVersion } from './release-version.ts';

const word = fc.stringMatching(/^[a-z0-9]{1,8}$/);
const segment = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,10}[a-z0-9])?$/);
const versions: fc.Arbitrary<ReleaseVersion> = fc.oneof(
  fc.nat({ max: 9999 }).map((major) => ({ major })),
  fc.tuple(fc.nat({ max: 9999 }), word, word).map(([major, ...suffix]) => ({ major, suffix })),
);
const stacks: fc.Arbitrary<StackIdentity> = fc.record({
  provider: segment,
  name: segment,
  kubernetesVersion: fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 99 })).map((parts) => parts.join('.')),
});

const scs: StackIdentity = { provider: 'docker', name: 'scs', kubernetesVersion: '1.30' };
const hosted: StackIdentity = { provider: 'openstack', name: 'hosted-control-plane', kubernetesVersion: '1.33' };

describe('names of releases', () => {
  test('have dashes only, those of ClusterClasses a dot in their version', () => {
    const version = { major: 0, suffix: ['sha', 'rwvgrna'] } as const;
    expect(releaseName(scs, version)).toBe('docker-scs-1-30-v0-sha-rwvgrna');
    expect(className(scs, version)).toBe('docker-scs-1-30-v0-sha.rwvgrna');
    expect(className(scs, { major: 1 })).toBe('docker-scs-1-30-v1');
  });

  test('yield the version, in both spellings, also when names contain dashes', () => {
    fc.assert(
      fc.property(stacks, versions, (stack, version) => {
        expect(versionIn(stack, releaseName(stack, version))).toEqual(version);
        expect(versionIn(stack, className(stack, version))).toEqual(version);
        expect(releaseOfClass(className(stack, version))).toBe(releaseName(stack, version));
      }),
    );
  });

  test('of a stack whose name contains dashes can be parsed', () => {
    expect(versionIn(hosted, 'openstack-hosted-control-plane-1-33-v2')).toEqual({ major: 2 });
    expect(readReleaseName('openstack-hosted-control-plane-1-33-v0-sha.abc')).toEqual({
      stack: stackName(hosted),
      kubernetesVersion: '1.33',
      version: { major: 0, suffix: ['sha', 'abc'] },
    });
  });

  test.each(['docker-scs-1-31-v1', 'docker-scs2-1-30-v1', 'docker-scs-1-30-', 'docker-scs-1-30-v1-a', 'latest', ''])(
    '%j is not one of docker-scs for 1.30',
    (name) => {
      expect(versionIn(scs, name)).toBeUndefined();
    },
  );

  test.each(['latest', 'docker-1-30-v1', 'docker-scs-30-v1', 'docker-scs-1-30', 'my.class', ''])(
    '%j follows no convention',
    (name) => {
      expect(readReleaseName(name)).toBeUndefined();
    },
  );
});
