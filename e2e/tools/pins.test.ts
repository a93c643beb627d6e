import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { clusterApiReleases, resolveClusterApi } from './cluster-api-releases.ts';
import { etcdReleases } from './etcd-releases.ts';
import { kubernetesReleases, resolveKubernetes } from './kubernetes-releases.ts';
import type { KubernetesRelease } from './kubernetes-releases.ts';
import { sourceModules, toolPin, toolPins } from './pins.ts';
import type { ModulePin, ToolPin } from './pins.ts';
import { pinnedModules } from './resolve.ts';

/** Lines of a go.mod, reduced to the module or package. */
const goMod = ({ folder }: ModulePin): readonly string[] =>
  readFileSync(join(pinnedModules, folder, 'go.mod'), 'utf8')
    .split('\n')
    .map((line) =>
      line
        .replace(/^(require|tool) /, '')
        .replace('// indirect', '')
        .trim(),
    );

const everyPin: readonly ToolPin[] = [
  ...kubernetesReleases.flatMap(({ version: kubernetes }) =>
    etcdReleases.flatMap(({ version: etcd }) => toolPins({ kubernetes, etcd })),
  ),
  ...clusterApiReleases.flatMap(({ version: clusterApi }) => toolPins({ clusterApi })),
];

describe('Pinned tools', () => {
  test('every tool’s go.mod requires its module in exactly the pinned version', () => {
    const sources = [...everyPin.map((pin) => pin.source), ...Object.values(sourceModules)];
    for (const source of sources.filter(({ module }) => module !== undefined)) {
      expect(goMod(source)).toContain(`${source.module ?? ''} ${source.version}`);
    }
  });

  test('every package is a tool of its go.mod, or the program in its folder', () => {
    for (const { source, goPackage } of everyPin) {
      if (source.module === undefined) expect(existsSync(join(pinnedModules, source.folder, 'main.go'))).toBe(true);
      else expect(goMod(source)).toContain(goPackage);
    }
  });

  test('every module with dependencies is pinned by a go.sum', () => {
    for (const { source } of everyPin) {
      expect(existsSync(join(pinnedModules, source.folder, 'go.sum'))).toBe(source.module !== undefined);
    }
  });

  test('the linked-in versions are the pinned ones', () => {
    for (const { source } of everyPin) {
      const versions = Object.entries(source.variables ?? {}).filter(([name]) =>
        /\.(gitV|V|v|BuildV)ersion$/.test(name),
      );
      for (const [name, value] of versions) if (name !== 'main.Version') expect(value).toBe(source.version);
    }
  });

  test('every download is over TLS and comes with a checksum from the same host', () => {
    for (const pin of everyPin) {
      const download = pin.download?.({ os: 'linux', arch: 'arm64' });
      if (download === undefined) continue;
      expect(download.url).toMatch(/^https:/);
      expect(new URL(download.checksumUrl).origin).toBe(new URL(download.url).origin);
      expect(decodeURIComponent(download.url)).toContain(pin.source.version.slice(1));
      expect(download.url).toContain('arm64');
    }
  });

  test('every name is used for one tool', () => {
    const names = toolPins().map((pin) => pin.name);
    expect(new Set(names).size).toBe(names.length);
  });

  test('a Kubernetes release is found by its minor and by its version, with and without v', () => {
    for (const wanted of ['1.35', 'v1.35', '1.35.4', 'v1.35.4'])
      expect(resolveKubernetes(wanted).version).toBe('v1.35.4');
    expect(toolPin('kubeadm', { kubernetes: '1.35' }).source).toMatchObject({
      folder: 'kubernetes-1.35',
      version: 'v1.35.4',
    });
    expect(toolPin('kubeadm').source.version).toBe(kubernetesReleases[0].version);
  });

  test('of a release that no scenario runs, only kubeadm is built unless others are named', () => {
    const programsOf = ({ version, minor }: KubernetesRelease): readonly ToolPin[] =>
      toolPins({ kubernetes: version }).filter(({ source }) => source.folder === `kubernetes-${minor}`);
    const usual = (release: KubernetesRelease): readonly string[] =>
      programsOf(release).flatMap(({ name, byNameOnly }) => (byNameOnly === true ? [] : [name]));
    const [newest] = kubernetesReleases;
    for (const release of kubernetesReleases) {
      const all = programsOf(release).map(({ name }) => name);
      expect(all).toEqual(programsOf(newest).map(({ name }) => name));
      expect(usual(release)).toEqual(release.inTests === 'all' ? all : ['kubeadm']);
    }
    // The tiers run the newest three and the oldest.
    const inTests = kubernetesReleases.filter((release) => release.inTests === 'all');
    expect(inTests).toEqual([...kubernetesReleases.slice(0, 3), kubernetesReleases.at(-1)]);
  });

  test('an etcd release is found by its version, and the first of a minor by the minor', () => {
    for (const wanted of ['3.6', 'v3.6', '3.6.16'])
      expect(toolPin('etcd', { etcd: wanted }).source.version).toBe('v3.6.16');
    expect(toolPin('etcdctl', { etcd: '3.6.14' }).source).toMatchObject({ folder: 'etcd-3.6.14', version: 'v3.6.14' });
    expect(toolPin('etcd').source.version).toBe(etcdReleases[0].version);
    expect(() => toolPin('etcd', { etcd: '3.5' })).toThrow(/"3.5" is not pinned; pinned are v3.6.16, /);
  });

  test('a Cluster API release is found by its minor and by its version, and no other', () => {
    for (const wanted of ['1.13', 'v1.13', '1.13.6', 'v1.13.6'])
      expect(toolPin('clusterctl', { clusterApi: wanted }).source).toMatchObject({
        folder: 'cluster-api-1.13',
        version: 'v1.13.6',
      });
    expect(toolPin('clusterctl').source.version).toBe(clusterApiReleases[0].version);
    expect(() => resolveClusterApi('1.12')).toThrow(/"1.12" is not pinned; pinned are v1.14.2, v1.13.6/);
  });

  test('an unknown tool or release is refused with the pinned ones', () => {
    expect(() => toolPin('kubectx')).toThrow(/"kubectx" is no pinned tool; pinned are kube-apiserver, /);
    expect(() => resolveKubernetes('v1.36.1')).toThrow(/"v1.36.1" is not pinned; pinned are v1.36.3, /);
  });
});
