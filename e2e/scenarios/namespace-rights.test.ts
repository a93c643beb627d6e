import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';

import type { PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { managerIsAvailable } from '../framework/install-steward.ts';
import { networkEscapes, preparations } from '../framework/attacks/namespace-escapes-network.ts';
import { insideNamespace, namespaceEscapes } from '../framework/attacks/namespace-escapes.ts';
import type { NamespaceEscape } from '../framework/attacks/namespace-escapes.ts';
import { untilReached } from '../framework/network/until-reached.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { startStewardCluster } from '../framework/steward-cluster.ts';
import { logStep } from '../framework/log.ts';
import { isCondition, TenantStage } from '../framework/tenant-stage.ts';
import { minutes } from '../framework/minutes.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';

const owned = scenarioResources();
const manager = 'deployment/steward-controller-manager';
const enforce = 'pod-security.kubernetes.io/enforce';

let cluster: ManagementCluster;
let strict: TenantStage;
let open: TenantStage;
/** The kubeconfig of a user with all permissions on TenantControlPlanes in both namespaces, and no others. */
let author: string;

const rights = (namespace: string): readonly PlainObject[] => [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'author', namespace },
    rules: [{ apiGroups: ['steward.butlerlabs.dev'], resources: ['tenantcontrolplanes'], verbs: ['*'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'author', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'author' },
    subjects: [{ kind: 'ServiceAccount', name: 'author', namespace: 'strict' }],
  },
];

/** The administrator's kubeconfig with the author's token in place of its credentials. */
async function kubeconfigOfAuthor(): Promise<string> {
  const { stdout } = await cluster.kubectl(['-n', 'strict', 'create', 'token', 'author', '--duration=2h']);
  const admin = parse(await readFile(cluster.kubeconfig, 'utf8')) as { users: { name: string; user: object }[] };
  const users = admin.users.map(({ name }) => ({ name, user: { token: stdout.trim() } }));
  const file = path.join(cluster.harness.folder, 'author.conf');
  await writeFile(file, stringify({ ...admin, users }), { mode: 0o600 });
  return file;
}

beforeAll(async () => {
  // Its own: the manager's flags are changed.
  ({ cluster } = owned.use(await startStewardCluster(owned.harness(`rights-${process.pid}`), logStep)));
  strict = new TenantStage(cluster, 'strict');
  open = new TenantStage(cluster, 'open');
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'strict' } },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'open', labels: { [enforce]: 'privileged' } } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'author', namespace: 'strict' } },
    ...rights('strict'),
    ...rights('open'),
  ]);
  author = await kubeconfigOfAuthor();
  await prepare();
}, 20 * minutes);

const tenantEscapes = networkEscapes.filter(({ manifest }) => manifest('strict').kind === 'TenantControlPlane');

/** What the ways over the network need to be there: DataStores for others, and a control plane whose host name is wanted. */
async function prepare(): Promise<void> {
  const { stdout } = await cluster.kubectl(['get', 'datastore', preparations.open, '-o', 'json']);
  const { spec } = JSON.parse(stdout) as PlainObject;
  const store = (name: string, allowedNamespaces: object): PlainObject => ({
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: { name },
    spec: { ...spec, allowedNamespaces },
  });
  const elsewhere = new TenantStage(cluster, 'elsewhere');
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'elsewhere' } },
    store(preparations.closedByName, { names: ['elsewhere'] }),
    store(preparations.closedBySelector, { selector: { matchLabels: { tier: 'gold' } } }),
    elsewhere.manifest('taken', {
      controlPlane: {
        deployment: { replicas: 0 },
        service: { serviceType: 'ClusterIP' },
        ingress: { hostname: preparations.takenHost },
      },
      networkProfile: {},
    }),
  ]);
}

function manifest(stage: TenantStage, { deployment, spec }: Pick<NamespaceEscape, 'deployment' | 'spec'>): PlainObject {
  const service = { serviceType: 'ClusterIP' };
  const controlPlane = { deployment: { replicas: 1, ...deployment }, service };
  return stage.manifest('tenant', { controlPlane, networkProfile: {}, ...spec });
}

/** The refusal when the author creates it; undefined if it is admitted. */
async function refusal(object: PlainObject, ...flags: readonly string[]): Promise<string | undefined> {
  const args = ['--kubeconfig', author, 'create', '-f', '-', ...flags];
  return cluster.kubectl(args, { input: JSON.stringify(object) }).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );
}

/** The refusal when the author creates the object and then changes its spec; undefined if that is admitted. */
async function refusedChange(object: PlainObject, spec: object): Promise<string | undefined> {
  expect(await refusal(object)).toBeUndefined();
  const name = object.metadata?.name ?? '';
  const args = ['--kubeconfig', author, '-n', 'strict', 'patch', 'tenantcontrolplane', name, '--type=merge'];
  return cluster.kubectl([...args, '-p', JSON.stringify({ spec })]).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );
}

describe('A user who may only create TenantControlPlanes in one namespace', () => {
  test('can neither read Secrets nor create pods there', async () => {
    const may = async (...what: readonly string[]): Promise<string> =>
      cluster.kubectl(['--kubeconfig', author, '-n', 'strict', 'auth', 'can-i', ...what]).then(
        ({ stdout }) => stdout.trim(),
        () => 'no',
      );
    expect(await may('create', 'tenantcontrolplanes.steward.butlerlabs.dev')).toBe('yes');
    expect(await may('get', 'secrets')).toBe('no');
    expect(await may('create', 'pods')).toBe('no');
  });

  test.each(namespaceEscapes.map((escape) => [escape.name, escape] as const))('is refused %s', async (_, escape) => {
    const said = await refusal(manifest(strict, escape));
    logStep('refused:', said?.split('\n').slice(1).join(' ').slice(0, 300));
    expect(said).toMatch(escape.expected);
  });

  test.each(tenantEscapes.map((escape) => [escape.name, escape] as const))('is refused %s', async (_, escape) => {
    const made = escape.manifest('strict');
    const said = await (escape.change === undefined ? refusal(made) : refusedChange(made, escape.change));
    logStep('refused:', said?.split('\n').slice(1).join(' ').slice(0, 300));
    for (const word of escape.words) expect(said).toContain(word);
  });

  test.each(insideNamespace.map((each) => [each.name, each] as const))('may use %s', async (_, each) => {
    expect(await refusal(manifest(strict, each), '--dry-run=server')).toBeUndefined();
  });
});

describe('An administrator permits by a label of the namespace', () => {
  const byLabel = namespaceEscapes.filter(({ opened }) => opened !== undefined && 'label' in opened);

  test.each(byLabel.map((escape) => [escape.name, escape] as const))('%s', async (_, escape) => {
    expect(await refusal(manifest(open, escape), '--dry-run=server')).toBeUndefined();
  });

  test(
    'a privileged container, which then runs beside a working tenant',
    async () => {
      const additionalContainers = [
        { name: 'extra', image: 'registry.k8s.io/pause:3.10.2', securityContext: { privileged: true } },
      ];
      expect(await refusal(manifest(open, { deployment: { additionalContainers } }))).toBeUndefined();
      await open.waitFor('tenant', isCondition('Ready', 'True'), { timeoutMs: 4 * minutes });
    },
    5 * minutes,
  );
});

describe('An administrator permits by a flag of the manager', () => {
  const openedTenants = tenantEscapes.filter(({ flag }) => flag !== undefined);
  const flags = [
    ...namespaceEscapes.flatMap(({ opened }) => (opened !== undefined && 'flag' in opened ? [opened.flag] : [])),
    ...openedTenants.map(({ flag = '' }) => flag),
  ];
  /** One flag of each name: the values of those that are given several times are a list. */
  const joined = (): readonly string[] => {
    const values = new Map<string, Set<string>>();
    for (const flag of flags) {
      const equals = flag.indexOf('=');
      const name = equals < 0 ? flag : flag.slice(0, equals);
      values.set(name, (values.get(name) ?? new Set()).add(equals < 0 ? 'true' : flag.slice(equals + 1)));
    }
    return [...values].map(([name, all]) => `${name}=${[...all].join(',')}`);
  };

  beforeAll(async () => {
    const patch = joined().map((value) => ({ op: 'add', path: '/spec/template/spec/containers/0/args/-', value }));
    await cluster.kubectl(['-n', 'steward-system', 'patch', manager, '--type=json', '-p', JSON.stringify(patch)]);
    await cluster.kubectl(['-n', 'steward-system', 'rollout', 'status', manager, kubectlTimeout(120)], {
      timeoutMs: 150_000,
    });
    await managerIsAvailable(cluster);
  }, 5 * minutes);

  const byFlag = namespaceEscapes.filter(({ opened }) => opened !== undefined && 'flag' in opened);
  test.each(byFlag.map((escape) => [escape.name, escape] as const))('%s', async (_, escape) => {
    expect(await refusal(manifest(strict, escape), '--dry-run=server')).toBeUndefined();
  });

  test.each(openedTenants.map((escape) => [escape.name, escape] as const))('%s', async (_, escape) => {
    expect(await refusal(escape.manifest('strict'), '--dry-run=server')).toBeUndefined();
  });
});

test('An administrator permits a DataStore by its allowedNamespaces', async () => {
  const refused = tenantEscapes.find(({ name }) => name === 'a DataStore for others, by name');
  const patch = JSON.stringify({ spec: { allowedNamespaces: { names: ['elsewhere', 'strict'] } } });
  await cluster.kubectl(['patch', 'datastore', preparations.closedByName, '--type=merge', '-p', patch]);
  // The webhook reads a cache, which the change reaches a moment later.
  await untilReached(async () => {
    expect(await refusal(refused?.manifest('strict') ?? {}, '--dry-run=server')).toBeUndefined();
  });
});
