import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { KubernetesClient } from '../cluster/kubernetes-client.ts';
import type { PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { runCommand, tryCommand } from '../cluster/machines/run-command.ts';
import { slowness } from '../cluster/slowness.ts';
import { startWorker } from '../cluster/worker.ts';
import { giveControlPlaneImages } from '../framework/control-plane-images.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { logStep } from '../framework/log.ts';
import { minutes } from '../framework/minutes.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import { TenantStage, conditionOf, isCondition } from '../framework/tenant-stage.ts';
import { machineKubelet } from '../framework/workers/tenant-worker.ts';

const owned = scenarioResources();
const root = path.join(import.meta.dirname, '..', '..');
const namespace = 'by-plugin';
const shop = 'shop';

let cluster: ManagementCluster;
let stage: TenantStage;
let folder: string;

beforeAll(async () => {
  const steward = owned.use(await shareStewardCluster(owned.harness(`plugin-${process.pid}`), logStep));
  cluster = steward.cluster;
  stage = new TenantStage(cluster, namespace);
  await giveControlPlaneImages(cluster.machine, 'v1.35.4');
  folder = path.join(cluster.harness.folder, `plugin-${process.pid}`);
  await runCommand(process.execPath, [path.join(root, 'cmd/build-plugin.ts'), folder]);
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
}, 20 * minutes);

/** A command line of the plugin, as a person types it. */
const commandOf = (words: readonly string[]): readonly [string, readonly string[]] => [
  process.execPath,
  [path.join(folder, 'kubectl-steward'), ...words, '--kubeconfig', cluster.kubeconfig, '-n', namespace],
];

async function plugin(...words: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runCommand(...commandOf(words));
  logStep(words.join(' '), stderr.trim().split('\n').at(-1) ?? '');
  return stdout;
}

describe('kubectl steward', () => {
  test(
    'creates a control plane, shows its progress until it is Ready, and lists it',
    async () => {
      const size = ['--replicas', '2', '--service-type', 'NodePort', '--datastore', 'default'];
      const networks = ['--service-cidr', cluster.network.services, '--pod-cidr', cluster.network.pods];
      const out = await plugin('create', shop, '--kubernetes-version', 'v1.35.4', ...size, ...networks);
      expect(out).toBe('tenantcontrolplane.steward.butlerlabs.dev/shop\n');
      // It is Ready with its first pod.
      const listed = /^shop +v1\.35\.4 +2\/2 .* default +True +Ready/m;
      let text = await plugin('get');
      for (const deadline = deadlineIn(minutes); !listed.test(text) && Date.now() < deadline;)
        text = await plugin('get');
      expect(text).toMatch(listed);
      expect(await plugin('datastore', 'ls')).toMatch(/^default +etcd /m);
      expect(await plugin('datastore', 'verify', 'default')).toContain('Reachable');
    },
    4 * minutes,
  );

  test(
    'gives a kubeconfig that is valid for an hour, for the requested user and group',
    async () => {
      const file = path.join(folder, 'ada.yaml');
      const whose = ['--user', 'ada', '--group', 'kubeadm:cluster-admins'];
      await plugin('kubeconfig', shop, ...whose, '--kubeconfig-file', file);
      const client = new KubernetesClient(await readFile(file, 'utf8'));
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const { status } = await client.connection.send<{ status: { userInfo: { username: string; groups: string[] } } }>(
        {
          method: 'POST',
          path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
          body: review,
        },
      );
      expect(status.userInfo.username).toBe('ada');
      expect(status.userInfo.groups).toContain('kubeadm:cluster-admins');
      await client.connection.close();
    },
    2 * minutes,
  );

  test(
    'prints a command with which a worker joins',
    async () => {
      await cluster.client.merge(stage.tenant(shop), { spec: { kubernetes: { kubelet: machineKubelet } } });
      await stage.waitFor(shop, 'Ready');
      const line = (await plugin('join', shop)).trim();
      expect(line).toMatch(/^kubeadm join \S+ --token \S+ --discovery-token-ca-cert-hash sha256:[0-9a-f]{64}/);
      const worker = owned.use(await startWorker({ harness: cluster.harness, name: 'by-hand', kubernetes: 'v1.35.4' }));
      const words = [...line.split(' '), '--ignore-preflight-errors=all'];
      await worker.machine.exec(words, { timeoutMs: 2 * minutes });
      const tenant = await stage.open(shop);
      const node = { apiVersion: 'v1', kind: 'Node', name: 'by-hand' };
      await tenant.waitFor(node, (object) => object !== undefined, { what: 'the node' });
    },
    5 * minutes,
  );

  test(
    'explains why new pods of a control plane do not start, with the remedy',
    async () => {
      const change = (nodeSelector: object | null): Promise<unknown> =>
        cluster.client.merge(stage.tenant(shop), { spec: { controlPlane: { deployment: { nodeSelector } } } });
      await change({ absent: 'true' });
      let text = '';
      for (const deadline = deadlineIn(minutes); !text.includes('Cause: Unschedulable') && Date.now() < deadline;)
        text = await plugin('explain', shop);
      expect(text).toContain('TenantControlPlane by-plugin/shop');
      expect(text).toMatch(/Cause: Unschedulable .*Pod shop-/);
      expect(text).toContain('Give the pods a node');
      await change(null);
      await stage.waitFor(shop, 'Ready');
    },
    3 * minutes,
  );

  test(
    'plans an upgrade, does it, and shows its progress',
    async () => {
      const manifest = path.join(folder, 'shop.yaml');
      const yaml = ['get', 'tcp', shop, '-n', namespace, '-o', 'yaml'];
      const { stdout } = await cluster.kubectl(yaml);
      await writeFile(manifest, stdout.replace('version: v1.35.4', 'version: v1.36.3'));
      const plan = await plugin('plan', '-f', manifest);
      expect(plan).toContain('Version: v1.35.4 → v1.36.3');
      // The checks before it run again after a minute if the API server does not answer in time.
      await runCommand(...commandOf(['upgrade', shop, 'v1.36.3']), { timeoutMs: 3 * minutes });
      expect(await plugin('get', shop)).toMatch(/^shop +v1\.36\.3 +2\/2 .* True +Ready/m);
    },
    6 * minutes,
  );

  test(
    'rotates certificates, puts the control plane to sleep, and wakes it',
    async () => {
      await plugin('rotate', shop, 'api-server');
      await plugin('sleep', shop);
      expect(await plugin('get', shop)).toMatch(/^shop +v1\.36\.3 +0\/0 /m);
      // The command ends as soon as one of the two pods serves.
      await plugin('wake', shop);
      await stage.waitFor(shop, (tenant) => conditionOf(tenant, 'Ready')?.reason === 'Ready');
      expect(await plugin('get', shop)).toMatch(/^shop +v1\.36\.3 +2\/2 .* True +Ready/m);
    },
    4 * minutes,
  );

  test(
    'shows a control plane that falls asleep and wakes up by its schedule, with the replicas of its spec',
    async () => {
      const file = await stage.kubeconfigFile(shop);
      const nodes = [
        '--kubeconfig',
        file,
        'get',
        'nodes',
        '--output',
        'name',
        `--request-timeout=${Math.ceil(5 * slowness())}s`,
      ];
      // Schedules have minutes: it sleeps since one that has passed, until the next one that is far enough away.
      const wakesAt = Math.ceil((Date.now() + 40_000 * slowness()) / minutes) * minutes;
      const daily = (time: number): string => `${new Date(time).getUTCMinutes()} ${new Date(time).getUTCHours()} * * *`;
      const schedules = [{ sleep: daily(wakesAt - 3 * minutes), wake: daily(wakesAt) }];
      const answers = (): Promise<boolean> =>
        cluster.kubectl(nodes).then(
          ({ stdout }) => stdout.includes('node/by-hand'),
          () => false,
        );
      expect(await answers()).toBe(true);
      await cluster.client.merge(stage.tenant(shop), { spec: { sleep: { schedules } } });
      await stage.waitFor(shop, isCondition('Asleep', 'True', 'Scheduled'));
      expect(await plugin('get', shop)).toMatch(/^shop +v1\.36\.3 +\d\/0 .* Sleeping/m);
      let isSilent = false;
      for (const deadline = deadlineIn(minutes / 2); !isSilent && Date.now() < deadline;) isSilent = !(await answers());
      expect(isSilent).toBe(true);
      const { spec } = (await cluster.client.read(stage.tenant(shop))) ?? {};
      expect(spec).toMatchObject({ controlPlane: { deployment: { replicas: 2 } } });
      const isAwake = (object: PlainObject | undefined): boolean => conditionOf(object, 'Ready')?.reason === 'Ready';
      await stage.waitFor(shop, isAwake, { timeoutMs: 3 * minutes });
      logStep('awake', `${Math.round((Date.now() - wakesAt) / 1000)} s after the time in its schedule`);
      let isBack = false;
      for (const deadline = deadlineIn(minutes); !isBack && Date.now() < deadline;) isBack = await answers();
      expect(isBack).toBe(true);
      await cluster.client.merge(stage.tenant(shop), { spec: { sleep: null } });
      await stage.waitFor(shop, isCondition('Asleep', 'False', 'NotRequested'));
    },
    6 * minutes,
  );

  test(
    'writes a support bundle without a key, and exits with 3 for what does not exist',
    async () => {
      const archive = path.join(folder, 'bundle.tar.gz');
      await plugin('support-bundle', shop, '--file', archive);
      const { stdout } = await runCommand('tar', ['-xzOf', archive]);
      expect(stdout).toContain('TenantControlPlane');
      expect(stdout).not.toContain('PRIVATE KEY');
      expect((await tryCommand(...commandOf(['get', 'nobody']))).code).toBe(3);
    },
    2 * minutes,
  );
});
