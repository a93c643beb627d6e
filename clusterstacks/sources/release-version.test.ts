import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ReleaseVersion } from './release-version.ts';
import { channelOf, compareVersions, readVersion, withDash, withDot } from './release-version.ts';

const word = fc.stringMatching(/^[a-z0-9]{1,12}$/);
const versions: fc.Arbitrary<ReleaseVersion> = fc
  .tuple(fc.nat({ max: 999_999 }), fc.option(fc.tuple(word, word), { nil: undefined }))
  .map(([major, suffix]) => (suffix === undefined ? { major } : { major, suffix }));
const read = (text: string): ReleaseVersion => {
  const version = readVersion(text);
  if (version === undefined) throw new Error(`${text} is no version`);
  return version;
};
const sorted = (...texts: string[]): readonly string[] => texts.sort((a, b) => compareVersions(read(a), read(b)));

describe('versions', () => {
  test('are read in both spellings', () => {
    fc.assert(
      fc.property(versions, (version) => {
        expect(readVersion(withDot(version))).toEqual(version);
        expect(readVersion(withDash(version))).toEqual(version);
      }),
    );
  });

  test.each(['1', 'v', 'v01', 'v1-sha', 'v1-sha.a.b', 'v1.2', 'v1-sha_a.b', 'v1-SHA.a', 'v1-', 'v1 ', 'v9999999999'])(
    '%j is none',
    (text) => {
      expect(readVersion(text)).toBeUndefined();
    },
  );

  test('have a total order', () => {
    fc.assert(
      fc.property(versions, versions, versions, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) + 0);
        if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) {
          expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
        }
        if (compareVersions(a, b) === 0) expect(withDot(a)).toBe(withDot(b));
      }),
    );
  });

  test('are compared as numbers where both are digits: v10 is newer than v9, alpha.10 than alpha.9', () => {
    expect(sorted('v10', 'v9', 'v2')).toEqual(['v2', 'v9', 'v10']);
    expect(sorted('v1-alpha.10', 'v1-alpha.9')).toEqual(['v1-alpha.9', 'v1-alpha.10']);
    expect(sorted('v0-ttl.20260102', 'v0-ttl.9')).toEqual(['v0-ttl.9', 'v0-ttl.20260102']);
  });

  test('a stable version is newer than one of its number with a suffix', () => {
    expect(sorted('v1', 'v1-rc.1', 'v0')).toEqual(['v0', 'v1-rc.1', 'v1']);
  });

  test('name their channel', () => {
    expect(['v1', 'v0-sha.rwvgrna', 'v0-git-abc'].map(read).map(channelOf)).toEqual(['stable', 'sha', 'git']);
  });
});
