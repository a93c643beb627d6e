import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { resolveTools } from '../../../e2e/tools/resolve.ts';
import { HelmRenderer } from '../../helm/helm-renderer.ts';
import { stackTree } from '../../../testing/worlds/stacks/stack-tree.ts';
import { packArchive, unpackArchive } from './archive.ts';
import { buildRelease } from './build-release.ts';
import { lintSource } from './lint-source.ts';
import { readSource } from './source-tree.ts';

const { signal } = new AbortController();
let helm = '';
let folder = '';
let renderer: HelmRenderer;

beforeAll(async () => {
  ({ helm } = await resolveTools(['helm']));
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stack-'));
  renderer = new HelmRenderer({ program: helm, scratch: join(folder, 'scratch') });
  await mkdir(join(folder, 'scratch'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const chart = (more: string): string => `apiVersion: v2\nname: cni\nversion: v1\n${more}`;

describe('A built release', () => {
  test.each(['v1', 'v0-sha.rwvgrna'])(
    'of version %s is read by the real helm, class and stages',
    async (clusterStack) => {
      const source = readSource(stackTree({ 'cluster-class/a.swp': 'x' }));
      const { files } = buildRelease(source, { clusterStack, clusterAddon: 'v1', nodeImage: 'v1' });
      const name = `docker-steward-1-33-cluster-class-${clusterStack}.tgz`;
      await writeFile(join(folder, name), files.get(name) ?? '');
      const request = { chart: join(folder, name), releaseName: 'docker-steward-1-33', namespace: 'default' };
      expect(await renderer.render({ ...request, kubernetesVersion: 'v1.33.1' }, signal)).toMatchObject([
        {
          kind: 'ClusterClass',
          metadata: {
            name: `docker-steward-1-33-${clusterStack}`,
            annotations: { version: clusterStack, images: 'registry.example' },
          },
        },
      ]);
      for (const [path, bytes] of await unpackArchive(
        files.get('docker-steward-1-33-cluster-addon-v1.tgz') ?? Buffer.alloc(0),
        'it',
      )) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), bytes);
      }
      for (const stage of ['cni', 'metrics']) {
        const [manifest] = await renderer.render(
          { chart: join(folder, stage), releaseName: 'cluster-addon', namespace: 'kube-system' },
          signal,
        );
        expect(manifest?.metadata.name).toBe(stage);
      }
    },
  );
});

describe('Linting a tree', () => {
  const found = async (
    changes: Readonly<Record<string, string | Buffer | undefined>> = {},
  ): Promise<readonly string[]> => {
    const texts = Object.entries(changes).filter(
      (entry): entry is [string, string | undefined] => !Buffer.isBuffer(entry[1]),
    );
    const files = new Map(stackTree(Object.fromEntries(texts)));
    for (const [path, bytes] of Object.entries(changes)) if (Buffer.isBuffer(bytes)) files.set(path, bytes);
    const findings = await lintSource(readSource(files), { renderer, scratch: join(folder, 'scratch'), signal });
    return findings.map(({ where, problem }) => `${where}: ${problem}`);
  };

  test('finds nothing if nothing is wrong', async () => {
    expect(await found()).toEqual([]);
    expect(await found({ 'cluster-addon/cni/Chart.yaml': chart('kubeVersion: ">=1.30.0-0"\n') })).toEqual([]);
  });

  const vendored = packArchive(
    new Map([
      ['inner/Chart.yaml', Buffer.from('apiVersion: v2\nname: inner\nversion: 1.0.0\nkubeVersion: "<1.33.0-0"\n')],
    ]),
    'files-only',
  );
  test.each<readonly [string, Readonly<Record<string, string | Buffer | undefined>>, RegExp]>([
    [
      'a stage without folder',
      { 'cluster-addon/metrics/metrics.yaml': undefined },
      /^clusteraddon\.yaml: AfterControlPlaneInitialized has the stage metrics, but there is no folder cluster-addon\/metrics$/,
    ],
    [
      'a folder without stage',
      { 'cluster-addon/csi/a.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n' },
      /^cluster-addon\/csi: no hook .* would never be applied$/,
    ],
    ['a hook of another name', { 'clusteraddon.yaml': 'addonStages: {Sometime: []}' }, /is no hook with this name/],
    [
      'a class of another name',
      { 'cluster-class/Chart.yaml': 'apiVersion: v2\nname: my-class\nversion: v1\n' },
      /^cluster-class\/Chart\.yaml: its name is "my-class"; the manager expects docker-steward-1-33-cluster-class$/,
    ],
    [
      'a class that does not render',
      { 'cluster-class/templates/b.yaml': '{{ fail "no" }}' },
      /^cluster-class: .*b\.yaml:1:3.*no$/,
    ],
    [
      'a stage that does not render',
      { 'cluster-addon/cni/templates/b.yaml': 'a: {{ nothing }}' },
      /^cluster-addon\/cni: .*"nothing" not defined$/,
    ],
    [
      'a stage without manifests',
      { 'cluster-addon/metrics/metrics.yaml': 'a: [' },
      /^cluster-addon\/metrics: metrics\.yaml, document 1 is not valid YAML/,
    ],
    [
      'values that cannot be expanded',
      { 'cluster-addon/cni/overwrite.yaml': 'a: {{ .Cluster.metadata.name | env }}' },
      /^cluster-addon\/cni\/overwrite\.yaml: .*"env" not defined$/,
    ],
    [
      'an add-on that excludes the version of Kubernetes',
      { 'cluster-addon/cni/Chart.yaml': chart('kubeVersion: ">=1.34.0-0"\n') },
      /^cluster-addon\/cni: chart requires kubeVersion: >=1\.34\.0-0 which is incompatible with Kubernetes v1\.33\.1$/,
    ],
    [
      'an add-on whose vendored chart excludes it, which helm does not say',
      {
        'cluster-addon/cni/Chart.yaml': chart(
          'dependencies:\n- {name: inner, version: 1.0.0, repository: https://x}\n',
        ),
        'cluster-addon/cni/charts/inner-1.0.0.tgz': vendored,
      },
      /^cluster-addon\/cni\/charts\/inner-1\.0\.0\.tgz: inner\/Chart\.yaml: it only works with Kubernetes <1\.33\.0-0, but this stack is for v1\.33\.1$/,
    ],
    [
      'a dependency that is not vendored',
      {
        'cluster-addon/cni/Chart.yaml': chart(
          'dependencies:\n- {name: inner, version: 1.0.0, repository: https://x}\n',
        ),
      },
      /^cluster-addon\/cni: the dependency inner 1\.0\.0 is not in charts\/: run `helm dependency build`/,
    ],
  ])('finds %s, and nothing else', async (_, changes, expected) => {
    const findings = await found(changes);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatch(expected);
  });

  test('finds everything at once', async () => {
    const findings = await found({
      'cluster-addon/metrics/metrics.yaml': undefined,
      'cluster-class/templates/b.yaml': '{{ fail "no" }}',
      'cluster-addon/cni/overwrite.yaml': '{{',
    });
    expect(findings).toHaveLength(3);
  });
});
