import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toolPin } from './pins.ts';
import { printedVersion, versionIn } from './printed-version.ts';

describe('versionIn', () => {
  test.each([
    ['Kubernetes v1.36.3\n', 'v1.36.3'],
    ['Client Version: v1.36.3\nKustomize Version: v5.7.1\n', 'v1.36.3'],
    ['etcd Version: 3.6.16\nGit SHA: Not provided\nGo Version: go1.26.8\n', 'v3.6.16'],
    ['kine version v0.16.4 (HEAD)\n', 'v0.16.4'],
    ['CoreDNS-1.14.7\nlinux/amd64, go1.26.8, \n', 'v1.14.7'],
    ['containerd github.com/containerd/containerd/v2 v2.2.4 \n', 'v2.2.4'],
    ['containerd-shim-runc-v2:\n  Version:  v2.2.4\n  Revision: \n', 'v2.2.4'],
    ['runc version 1.4.3\nspec: 1.3.0\n', 'v1.4.3'],
    ['etcd Version: 3.7.0-rc.1\n', 'v3.7.0-rc.1'],
    ['Usage: bridge [ OPTIONS ] OBJECT', undefined],
    ['listening on 127.0.0.1:80', undefined],
  ])('reads %j', (output, version) => {
    expect(versionIn(output)).toBe(version);
  });

  test('finds any version anywhere in a sentence', () => {
    fc.assert(
      fc.property(
        fc.nat(999),
        fc.nat(999),
        fc.nat(999),
        fc.stringMatching(/^[a-z :-]*$/),
        (major, minor, patch, before) => {
          expect(versionIn(`${before} v${major}.${minor}.${patch}\n`)).toBe(`v${major}.${minor}.${patch}`);
        },
      ),
    );
  });
});

describe('printedVersion', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'printed-version-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const program = async (name: string, script: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
    return path;
  };

  test('reads what a binary prints on either output, whatever its exit code', async () => {
    expect(await printedVersion(await program('a', 'echo Kubernetes v1.36.3'), toolPin('kubelet'))).toBe('v1.36.3');
    expect(await printedVersion(await program('b', 'echo runc version 1.4.3 >&2; exit 3'), toolPin('runc'))).toBe(
      'v1.4.3',
    );
  });

  test('returns nothing for a binary that cannot start or does not print a version', async () => {
    expect(await printedVersion(join(folder, 'absent'), toolPin('kubelet'))).toBeUndefined();
    expect(await printedVersion(await program('c', 'echo v1.0.0'), toolPin('pause'))).toBeUndefined();
  });
});
