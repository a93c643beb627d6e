import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import semver from 'semver';
import {
  allowedTargets,
  checkKubeletSkew,
  checkUpgrade,
  compareVersions,
  minorText,
  newestMinor,
  normalizeVersion,
  oldestMinor,
  parseSupportedVersion,
  parseVersion,
  readVersion,
  versionText,
  versionWarnings,
} from './versions.ts';

const number = fc.integer({ min: 0, max: 99 });
const preRelease = fc
  .array(fc.oneof(fc.nat(20).map(String), fc.constantFrom('alpha', 'beta', 'rc', 'x-1')), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => parts.join('.'));
const text = fc
  .tuple(number, number, number, fc.option(preRelease))
  .map(([major, minor, patch, pre]) => `${major}.${minor}.${patch}${pre === null ? '' : `-${pre}`}`);

describe('Versions', () => {
  test('are equal with and without v, and are written with it', () => {
    fc.assert(
      fc.property(text, (version) => {
        expect(parseVersion(`v${version}`)).toEqual(parseVersion(version));
        expect(versionText(parseVersion(version))).toBe(`v${version}`);
      }),
    );
    expect(normalizeVersion(' 1.36.3 ')).toBe('v1.36.3');
    expect(minorText(parseVersion('v1.36.3'))).toBe('1.36');
  });

  test('are ordered as semantic versioning orders them', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareVersions(parseVersion(a), parseVersion(b)))).toBe(semver.compare(a, b));
      }),
    );
  });

  test('of one minor are ordered by patch, and before a release by each part of its pre-release', () => {
    const rising = ['alpha', 'alpha.1', 'alpha.beta', 'beta', 'beta.2', 'beta.11', 'rc.1'].map(
      (pre) => `1.36.0-${pre}`,
    );
    const versions = [...rising, '1.36.0', '1.36.1', '1.36.11'].map((version) => parseVersion(version));
    for (const [i, a] of versions.entries()) {
      for (const [j, b] of versions.entries()) expect(Math.sign(compareVersions(a, b))).toBe(Math.sign(i - j));
    }
  });

  test.each(['', 'v1.36', '1', 'latest', 'v1.36.3.4', 'v1.36.03', '1.36.3+build', 'vv1.36.3', 'v1.36.3-', '1.36.x'])(
    'refuse %j',
    (bad) => {
      expect(() => parseVersion(bad, 'kubernetes.version')).toThrow(
        /^kubernetes\.version ".*" is not a Kubernetes version: use a full version such as v1\.36\.0$/,
      );
    },
  );

  test('never throw an unexpected error for any text', () => {
    fc.assert(
      fc.property(fc.string(), (any) => {
        try {
          parseVersion(any);
        } catch (error) {
          expect(error).toMatchObject({ name: 'InvalidInputError' });
        }
      }),
    );
  });

  test('are supported up to the newest minor, or up to a given one', () => {
    expect(parseSupportedVersion(`v1.${oldestMinor}.0`)).toMatchObject({ minor: oldestMinor });
    expect(parseSupportedVersion(`v1.${newestMinor}.99`)).toMatchObject({ minor: newestMinor });
    const range = `use a version from v1.${oldestMinor} to v1.${newestMinor}`;
    expect(parseSupportedVersion(`v1.${oldestMinor - 1}.9`)).toMatchObject({ minor: oldestMinor - 1 });
    expect(() => parseSupportedVersion(`v1.${newestMinor + 1}.0`)).toThrow(
      `is newer than the supported versions: ${range}`,
    );
    expect(() => parseSupportedVersion('v2.0.0')).toThrow('is newer');
    expect(() => parseSupportedVersion('v0.36.0')).toThrow('is older');
    expect(parseSupportedVersion('v1.40.0', 'version', 40)).toMatchObject({ minor: 40 });
    expect(() => parseSupportedVersion('v1.35.0', 'version', 34)).toThrow('use a version from v1.29 to v1.34');
  });

  test('that are supported but not tested return a warning', () => {
    const tested = `the tested versions v1.${oldestMinor} to v1.${newestMinor}`;
    expect(versionWarnings(`v1.${oldestMinor - 1}.9`, 'a')).toEqual([
      `a v1.${oldestMinor - 1}.9 is older than ${tested}, and workers may not be able to join`,
    ]);
    expect(versionWarnings(`1.${newestMinor + 1}.0`)).toEqual([
      expect.stringContaining('is newer than the tested versions'),
    ]);
    for (const fine of [`v1.${oldestMinor}.0`, `1.${newestMinor}.9`, 'nonsense', 'v2.0.0']) {
      expect(versionWarnings(fine)).toEqual([]);
    }
  });

  test('whose control planes have not run return a warning, and no other within the range', () => {
    const ran = [oldestMinor, newestMinor];
    for (let minor = oldestMinor; minor <= newestMinor; minor += 1) {
      const expected = ran.includes(minor)
        ? []
        : [
            `a v1.${minor}.2: no control plane of v1.${minor} has been run in tests; its documents were compared with those of kubeadm`,
          ];
      expect(versionWarnings(`v1.${minor}.2`, 'a', ran)).toEqual(expected);
    }
  });
});

describe('readVersion', () => {
  test('reads what parseVersion reads, and nothing of anything else', () => {
    expect(readVersion(' 1.36.3 ')).toEqual(parseVersion('v1.36.3'));
    for (const text of ['', 'latest', 'v1.36', 'v01.2.3']) expect(readVersion(text)).toBeUndefined();
  });
});

describe('checkUpgrade', () => {
  const check = (from: string, to: string): void => {
    checkUpgrade(parseVersion(from), parseVersion(to), 'kubernetes.version');
  };

  test('allows a version to change within its minor and to the next', () => {
    for (const to of ['v1.35.4', 'v1.35.5', 'v1.35.0', 'v1.36.0']) {
      expect(() => {
        check('v1.35.4', to);
      }).not.toThrow();
    }
  });

  test.each([
    ['v1.34.9', 'is a downgrade from v1.35.4'],
    ['v1.37.0', 'skips a minor version after v1.35.4'],
    ['v2.35.4', 'is a different major version'],
  ])('refuses %s, because it %s, and names the possible versions', (to, reason) => {
    expect(() => {
      check('v1.35.4', to);
    }).toThrow(
      `kubernetes.version "${to}" ${reason}: from v1.35.4 upgrade to v1.35 (another patch) or v1.36 (the next minor)`,
    );
  });

  test('names no unsupported minor', () => {
    expect(allowedTargets(parseVersion(`v1.${newestMinor}.0`))).toBe(`v1.${newestMinor} (another patch)`);
    expect(allowedTargets(parseVersion('v1.34.0'), 34)).toBe('v1.34 (another patch)');
  });

  test('reaches every newer minor by allowed steps, and in no fewer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 29, max: 36 }), fc.integer({ min: 29, max: 36 }), (from, to) => {
        const allowed = to === from || to === from + 1;
        const act = (): void => {
          check(`v1.${from}.1`, `v1.${to}.0`);
        };
        if (allowed) expect(act).not.toThrow();
        else expect(act).toThrow();
      }),
    );
  });
});

describe('checkKubeletSkew', () => {
  test('allows kubelets up to three minors older', () => {
    for (const minor of [33, 34, 35, 36]) {
      expect(() => {
        checkKubeletSkew(parseVersion('v1.36.0'), parseVersion(`v1.${minor}.9`));
      }).not.toThrow();
    }
  });

  test.each([
    ['v1.37.0', 'is newer than its API server v1.36.0'],
    ['v1.32.0', 'is more than 3 minors older than its API server v1.36.0'],
  ])('refuses a kubelet %s, because it %s', (kubelet, reason) => {
    expect(() => {
      checkKubeletSkew(parseVersion('v1.36.0'), parseVersion(kubelet));
    }).toThrow(`kubeletVersion "${kubelet}" ${reason}: use a kubelet from v1.33 to v1.36`);
  });
});
