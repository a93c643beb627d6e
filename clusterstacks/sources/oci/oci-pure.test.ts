import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { releaseFiles, releaseManifest } from '../../../testing/worlds/stacks/stack-release.ts';
import { BadReleaseError } from '../asset-errors.ts';
import { defaultAssetLimits } from '../asset-limits.ts';
import { nextPage } from '../http/next-page.ts';
import { parseChallenge } from './challenge.ts';
import { parseReleaseManifest } from './release-manifest.ts';
import { parseRepositoryAddress } from './repository-address.ts';

describe('The address of a repository', () => {
  test.each([
    ['registry.scs.community/kaas/cluster-stacks', 'registry.scs.community', 'kaas/cluster-stacks'],
    ['oci://127.0.0.1:5000/a/b_c--d', '127.0.0.1:5000', 'a/b_c--d'],
    ['[::1]:5000/a', '[::1]:5000', 'a'],
    ['docker.io/team/stacks', 'registry-1.docker.io', 'team/stacks'],
  ])('%s is understood', (text, host, path) => {
    expect(parseRepositoryAddress(text)).toEqual({ host, path });
  });

  test.each([
    'r.example',
    'r.example/A',
    'https://r.example/a',
    'r.example/a:v1',
    'r.example/a/../b',
    'u:p@r.example/a',
    '',
  ])('"%s" is refused', (text) => {
    expect(() => parseRepositoryAddress(text)).toThrow('is not an OCI repository: use HOST[:PORT]/PATH');
  });

  test('of more than 512 characters is refused', () => {
    const host = 'r.example/';
    const withLength = (length: number) => () => parseRepositoryAddress(`${host}${'a'.repeat(length - host.length)}`);
    expect(withLength(512)).not.toThrow();
    expect(withLength(513)).toThrow('is not an OCI repository');
  });
});

describe('A challenge', () => {
  test.each([
    ['Basic realm="x"', { scheme: 'basic' }],
    ['bearer realm="https://a/t",service="s",scope="x"', { scheme: 'bearer', realm: 'https://a/t', service: 's' }],
    ['Basic realm="x", Bearer realm="https://a/t"', { scheme: 'bearer', realm: 'https://a/t' }],
    ['Bearer service=s', undefined],
    ['Negotiate', undefined],
    [undefined, undefined],
  ])('%s is understood', (header, expected) => {
    expect(parseChallenge(header)).toEqual(expected);
  });

  test('of any text is parsed quickly', () => {
    for (const text of [`Bearer ${'a='.repeat(50_000)}`, `Bearer x="${'\\'.repeat(50_000)}`]) {
      const began = process.cpuUsage();
      parseChallenge(text);
      const { user, system } = process.cpuUsage(began);
      expect((user + system) / 1000).toBeLessThan(5000);
    }
    fc.assert(fc.property(fc.string(), (text) => void parseChallenge(`Bearer ${text}`)));
  });
});

describe('The next page', () => {
  const base = new URL('https://r.example/v2/a/tags/list');
  test.each([
    ['</v2/a/tags/list?last=b&n=1>; rel="next"', 'https://r.example/v2/a/tags/list?last=b&n=1'],
    [
      '<https://r.example/p?page=1>; rel="prev", <https://r.example/p?page=3>; rel="next"',
      'https://r.example/p?page=3',
    ],
    ['<?last=x>; rel=next', 'https://r.example/v2/a/tags/list?last=x'],
    ['<https://r.example/p>; rel="prev"', undefined],
    ['<http://r.example/p?last=b>; rel="next"', 'https://r.example/p?last=b'],
    ['<https://evil.example/p>; rel="next", </p>; rel="next"', 'https://r.example/p'],
    [undefined, undefined],
  ])('of %s', (link, expected) => {
    expect(nextPage(link, base)?.href).toBe(expected);
  });

  test.each(['<https://evil.example/p>; rel="next"', '<https://r.example:8443/p>; rel="next"'])(
    'of %s is refused rather than taken for the end',
    (link) => {
      expect(() => nextPage(link, base)).toThrow('for the next page of its list, which is not followed');
    },
  );
});

describe('The manifest of a release', () => {
  const files = releaseFiles();
  const read = (change: (manifest: Written) => unknown) => {
    const manifest = JSON.parse(releaseManifest(files).toString()) as Written;
    const changed = change(manifest);
    return parseReleaseManifest(JSON.stringify(changed ?? manifest), 'r.example/a:v1', defaultAssetLimits);
  };

  test.each(['csctl', 'oras'] as const)(
    'as %s writes it names its files by title, whatever their media types',
    (as) => {
      const text = releaseManifest(files, { as }).toString();
      const { files: found } = parseReleaseManifest(text, 'r', defaultAssetLimits);
      expect(found.map(({ name }) => name)).toEqual(Object.keys(files));
    },
  );

  test('leaves out layers without a title', () => {
    expect(read(({ layers }) => void layers.push({ digest: `sha256:${'0'.repeat(64)}`, size: 1 })).files).toHaveLength(
      Object.keys(files).length,
    );
  });

  test.each<[string, (manifest: Written) => unknown, string]>([
    ['an index of images', () => ({ schemaVersion: 2, manifests: [] }), 'r.example/a:v1 is an image index'],
    ['a container image', (m) => ({ ...m, layers: [{ digest: 'x', size: 1 }] }), 'has no files'],
    ['no manifest', () => 1, 'is not an OCI image manifest'],
    ['the first version of Docker’s', (m) => ({ ...m, schemaVersion: 1 }), 'is not an OCI image manifest'],
    [
      'a title that leads out',
      (m) => {
        title(m, '../x');
      },
      'contains a file named "../x": file names in a release may contain only letters',
    ],
    [
      'an absolute title',
      (m) => {
        title(m, '/etc/passwd');
      },
      'contains a file named "/etc/passwd"',
    ],
    [
      'a title twice',
      (m) => {
        title(m, 'clusteraddon.yaml');
      },
      'has two layers with the title clusteraddon.yaml',
    ],
    [
      'another digest',
      (m) => {
        first(m, { digest: 'md5:1' });
      },
      'by something other than a SHA-256 digest',
    ],
    [
      'no size',
      (m) => {
        first(m, { size: -1 });
      },
      'does not state the size of metadata.yaml',
    ],
    [
      'a huge file',
      (m) => {
        first(m, { size: 1e12 });
      },
      'metadata.yaml has 1000000000000 bytes; at most 67108864 are allowed',
    ],
    [
      'many files',
      (m) => ({
        ...m,
        layers: Array.from({ length: 65 }, (_, i) => ({ ...m.layers[0], annotations: titled(`f${i}`) })),
      }),
      'has 65 files; at most 64',
    ],
    [
      'many large files',
      (m) => ({ ...m, layers: m.layers.map((layer) => ({ ...layer, size: 6e7 })) }),
      '300000000 bytes in total',
    ],
  ])('of %s is refused', (_, change, message) => {
    expect(() => read(change)).toThrow(BadReleaseError);
    expect(() => read(change)).toThrow(message);
  });
});

interface Written {
  layers: { digest?: string; size?: number; annotations?: Record<string, string> }[];
}
const titled = (name: string) => ({ 'org.opencontainers.image.title': name });
const first = (manifest: Written, change: object): void => void Object.assign(manifest.layers[0] ?? {}, change);
const title = (manifest: Written, name: string): void => {
  first(manifest, { annotations: titled(name) });
};
