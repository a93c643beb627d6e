import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';

import { resolveTools } from '../e2e/tools/resolve.ts';
import type { LocalRepository } from './local-repository.ts';
import { writeLocalRepository } from './local-repository.ts';
import { managerImage } from './manager-image.ts';
import { releaseVersion } from './release-version.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '..');

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
}

interface Component {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly group?: string;
    readonly names?: { readonly plural: string };
    readonly conversion?: { readonly strategy?: string };
    readonly template?: {
      readonly spec: { readonly containers: readonly Container[] };
    };
  };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

let folder: string;
let repository: LocalRepository;
let text: string;
let components: readonly Component[];
let clusterctl: (...words: readonly string[]) => Promise<string>;
/** What clusterctl makes of the provider where these variables are set. */
let deploymentWith: (variables?: Readonly<Record<string, string>>, more?: string) => Promise<Component>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'steward-repository-'));
  repository = await writeLocalRepository(path.join(folder, 'repository'));
  text = await readFile(path.join(repository.folder, 'control-plane-components.yaml'), 'utf8');
  components = parseAllDocuments(text).map((document) => document.toJS() as Component);
  const configuration = path.join(folder, 'clusterctl.yaml');
  await writeFile(configuration, repository.configuration);
  const tools = await resolveTools(['clusterctl']);
  const environment = {
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    PATH: '/usr/bin:/bin',
    CLUSTERCTL_DISABLE_VERSIONCHECK: 'true',
  };
  const clusterctlWith = async (env: NodeJS.ProcessEnv, file: string, words: readonly string[]): Promise<string> =>
    (await run(tools.clusterctl, [...words, '--config', file], { env, maxBuffer: 64 << 20 })).stdout;
  clusterctl = (...words) => clusterctlWith(environment, configuration, words);
  deploymentWith = async (variables = {}, more = '') => {
    const file = path.join(folder, 'more.yaml');
    await writeFile(file, `${repository.configuration}\n${more}`);
    const words = ['generate', 'provider', '--control-plane', `steward:${repository.version}`];
    const printed = await clusterctlWith({ ...environment, ...variables }, file, words);
    const deployment = parseAllDocuments(printed, { version: '1.1' })
      .map((document) => document.toJS() as Component)
      .find(({ kind }) => kind === 'Deployment');
    if (deployment === undefined) throw new Error('clusterctl printed no Deployment');
    return deployment;
  };
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** The images of the pods that the components make. */
async function imagesOf(release: string): Promise<readonly string[]> {
  const content = await readFile(path.join(release, 'control-plane-components.yaml'), 'utf8');
  return parseAllDocuments(content)
    .map((document) => document.toJS() as Component)
    .filter(({ kind }) => kind === 'Deployment')
    .flatMap(({ spec }) => spec?.template?.spec.containers.map(({ image }) => image) ?? []);
}

describe('the components, by the rules of clusterctl', () => {
  const ofKind = (kind: string): readonly Component[] => components.filter((component) => component.kind === kind);

  test('have one Namespace, and all that has a namespace is in it', () => {
    expect(ofKind('Namespace').map(({ metadata }) => metadata.name)).toEqual(['steward-system']);
    const namespaces = components.flatMap(({ metadata }) => metadata.namespace ?? []);
    expect(new Set(namespaces)).toEqual(new Set(['steward-system']));
  });

  test('run the manager in a container called manager, of the released image', () => {
    const [deployment, ...others] = ofKind('Deployment');
    expect(others).toEqual([]);
    expect(deployment?.spec?.template?.spec.containers).toMatchObject([{ name: 'manager', image: managerImage }]);
  });

  test('name definitions as clusterctl and core compute it, labeled with the contracts, without conversion webhooks', () => {
    const definitions = ofKind('CustomResourceDefinition');
    for (const { metadata, spec } of definitions) {
      expect(metadata.name).toBe(`${spec?.names?.plural ?? ''}.${spec?.group ?? ''}`);
      expect(spec?.conversion?.strategy ?? 'None').toBe('None');
    }
    const ours = definitions.filter(({ spec }) => spec?.group === 'controlplane.cluster.x-k8s.io');
    expect(ours).toHaveLength(2);
    for (const { metadata } of ours) {
      expect(metadata.labels).toMatchObject({
        'cluster.x-k8s.io/provider': 'control-plane-steward',
        'cluster.x-k8s.io/v1beta1': 'v1alpha1',
        'cluster.x-k8s.io/v1beta2': 'v1alpha2',
      });
    }
  });

  test('have no variable without a default, and all are of Steward', () => {
    const variables = [...text.matchAll(/\$\{([^}]*)\}/g)].map(([, inside = '']) => inside);
    expect(variables.length).toBeGreaterThan(20);
    for (const each of variables) expect(each).toMatch(/^STEWARD_\w+:=[^}]+$/);
  });

  test('name foreign service accounts as Users: clusterctl would move the others into our namespace', () => {
    const accounts = new Set(ofKind('ServiceAccount').map(({ metadata }) => metadata.name));
    const subjects = components.flatMap((component) => component.subjects ?? []);
    for (const { kind, name, namespace } of subjects) {
      if (kind === 'ServiceAccount') expect([namespace, accounts.has(name)]).toEqual(['steward-system', true]);
      else expect(kind).toBe('User');
    }
    expect(subjects.some(({ kind }) => kind === 'User')).toBe(true);
  });
});

describe('clusterctl itself', () => {
  test('generates the components into another namespace, and moves every account along', async () => {
    const words = [
      'generate',
      'provider',
      '--control-plane',
      `steward:${repository.version}`,
      '--target-namespace',
      'elsewhere',
    ];
    const generated = await clusterctl(...words);
    expect(generated).not.toContain('steward-system');
    expect(generated).toContain('system:serviceaccount:capi-kubeadm-bootstrap-system:capi-kubeadm-bootstrap-manager');
    const objects = parseAllDocuments(generated).map((document) => document.toJS() as Component);
    expect(objects).toHaveLength(components.length);
    for (const { metadata } of objects) {
      expect(metadata.labels).toMatchObject({ 'cluster.x-k8s.io/provider': 'control-plane-steward' });
    }
  });

  test('describes the provider with its variables', async () => {
    const described = await clusterctl(
      'generate',
      'provider',
      '--control-plane',
      `steward:${repository.version}`,
      '--describe',
    );
    expect(described).toContain('STEWARD_KUBEADM_BOOTSTRAP_SA_NAMESPACE');
    expect(described).toMatch(new RegExp(`Version:\\s+${repository.version.replaceAll('.', '\\.')}`));
  });

  const containerOf = (deployment: Component): Container => {
    const [container] = deployment.spec?.template?.spec.containers ?? [];
    if (container === undefined) throw new Error('the Deployment has no container');
    return container;
  };
  const flagsOf = (deployment: Component): readonly string[] => containerOf(deployment).args;

  test('leaves the manager as config/manager has it when no variable is set', async () => {
    const deployment = await deploymentWith();
    expect(flagsOf(deployment)).toEqual(
      expect.arrayContaining(['--datastore=default', '--feature-gates=', '--watch-filter=']),
    );
  });

  test('sets flags by variables, and a value is text whatever it looks like', async () => {
    const deployment = await deploymentWith({
      STEWARD_DATASTORE: 'shared',
      STEWARD_PROFILING: 'true',
      STEWARD_ALLOW_ANNOTATIONS: '*',
      STEWARD_WATCH_FILTER: '1',
      STEWARD_TRACING_ENDPOINT: 'http://c:4318/v1/traces',
      STEWARD_FEATURE_GATES: 'ClusterStacks=true,ExternalClusterReference=true',
    });
    const flags = flagsOf(deployment);
    for (const flag of [
      ...['--datastore=shared', '--profiling=true', '--allow-annotations=*', '--watch-filter=1'],
      ...['--tracing-endpoint=http://c:4318/v1/traces'],
      '--feature-gates=ClusterStacks=true,ExternalClusterReference=true',
    ]) {
      expect(flags).toContain(flag);
    }
    expect(flags).not.toContain('--datastore=default');
  });

  test('takes variables and another image from its configuration', async () => {
    const deployment = await deploymentWith(
      {},
      'STEWARD_ZAP_LOG_LEVEL: debug\nimages: { control-plane-steward: { repository: registry.example.com/team, tag: v1-helm } }\n',
    );
    expect(flagsOf(deployment)).toContain('--zap-log-level=debug');
    expect(containerOf(deployment).image).toBe('registry.example.com/team/steward:v1-helm');
  });

  test('refuses a version that is not there', async () => {
    await expect(clusterctl('generate', 'provider', '--control-plane', 'steward:v9.9.9')).rejects.toThrow(/v9\.9\.9/);
  });

  test('makes a cluster of every template that needs nothing but the usual variables', async () => {
    const files = await readdir(repository.folder);
    const template = path.join(repository.folder, 'cluster-template-netns.yaml');
    expect(files).toContain('cluster-template-netns.yaml');
    const words = [
      'generate',
      'cluster',
      'one',
      '--from',
      template,
      '--kubernetes-version',
      'v1.36.3',
      '--target-namespace',
      'default',
    ];
    const generated = await clusterctl(...words);
    expect(generated).toContain('kind: StewardControlPlane');
    expect(generated).not.toContain('${');
  });
});

describe('the release of a provider', () => {
  test('takes the image that it is given, and keeps the versions beside it', async () => {
    const out = path.join(folder, 'repository');
    const { folder: next } = await writeLocalRepository(out, {
      version: 'v0.1.7',
      image: 'registry.example.com/s:v0.1.7',
    });
    expect(await imagesOf(next)).toEqual(['registry.example.com/s:v0.1.7']);
    expect((await readdir(path.join(out, 'control-plane-steward'))).sort()).toEqual(
      [repository.version, 'v0.1.7'].sort(),
    );
    expect(await readdir(next)).toEqual(expect.arrayContaining(['control-plane-components.yaml', 'metadata.yaml']));
  });

  test.each([
    ['latest', /"latest" is not a release version/],
    ['0.1.0+build', /SemVer version without \+build/],
    ['9.0.0', /metadata\.yaml has no series 9\.0/],
  ])('of version %s is refused', async (version, reason) => {
    await expect(releaseVersion(version)).rejects.toThrow(reason);
  });

  test('is described in clusterctl-settings.json for the tools of Cluster API', async () => {
    const settings = JSON.parse(await readFile(path.join(root, 'clusterctl-settings.json'), 'utf8')) as {
      name: string;
      config: { componentsFile: string; nextVersion: string; configFolder: string };
    };
    const { kustomize } = await resolveTools(['kustomize']);
    const { stdout } = await run(kustomize, ['build', path.join(root, settings.config.configFolder)], {
      maxBuffer: 64 << 20,
    });
    expect(stdout).toBe(text);
    expect(path.join(repository.folder, '..')).toBe(path.join(folder, 'repository', settings.name));
    expect(settings.config.componentsFile).toBe('control-plane-components.yaml');
    const metadata = parse(await readFile(path.join(root, 'metadata.yaml'), 'utf8')) as {
      releaseSeries: readonly { major: number; minor: number }[];
    };
    expect(metadata).toMatchObject({ apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3', kind: 'Metadata' });
    const { major = 0, minor = 0 } = metadata.releaseSeries.at(-1) ?? {};
    await expect(releaseVersion(settings.config.nextVersion)).resolves.toBe(`${major}.${minor}.99`);
  });
});
