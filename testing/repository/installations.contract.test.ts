import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';

import { resolveTools } from '../../e2e/tools/resolve.ts';
import { chartFolder, helm } from './rendered-chart.ts';
import { writeLocalRepository } from '../../release/local-repository.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../..');

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly selector?: unknown; readonly template?: Manifest & { readonly spec: unknown } };
}

const parsed = (text: string): readonly Manifest[] =>
  parseAllDocuments(text, { version: '1.1' })
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);

let folder: string;
/** What each way to install Steward makes. */
let ways: Readonly<Record<'kubectl' | 'clusterctl' | 'helm', readonly Manifest[]>>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'steward-installations-'));
  const tools = await resolveTools(['clusterctl', 'kustomize']);
  const output = async (program: string, words: readonly string[]): Promise<readonly Manifest[]> => {
    const env = { HOME: folder, XDG_CONFIG_HOME: folder, CLUSTERCTL_DISABLE_VERSIONCHECK: 'true' };
    return parsed((await run(program, [...words], { env, maxBuffer: 64 << 20 })).stdout);
  };
  const { configuration, version } = await writeLocalRepository(path.join(folder, 'repository'));
  const file = path.join(folder, 'clusterctl.yaml');
  await writeFile(file, configuration);
  const words = ['generate', 'provider', '--control-plane', `steward:${version}`, '--config', file];
  // Any name of the release: a reader chooses it.
  const release = ['blue', '--namespace', 'steward-system'];
  ways = {
    kubectl: await output(tools.kustomize, ['build', path.join(root, 'config/default')]),
    clusterctl: await output(tools.clusterctl, words),
    helm: [
      ...parsed(await helm('template', ...release, chartFolder('steward-crds'))),
      ...parsed(await helm('template', ...release, chartFolder('steward'), '--set', 'etcd.enabled=false')),
    ],
  };
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

const namesOf = (manifests: readonly Manifest[]): ReadonlySet<string> =>
  new Set(manifests.filter(({ kind }) => kind !== 'Namespace').map(({ kind, metadata }) => `${kind} ${metadata.name}`));

const without = (names: ReadonlySet<string>, others: ReadonlySet<string>): readonly string[] =>
  [...names].filter((name) => !others.has(name)).sort();

describe('However Steward is installed', () => {
  test('its objects have the same names', () => {
    const [kubectl, clusterctl, chart] = [ways.kubectl, ways.clusterctl, ways.helm].map(namesOf) as [
      ReadonlySet<string>,
      ReadonlySet<string>,
      ReadonlySet<string>,
    ];
    const reader = 'steward-kubeadm-bootstrap-reader';
    expect(kubectl.size).toBeGreaterThan(20);
    expect(without(kubectl, clusterctl)).toEqual([]);
    expect(without(clusterctl, kubectl)).toEqual([`ClusterRole ${reader}`, `ClusterRoleBinding ${reader}`]);
    expect(without(clusterctl, chart)).toEqual([]);
    // With the other two, a scraper finds the pods.
    expect(without(chart, clusterctl)).toEqual(['Service steward-metrics-service']);
  });

  test('its manager has the same labels and is selected by the same', () => {
    const seen = Object.values(ways).map((manifests) => {
      const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
      return deployments.map(({ metadata, spec }) => ({
        name: metadata.name,
        labels: [metadata.labels, spec?.template?.metadata.labels].map((labels) => labels?.['app.kubernetes.io/name']),
        selector: spec?.selector,
      }));
    });
    const selector = {
      matchLabels: { 'app.kubernetes.io/name': 'steward', 'app.kubernetes.io/component': 'controller-manager' },
    };
    const manager = { name: 'steward-controller-manager', labels: ['steward', 'steward'], selector };
    expect(seen).toEqual([[manager], [manager], [manager]]);
  });
});
