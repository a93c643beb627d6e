import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { KubernetesClient, PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { runCommand, tryCommand } from '../cluster/machines/run-command.ts';
import { addRoute } from '../cluster/network/links.ts';
import type { Worker } from '../cluster/worker.ts';
import { goSteward, kamaji } from '../framework/foreign/dialect.ts';
import { foreignTenant } from '../framework/foreign/foreign-tenant.ts';
import type { ForeignTenant } from '../framework/foreign/foreign-tenant.ts';
import { kamajiDefinitions } from '../framework/foreign/kamaji-kinds.ts';
import { kustomize, managerIsAvailable } from '../framework/install-steward.ts';
import { expectUnharmed } from '../framework/load/expect-unharmed.ts';
import { underLoad } from '../framework/load/under-load.ts';
import type { Seen } from '../framework/load/under-load.ts';
import { logStep } from '../framework/log.ts';
import { minutes } from '../framework/minutes.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { startStewardCluster } from '../framework/steward-cluster.ts';
import { TenantStage } from '../framework/tenant-stage.ts';
import { joinByHand } from '../framework/workers/tenant-worker.ts';
import { workerRuns } from '../framework/workers/worker-runs.ts';

const owned = scenarioResources();
const root = path.join(import.meta.dirname, '..', '..');
const version = 'v1.36.3';
const managerNamespace = 'steward-system';

let cluster: ManagementCluster;
let folder: string;

beforeAll(async () => {
  // Its manager is removed for a while: no other scenario can use the cluster.
  const steward = owned.use(await startStewardCluster(owned.harness(`import-${process.pid}`), logStep));
  cluster = steward.cluster;
  folder = path.join(cluster.harness.folder, 'plugin');
  await runCommand(process.execPath, [path.join(root, 'cmd/build-plugin.ts'), folder]);
}, 20 * minutes);

/** A command line of the plugin, as a person types it. */
const commandOf = (namespace: string, ...words: readonly string[]): readonly [string, readonly string[]] => [
  process.execPath,
  [path.join(folder, 'kubectl-steward'), ...words, '--kubeconfig', cluster.kubeconfig, '-n', namespace],
];

/** Runs it, and prints the progress that it shows. */
async function plugin(namespace: string, ...words: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runCommand(...commandOf(namespace, ...words), { timeoutMs: 12 * minutes });
  for (const line of stderr.trim().split('\n')) logStep(words[0] ?? '', line);
  return stdout;
}

/** A tenant with a worker, before and after its import. */
class Imported {
  readonly stage: TenantStage;
  readonly tenant: ForeignTenant;
  readonly worker: Worker;
  readonly client: KubernetesClient;

  private constructor(stage: TenantStage, tenant: ForeignTenant, worker: Worker, client: KubernetesClient) {
    this.stage = stage;
    this.tenant = tenant;
    this.worker = worker;
    this.client = client;
  }

  /** Joins a worker to a tenant. */
  static async join(tenant: ForeignTenant): Promise<Imported> {
    const stage = new TenantStage(cluster, tenant.namespace);
    const { name, endpoint } = tenant;
    const worker = await joinByHand(stage, {
      ...{ tenant: name, endpoint, worker: `${name}-worker` },
      // The endpoint is a ClusterIP of the management cluster: a worker elsewhere needs a route to it.
      prepare: ({ machine }) => addRoute(cluster.network.services, cluster.address, machine.init),
    });
    owned.defer(() => worker.stop());
    return new Imported(stage, tenant, worker, await stage.open(name));
  }

  async node(): Promise<PlainObject | undefined> {
    return this.client.read({ apiVersion: 'v1', kind: 'Node', name: `${this.tenant.name}-worker` });
  }

  /** Does the import while the tenant is used, and expects that nobody has noticed it. */
  async during(work: () => Promise<void>): Promise<Seen> {
    const { client, stage, tenant, worker } = this;
    const before = { runs: await workerRuns(client, worker), node: await this.node() };
    const kubeconfig = await stage.kubeconfig(tenant.name);
    const seen = await underLoad({ title: `import of ${tenant.name}`, kubeconfig, floor: cluster.client }, work);
    expectUnharmed(seen);
    expect(await workerRuns(client, worker)).toEqual(before.runs);
    const node = await this.node();
    expect(node?.metadata?.uid).toBe(before.node?.metadata?.uid);
    const bootOf = (of: PlainObject | undefined): unknown => (of?.status?.nodeInfo as { bootID?: string }).bootID;
    expect(bootOf(node)).toBe(bootOf(before.node));
    await client.waitFor({ apiVersion: 'v1', kind: 'Node', name: `${tenant.name}-worker` }, 'Ready');
    return seen;
  }

  /** What workers and users know is what it was, and Steward has the control plane. */
  async expectTaken(): Promise<void> {
    const { stage, tenant } = this;
    const { name, endpoint, schema, ca } = tenant;
    const status = await stage.waitFor(name, 'Ready');
    expect(status.controlPlaneEndpoint).toBe(endpoint);
    expect(status.storage?.setup).toMatchObject({ schema, user: schema });
    expect((await stage.secret(`${name}-ca`))['ca.crt']).toBe(ca);
    const owner = await cluster.client.read(stage.tenant(name));
    const secret = await cluster.client.read(stage.at('Secret', `${name}-ca`));
    expect(secret?.metadata?.ownerReferences?.map(({ uid }) => uid)).toEqual([owner?.metadata?.uid]);
    expect(await stage.pods(name)).toHaveLength(2);
  }
}

describe('A control plane of Kamaji', () => {
  let shop: Imported;

  test(
    'runs with a worker, beside Steward',
    async () => {
      await cluster.apply(kamajiDefinitions);
      const store = await cluster.client.read({
        ...{ apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'DataStore', name: 'default' },
      });
      const { driver, endpoints, tlsConfig } = store?.spec ?? {};
      await cluster.apply([
        {
          ...{ apiVersion: 'kamaji.clastix.io/v1alpha1', kind: 'DataStore', metadata: { name: 'default' } },
          spec: { driver, endpoints, tlsConfig },
        },
      ]);
      shop = await Imported.join(
        await foreignTenant(cluster, kamaji, { namespace: 'of-kamaji', name: 'shop', version }),
      );
    },
    15 * minutes,
  );

  test(
    'is planned to be imported, which changes nothing',
    async () => {
      const out = await plugin('of-kamaji', 'import', 'shop', '--from', 'kamaji', '--dry-run', '-o', 'json');
      const report = JSON.parse(out) as { result: string; problems: string[]; steps: { done: boolean }[] };
      expect(report).toMatchObject({ result: 'planned', problems: [] });
      const { steps } = report;
      expect(steps.some(({ done }) => !done)).toBe(true);
      const old = await cluster.client.read(kamajiShop);
      expect(old?.metadata?.annotations).toBeUndefined();
    },
    2 * minutes,
  );

  test(
    'is imported without a failed call, and its worker does not notice it',
    async () => {
      await shop.during(async () => {
        const out = await plugin('of-kamaji', 'import', 'shop', '--from', 'kamaji', '--yes', '-o', 'json');
        expect(JSON.parse(out)).toMatchObject({ result: 'imported' });
      });
      await shop.expectTaken();
      expect(await cluster.client.read(kamajiShop)).toBeUndefined();
      const pods = await cluster.client.list('v1', 'Pod', 'of-kamaji', 'kamaji.clastix.io/name=shop');
      expect(pods).toEqual([]);
    },
    15 * minutes,
  );
});

describe('A control plane of the Go Steward', () => {
  let blog: Imported;

  test(
    'runs with a worker, without this Steward',
    async () => {
      const webhooks = 'validatingwebhookconfigurations,mutatingwebhookconfigurations';
      const ours = ['delete', `deployment/steward-controller-manager`, '-n', managerNamespace, '--wait'];
      await cluster.kubectl(ours, { timeoutMs: 2 * minutes });
      const { stdout } = await cluster.kubectl(['get', webhooks, '-o', 'name']);
      const names = stdout.split('\n').filter((name) => name.includes('steward'));
      await cluster.kubectl(['delete', ...names]);
      // Its manager: only whether it runs is asked for. A pod that does nothing stands for it.
      await cluster.apply([goManager(await pauseImage())]);
      blog = await Imported.join(
        await foreignTenant(cluster, goSteward, { namespace: 'of-go', name: 'blog', version }),
      );
    },
    15 * minutes,
  );

  test(
    'is held, and its manager stopped, before Steward is installed',
    async () => {
      const { code, stderr } = await tryCommand(
        ...commandOf('of-go', 'import', 'blog', '--from', 'go-steward', '--yes'),
      );
      expect(stderr).toContain('install Steward now, and run the same command again');
      expect(code).toBe(3);
      const manager = await cluster.client.read({
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', namespace: managerNamespace, name: 'steward' },
      });
      expect(manager?.spec?.replicas).toBe(0);
    },
    3 * minutes,
  );

  test(
    'is imported without a failed call, and its worker does not notice it',
    async () => {
      const former = await blog.stage.pods('blog');
      await blog.during(async () => {
        await cluster.apply(await kustomize('config/default'));
        await managerIsAvailable(cluster);
        const out = await plugin('of-go', 'import', 'blog', '--from', 'go-steward', '--yes', '-o', 'json');
        expect(JSON.parse(out)).toMatchObject({ result: 'imported' });
        // The new pods serve; that the former ones end is part of what nobody may notice.
        for (const { metadata } of former) await blog.stage.gone(blog.stage.at('Pod', metadata?.name ?? ''));
      });
      await blog.expectTaken();
    },
    15 * minutes,
  );
});

const kamajiShop = {
  apiVersion: 'kamaji.clastix.io/v1alpha1',
  kind: 'TenantControlPlane',
  namespace: 'of-kamaji',
  name: 'shop',
};

/** The image of pause that the machine has. */
async function pauseImage(): Promise<string> {
  const { stdout } = await cluster.exec(['kubeadm', 'config', 'images', 'list']);
  return stdout.split('\n').find((name) => name.includes('/pause:')) ?? '';
}

function goManager(image: string): PlainObject {
  const labels = {
    'app.kubernetes.io/name': 'steward',
    'app.kubernetes.io/instance': 'steward',
    'app.kubernetes.io/component': 'controller-manager',
  };
  const env = [{ name: 'SERVICE_ACCOUNT', valueFrom: { fieldRef: { fieldPath: 'spec.serviceAccountName' } } }];
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
    metadata: { name: 'steward', namespace: managerNamespace, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'manager', image, env }] } },
    },
  };
}
