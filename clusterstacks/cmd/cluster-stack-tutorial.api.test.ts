import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { runCommand } from '../../e2e/cluster/machines/run-command.ts';
import { RunningRegistry } from '../../release/running-registry.ts';
import { consoleBlocks } from '../../e2e/framework/console-blocks.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { HelmRenderer } from '../helm/helm-renderer.ts';
import { definitionsOf } from '../../testing/builders/infrastructure/definitions.ts';
import { infrastructureProviders } from '../../testing/builders/infrastructure/providers.ts';
import type { ClusterApiCore } from '../../testing/servers/cluster-api-core.ts';
import { startClusterApiCore } from '../../testing/servers/cluster-api-core.ts';
import type { ServerFolder } from '../../testing/servers/server-folder.ts';
import { serverFolder } from '../../testing/servers/server-folder.ts';
import { copyShippedStack } from '../../testing/worlds/stacks/shipped-stack.ts';
import { startStackManager } from '../../testing/worlds/stacks/stack-manager.ts';

const root = join(import.meta.dirname, '../..');
const at = { namespace: 'default', apiVersion: 'cluster.x-k8s.io/v1beta2' };
const shop = { ...at, kind: 'Cluster', name: 'shop' };
const [v1, v2] = ['docker-steward-1-35-v1', 'docker-steward-1-36-v2'] as const;

let core: ClusterApiCore;
let folder: ServerFolder;
let registry: RunningRegistry;
let manager: AsyncDisposable;
let run: (heading: string, change?: (commands: string) => string) => Promise<void>;

beforeAll(async () => {
  const { helm, kubectl } = await resolveTools(['helm', 'kubectl']);
  const docker = infrastructureProviders.filter(({ name }) => name === 'docker');
  const definitions = docker.flatMap(definitionsOf) as unknown as readonly PlainObject[];
  [core, folder] = await Promise.all([startClusterApiCore(definitions), serverFolder()]);
  registry = await RunningRegistry.start(join(folder.path, 'registry'));
  const renderer = new HelmRenderer({ program: helm, scratch: join(folder.path, 'helm') });
  manager = await startStackManager(core.access, { renderer, folder: folder.path });
  const charts = { cilium: ['1.20.2'], 'metrics-server': ['3.13.0', '3.13.1'] };
  const env = {
    PATH: [...[process.execPath, helm, kubectl].map((program) => dirname(program)), '/usr/bin', '/bin'].join(':'),
    HOME: folder.path,
    KUBECONFIG: core.kubeconfigPath,
    STACK: await copyShippedStack({ provider: 'docker', charts }, join(folder.path, 'my-stack')),
    RELEASES: join(folder.path, 'releases'),
    PROVIDER: 'docker',
    REPOSITORY: `${registry.host}/team/cluster-stacks`,
    PLAIN_HTTP: 'true',
    VARIABLES: '[{"name":"addons","value":{"cni":"none"}}]',
  };
  const left = [...consoleBlocks(await readFile(join(root, 'docs', 'tutorial', 'first-cluster-stack.md'), 'utf8'))];
  run = async (heading, change = (commands) => commands) => {
    const index = left.findIndex((block) => block.heading === heading);
    const [block] = index < 0 ? [] : left.splice(index, 1);
    if (block === undefined) throw new Error(`the tutorial has no commands left under "${heading}"`);
    const args = ['--norc', '-euo', 'pipefail', '-c', change(block.commands)];
    await runCommand('bash', args, { env, cwd: root, title: `the commands under "${heading}"`, timeoutMs: 150_000 });
  };
}, 240_000);

afterAll(async () => {
  await manager[Symbol.asyncDispose]();
  await registry[Symbol.asyncDispose]();
  await core[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Says what the controller of the control plane, which does not run here, says once pods of a version run: core upgrades no other. */
async function serve(version: string): Promise<void> {
  const own = {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
    kind: 'StewardControlPlane',
    namespace: 'default',
  };
  const [made] = await core.client.list(own.apiVersion, own.kind, own.namespace);
  const counts = { replicas: 1, readyReplicas: 1, availableReplicas: 1, upToDateReplicas: 1 };
  const status = { version, ...counts, initialization: { controlPlaneInitialized: true } };
  await core.client.merge({ ...own, name: made?.metadata?.name ?? '' }, { status }, 'status');
}

// What needs machines and a control plane that runs is tried by the scenario of cluster stacks.
test('The cluster stack tutorial works: from a folder to a class, a Cluster, the next class and the deletion of the first ClusterStack', async () => {
  await run('3. The first release');
  await run('4. Its ClusterClass');
  await core.client.waitFor({ ...at, kind: 'ClusterClass', name: v1 }, 'VariablesReady');
  // The webhook that fills the version in is none of what runs here.
  await run('5. A Cluster', (commands) => commands.replace('  topology:\n', '  topology:\n    version: v1.35.4\n'));
  await core.client.waitFor(shop, 'TopologyReconciled', { timeoutMs: 60_000 });
  await run('6. The next minor');
  await core.client.waitFor({ ...at, kind: 'ClusterClass', name: v2 }, 'VariablesReady');
  await serve('v1.35.4');
  await run('7. Upgrade');
  expect((await core.client.read(shop))?.spec?.topology).toMatchObject({ classRef: { name: v2 }, version: 'v1.36.3' });
  await run('8. Clean up');
  const stacks = await core.client.list('clusterstack.x-k8s.io/v1alpha1', 'ClusterStack', 'default');
  // Its release follows where garbage is collected, which is not here.
  expect(stacks.map(({ metadata }) => metadata?.name)).toEqual(['docker-1.36']);
}, 600_000);
