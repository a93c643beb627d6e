import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { KubernetesClient } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import type { Machine } from '../cluster/machines/machine.ts';
import type { Worker } from '../cluster/worker.ts';
import { confidentialTexts, findTexts } from '../framework/attacks/confidential-texts.ts';
import { giveControlPlaneImages } from '../framework/control-plane-images.ts';
import { dumpObjects } from '../framework/dump-objects.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { joinSecondNode } from '../framework/workers/second-node.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import type { StewardCluster } from '../framework/steward-cluster.ts';
import { logStep } from '../framework/log.ts';
import { TenantStage, versionAt } from '../framework/tenant-stage.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { minutes } from '../framework/minutes.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';

const owned = scenarioResources();
/** The newest patch of the oldest minor that is supported. */
const oldest = 'v1.29.15';
const fixture = path.join(import.meta.dirname, '..', 'fixtures', 'documented-tenant.yaml');
const agnhost = 'registry.k8s.io/e2e-test-images/agnhost:2.45';

let steward: StewardCluster | undefined;
let cluster: ManagementCluster;
let stage: TenantStage;
let worker: Worker | undefined;
let client: KubernetesClient;

beforeAll(async () => {
  steward = owned.use(await shareStewardCluster(owned.harness(`oldest-${process.pid}`), logStep));
  cluster = steward.cluster;
  owned.defer(async () => worker?.stop());
  stage = new TenantStage(cluster, 'tenants');
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } }]);
  // What the manifest requests does not fit on one machine of two cores.
  const second = await joinSecondNode(cluster, 'second');
  for (const machine of [cluster.machine, second.machine]) await giveImages(machine);
}, 25 * minutes);

/** The control plane's images of the oldest minor, also with the tag in the manifest. */
async function giveImages(machine: Machine): Promise<void> {
  for (const name of await giveControlPlaneImages(machine, oldest))
    await machine.exec(['ctr', '-n', 'k8s.io', 'images', 'tag', name, name.replace(/:.*$/, ':v1.29.0')]);
}

/** Files that a machine has written, by path: settings, state of the kubelet, logs; what images consist of is left out. */
async function filesOf(machine: Machine): Promise<ReadonlyMap<string, string>> {
  const script =
    'find /etc/kubernetes /etc/cni /var/lib/kubelet /var/log /run /root /home /tmp /etc/kubeadm-join.yaml -xdev -type f -size -4M -readable 2>/dev/null';
  const { stdout } = await machine.tryExec(['sh', '-c', script]);
  const files = new Map<string, string>();
  for (const file of stdout.split('\n').filter((line) => line !== '')) {
    const { code, stdout: content } = await machine.tryExec(['cat', file]);
    if (code === 0) files.set(file, content);
  }
  return files;
}

describe('The oldest minor', () => {
  test(
    'runs with a manifest of the Go Steward, unchanged',
    async () => {
      await cluster.kubectl(['apply', '-f', '-'], { input: await readFile(fixture, 'utf8') });
      const { controlPlaneEndpoint = '' } = await stage.waitFor('tenant-1', 'Ready', { timeoutMs: 5 * minutes });
      const ca = (await stage.secret('tenant-1-ca'))['ca.crt'] ?? '';
      expect(await versionAt(controlPlaneEndpoint, ca)).toBe(oldest);
      const found = await cluster.client.read(stage.tenant('tenant-1'));
      const { admissionControllers } = found?.spec?.kubernetes as { readonly admissionControllers: unknown };
      expect(admissionControllers).toEqual(
        expect.arrayContaining(['CertificateApproval', 'ValidatingAdmissionWebhook']),
      );
      const deployment = await cluster.waitFor(
        stage.at('Deployment', 'tenant-1', 'apps/v1'),
        (object) => object?.status?.availableReplicas === 2,
        { timeoutMs: 3 * minutes },
      );
      const { containers } = (deployment?.spec?.template as { spec: { containers: { resources: unknown }[] } }).spec;
      for (const { resources } of containers) {
        expect(resources).toEqual({
          limits: { cpu: '500m', memory: '512Mi' },
          requests: { cpu: '250m', memory: '256Mi' },
        });
      }
      await cluster.kubectl(['-n', 'tenants', 'delete', 'tcp', 'tenant-1', kubectlTimeout(120)], {
        timeoutMs: 130_000,
      });
    },
    10 * minutes,
  );

  test(
    'has a worker of its own minor, on which pods run and names resolve',
    async () => {
      await cluster.apply([
        stage.manifest('old', {
          controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } },
          kubernetes: { version: oldest, kubelet: machineKubelet },
          networkProfile: { serviceCidr: cluster.network.services, podCidr: cluster.network.pods },
          addons: { coreDNS: {}, kubeProxy: {}, konnectivity: {} },
        }),
      ]);
      const { controlPlaneEndpoint = '' } = await stage.waitFor('old', 'Ready');
      client = await stage.open('old');
      const joined = await joinByHand(stage, {
        tenant: 'old',
        endpoint: controlPlaneEndpoint,
        worker: 'old-worker',
        kubernetes: oldest,
      });
      worker = joined;
      const diagnose = (): Promise<string> => joined.machine.lastWords();
      const dns = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kube-system', name: 'coredns' };
      await client.waitFor(dns, 'Available', { timeoutMs: 2 * minutes, diagnose });
      await client.apply([
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'asks', namespace: 'default' },
          spec: {
            restartPolicy: 'OnFailure',
            containers: [
              {
                name: 'asks',
                image: agnhost,
                imagePullPolicy: 'IfNotPresent',
                command: ['/agnhost', 'connect', 'kubernetes.default.svc.cluster.local:443', '--timeout=5s'],
              },
            ],
          },
        },
      ]);
      await client.waitFor(
        { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'asks' },
        (object) => object?.status?.phase === 'Succeeded',
        { timeoutMs: 2 * minutes, diagnose },
      );
    },
    8 * minutes,
  );
});

describe('A worker outside the management cluster', () => {
  test(
    'has no key, password, name or address of the management cluster, except the endpoint',
    async () => {
      if (worker === undefined) throw new Error('no worker has joined');
      const objects = await dumpObjects(client);
      const files = await filesOf(worker.machine);
      const documents = new Map([...objects, ...files]);
      const secrets = await confidentialTexts(cluster.client, ['tenants', 'steward-system']);
      expect(secrets.length).toBeGreaterThan(10);
      const service = await cluster.client.read(stage.at('Service', 'old'));
      const names = [
        'steward-system',
        'tenants',
        'steward-controller-manager',
        'etcd.steward-system',
        // The node's own name is an ordinary word.
        `//${cluster.address}:6443`,
        String(service?.spec?.clusterIP),
      ].map((text) => ({ from: `the name ${text}`, text }));
      logStep('searched', `${objects.size} objects and ${files.size} files for ${secrets.length + names.length} texts`);
      expect(files.size).toBeGreaterThan(20);
      expect(findTexts(documents, [...secrets, ...names])).toEqual([]);
    },
    4 * minutes,
  );

  test(
    'runs kubelet, runtime, pods and the enabled add-ons, and nothing else',
    async () => {
      if (worker === undefined) throw new Error('no worker has joined');
      const commands = new Set((await worker.machine.processes()).map(({ command }) => command));
      const known = [
        ...['kubelet', 'containerd', 'containerd-shim', 'pause', 'runc', 'ctr'],
        // The machine's own init, which no Kubernetes has started.
        ...['unshare', 'bash', 'sleep'],
        ...['kube-proxy', 'coredns', 'proxy-agent'],
      ];
      logStep('processes of the worker', [...commands].toSorted().join(', '));
      expect([...commands].filter((command) => !known.includes(command))).toEqual([]);
      const pods = await client.list('v1', 'Pod', 'kube-system');
      const owners = new Set(pods.map(({ metadata }) => metadata?.labels?.['k8s-app']));
      expect([...owners].toSorted()).toEqual(['konnectivity-agent', 'kube-dns', 'kube-proxy']);
    },
    2 * minutes,
  );
});
