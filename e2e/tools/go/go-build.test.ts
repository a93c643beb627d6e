import { describe, expect, test } from '@jest/globals';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goBinaryName, goBuild, goBuildArguments } from './go-build.ts';
import { toolPin } from '../pins.ts';

describe('goBinaryName', () => {
  test.each([
    ['k8s.io/kubernetes/cmd/kubelet', 'kubelet'],
    ['go.etcd.io/etcd/server/v3', 'server'],
    ['sigs.k8s.io/kustomize/kustomize/v5', 'kustomize'],
  ])('%s is built as %s', (goPackage, name) => {
    expect(goBinaryName(goPackage)).toBe(name);
  });
});

describe('goBuildArguments', () => {
  test('pin the dependencies, omit paths of this machine and contain the version', () => {
    const { source, goPackage } = toolPin('kubelet', { kubernetes: '1.35' });
    const words = goBuildArguments(source, [goPackage], '/tmp/out');
    expect(words).toEqual(
      expect.arrayContaining(['-mod=readonly', '-trimpath', '-buildvcs=false', '-gcflags=all=-dwarf=false', goPackage]),
    );
    const flags = words[words.indexOf('-ldflags') + 1];
    expect(flags).toContain('-X k8s.io/component-base/version.gitVersion=v1.35.4');
    expect(flags).toContain('-X k8s.io/client-go/pkg/version.gitMinor=35');
  });

  test('contain the build tags of a tool', () => {
    const { source, goPackage } = toolPin('runc');
    expect(goBuildArguments(source, [goPackage], '/tmp/out').join(' ')).toContain('-tags seccomp ');
  });
});

describe('goBuild', () => {
  test('builds programs from packages, and test programs from those that are marked as tests', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'go-build-'));
    try {
      const { source } = toolPin('e2e.test');
      await mkdir(join(folder, source.folder));
      const program = join(folder, 'go');
      await writeFile(program, `#!/bin/sh\necho "$*" >> ${folder}/calls\n`);
      await chmod(program, 0o755);
      const pins = [toolPin('e2e.test'), toolPin('nonewprivs')];
      const built = await goBuild({ program, environment: process.env }, folder, pins, '/out');
      expect([...built]).toEqual([
        ['e2e.test', '/out/e2e.test'],
        ['nonewprivs', '/out/nonewprivs'],
      ]);
      const calls = (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n');
      expect(calls).toEqual([
        expect.stringMatching(/^build .* k8s\.io\/kubernetes\/test\/images\/nonewprivs$/),
        expect.stringMatching(/^test -c -vet=off .* k8s\.io\/kubernetes\/test\/e2e$/),
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
