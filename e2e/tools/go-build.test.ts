import { describe, expect, test } from '@jest/globals';
import { goBinaryName, goBuildArguments, runGo } from './go-build.ts';
import { toolPin } from './pins.ts';

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
  test('pin the dependencies, keep this machine’s paths out and say the version', () => {
    const { source, goPackage } = toolPin('kubelet', { kubernetes: '1.35' });
    const words = goBuildArguments(source, [goPackage], '/tmp/out');
    expect(words).toEqual(expect.arrayContaining(['-mod=readonly', '-trimpath', '-buildvcs=false', goPackage]));
    const flags = words[words.indexOf('-ldflags') + 1];
    expect(flags).toContain('-X k8s.io/component-base/version.gitVersion=v1.35.4');
    expect(flags).toContain('-X k8s.io/client-go/pkg/version.gitMinor=35');
  });

  test('carry the build tags of a tool', () => {
    const { source, goPackage } = toolPin('runc');
    expect(goBuildArguments(source, [goPackage], '/tmp/out').join(' ')).toContain('-tags seccomp ');
  });
});

describe('runGo', () => {
  test('reports what was complained about', async () => {
    const go = { program: '/bin/sh', environment: {} };
    await expect(runGo(go, '/', ['-c', 'echo go.mod requires go 2.0 >&2; exit 1'])).rejects.toThrow(
      /ended with code 1:\ngo.mod requires go 2.0/,
    );
  });
});
