import { describe, expect, test } from '@jest/globals';
import { parseReleaseMetadata } from '../../sources/release-metadata.ts';
import { stackTree } from '../../../testing/worlds/stacks/stack-tree.ts';
import { unpackArchive } from './archive.ts';
import { buildRelease } from './build-release.ts';
import { readSource } from './source-tree.ts';

const versions = { clusterStack: 'v0-sha.abcdefg', clusterAddon: 'v2', nodeImage: 'v1' };
const built = (changes: Readonly<Record<string, string | undefined>> = {}, minor?: string) =>
  buildRelease(readSource(stackTree(changes), minor), versions);
const text = async (archive: Buffer | undefined, path: string): Promise<string | undefined> =>
  (await unpackArchive(archive ?? Buffer.alloc(0), 'it')).get(path)?.toString('utf8');

describe('A release', () => {
  test('has the names and files that operators expect', () => {
    const { name, files } = built();
    expect(name).toBe('docker-steward-1-33-v0-sha-abcdefg');
    expect([...files.keys()]).toEqual([
      'clusteraddon.yaml',
      'docker-steward-1-33-cluster-addon-v2.tgz',
      'docker-steward-1-33-cluster-class-v0-sha.abcdefg.tgz',
      'hashes.json',
      'metadata.yaml',
    ]);
    expect(parseReleaseMetadata(files.get('metadata.yaml')?.toString('utf8') ?? '')).toEqual({
      ...versions,
      kubernetes: 'v1.33.1',
    });
  });

  test('has the same bytes for the same tree', () => {
    const [one, other] = [built(), built()];
    expect(
      [...one.files.keys()].every((name) => one.files.get(name)?.equals(other.files.get(name) ?? Buffer.alloc(0))),
    ).toBe(true);
  });

  test('has a chart of the class with its versions, without what .helmignore excludes', async () => {
    const { files } = built({ 'cluster-class/a.swp': 'x', 'cluster-class/notes/n.md': 'x' });
    const chart = files.get('docker-steward-1-33-cluster-class-v0-sha.abcdefg.tgz');
    const top = 'docker-steward-1-33-cluster-class';
    expect(await text(chart, `${top}/Chart.yaml`)).toBe(
      `apiVersion: v2\n# of the stack\nname: ${top}\nversion: v0-sha.abcdefg\n`,
    );
    expect(await text(chart, `${top}/templates/cluster-class.yaml`)).toContain('{version: v0-sha.abcdefg, images');
    expect([...(await unpackArchive(chart ?? Buffer.alloc(0), 'it')).keys()].join()).not.toMatch(/swp|notes/);
  });

  test('has the stages at the top of the add-ons, with unchanged bytes', async () => {
    const addon = built().files.get('docker-steward-1-33-cluster-addon-v2.tgz');
    expect(await text(addon, 'cni/overwrite.yaml')).toBe('values: |\n  name: {{ .Cluster.metadata.name }}\n');
    expect(await text(addon, 'metrics/metrics.yaml')).toContain('name: metrics');
  });

  test('with one chart for all add-ons has a package and its values', async () => {
    const { files } = built({
      'clusteraddon.yaml': undefined,
      'cluster-addon/cni/Chart.yaml': undefined,
      'cluster-addon/Chart.yaml': 'apiVersion: v2\nname: any\nversion: v1\n',
      'cluster-addon-values.yaml': 'a: b\n',
    });
    expect([...files.keys()]).toContain('cluster-addon-values.yaml');
    const addon = files.get('docker-steward-1-33-cluster-addon-v2.tgz');
    expect(await text(addon, 'docker-steward-1-33-cluster-addon/Chart.yaml')).toContain('version: v2');
  });

  test('keeps shell redirections, and refuses an unknown placeholder', () => {
    expect(() => built({ 'cluster-class/templates/a.yaml': 'run: cat << EOF >> /x\n' })).not.toThrow();
    expect(() => built({ 'cluster-class/templates/a.yaml': 'a\nb: << .ClusterVersion >>\n' })).toThrow(
      'cluster-class/templates/a.yaml, line 2: << .ClusterVersion >> is not a known version; use one of ClusterClassVersion',
    );
  });

  test('requires a cluster class, and valid stages', () => {
    expect(() => built({ 'cluster-class/Chart.yaml': undefined })).toThrow('there is no cluster-class/Chart.yaml');
    expect(() => built({ 'clusteraddon.yaml': 'addonStages: {Sometime: []}' })).toThrow(
      'there is no hook with this name',
    );
  });
});

describe('A row of versions.yaml', () => {
  const changes = {
    'versions.yaml':
      '- kubernetes: 1.33.10\n  cloud_provider: 2.33.1\n- kubernetes: 1.34.7\n  cloud_provider: 2.34.3\n',
    'cluster-addon/cni/Chart.yaml':
      'apiVersion: v2\nname: cni\nversion: v1\ndependencies:\n- {name: cloud-provider, version: 2.33.1, repository: https://x}\n',
    'cluster-addon/cni/charts/cloud-provider-2.33.1.tgz': 'old',
    'cluster-addon/cni/charts/cloud-provider-2.34.3.tgz': 'new',
  };

  test('is applied to names, Kubernetes and dependencies', async () => {
    const { name, kubernetes, files } = built(changes, '1.34');
    expect([name, kubernetes]).toEqual(['docker-steward-1-34-v0-sha-abcdefg', 'v1.34.7']);
    const addon = files.get('docker-steward-1-34-cluster-addon-v2.tgz');
    expect(await text(addon, 'cni/Chart.yaml')).toContain('version: 2.34.3');
    const names = [...(await unpackArchive(addon ?? Buffer.alloc(0), 'it')).keys()];
    expect(names.filter((path) => path.endsWith('.tgz'))).toEqual(['cni/charts/cloud-provider-2.34.3.tgz']);
  });

  test('gives the chart of the class the name that the operator expects, and keeps the name of another stack', () => {
    const nameOf = (chart: string): string | undefined => {
      const tree = stackTree({ ...changes, 'cluster-class/Chart.yaml': chart });
      return readSource(tree, '1.34').files.get('cluster-class/Chart.yaml')?.toString();
    };
    expect(nameOf('name: docker-steward-1-33-cluster-class # ours\n')).toBe(
      'name: docker-steward-1-34-cluster-class # ours\n',
    );
    expect(nameOf('name: docker-scs-1-33-cluster-class\n')).toBe('name: docker-scs-1-34-cluster-class\n');
    expect(nameOf('name: my-class\n')).toBe('name: my-class\n');
  });

  test('that does not exist is reported with those that exist', () => {
    expect(() => built(changes, '1.35')).toThrow(
      'versions.yaml has no row for Kubernetes 1.35; its rows are: 1.33.10, 1.34.7',
    );
  });
});

describe('An invalid tree', () => {
  const config = (more: string): string =>
    `config:\n  kubernetesVersion: v1.33.1\n  clusterStackName: steward\n${more}`;
  test.each([
    [undefined, 'there is no csctl.yaml; use the folder of a stack'],
    ['a: [', 'csctl.yaml is not valid YAML'],
    [config(''), 'csctl.yaml: config.provider.type is missing'],
    [config('  provider: {type: Docker}\n'), 'config.provider.type is "Docker"; use a name of lower-case letters'],
    [
      'config: {kubernetesVersion: 1.33, clusterStackName: a, provider: {type: b}}',
      'config.kubernetesVersion is 1.33; use a full version',
    ],
    [
      config('  provider: {type: docker, config: {images: []}}\n'),
      'needs the plugin csctl-docker, which is not supported',
    ],
  ])('%j is refused with what is missing', (csctl, message) => {
    expect(() => readSource(stackTree({ 'csctl.yaml': csctl }))).toThrow(message);
  });

  test('is reported if nothing applies its add-ons', () => {
    expect(() => readSource(stackTree({ 'clusteraddon.yaml': undefined }))).toThrow(
      'there is no clusteraddon.yaml that says when',
    );
  });
});
