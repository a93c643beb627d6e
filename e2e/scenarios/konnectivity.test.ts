import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { PlainObject } from '../cluster/kubernetes-client.ts';
import type { KubernetesClient } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { runCommand } from '../cluster/machines/run-command.ts';
import { selfSignedCertificate } from '../cluster/self-signed-certificate.ts';
import type { Worker } from '../cluster/worker.ts';
import { aggregatedApiPath, aggregatedApiService, runAggregatedApi } from '../framework/aggregated-api.ts';
import { foreignEdits, undoneWithin } from '../framework/attacks/drift.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import type { StewardCluster } from '../framework/steward-cluster.ts';
import { logStep } from '../framework/log.ts';
import { TenantStage } from '../framework/tenant-stage.ts';
import { closeKubelet } from '../framework/workers/close-kubelet.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { sampleApiServerArchive } from '../tools/sample-api-server-image.ts';
import { agnhost, webPod } from '../framework/web-pod.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { minutes } from '../framework/minutes.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';

const owned = scenarioResources();
const name = 'tunnelled';
const agents = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'konnectivity-agent' };

let steward: StewardCluster;
let cluster: ManagementCluster;
let stage: TenantStage;
let tenant: KubernetesClient;
let worker: Worker;

beforeAll(async () => {
  // Building may take minutes: here, not inside a test's time limit.
  await sampleApiServerArchive((line) => {
    logStep('images', line);
  });
  steward = owned.use(await shareStewardCluster(owned.harness(`konnectivity-${process.pid}`), logStep));
  cluster = steward.cluster;
  stage = new TenantStage(cluster, 'tunnels');
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tunnels' } }]);
}, 25 * minutes);

/** kubectl as the tenant's administrator. */
async function tenantCommand(args: readonly string[]): Promise<readonly [string, readonly string[]]> {
  const file = await stage.kubeconfigFile(name);
  const binary = path.join(cluster.harness.folder, 'bin', cluster.machine.record.kubernetes, 'kubectl');
  return [binary, ['--kubeconfig', file, ...args]];
}

async function tenantKubectl(...args: readonly string[]): Promise<string> {
  const [binary, all] = await tenantCommand(args);
  return (await runCommand(binary, all, { timeoutMs: 30_000 })).stdout;
}

const diagnose = async (): Promise<string> =>
  `${await tenantKubectl('get', 'pods,events', '-A', '-o', 'wide')}\n${await worker.machine.lastWords()}`;

/** Whether the one pod of a DaemonSet is of its newest template, and Ready. */
const runsOnItsNode = ({ metadata, status }: PlainObject = {}): boolean =>
  status?.observedGeneration === metadata?.generation &&
  status?.updatedNumberScheduled === 1 &&
  status.numberReady === 1;

/** What answers at a port of a pod through `kubectl port-forward`. */
async function forwarded(pod: string, port: number): Promise<string> {
  const [binary, all] = await tenantCommand(['port-forward', pod, `:${port}`]);
  const child = spawn(binary, all, { stdio: ['ignore', 'pipe', 'inherit'], timeout: 30_000 });
  try {
    for await (const line of createInterface(child.stdout)) {
      const local = /^Forwarding from 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      if (local !== undefined) return await (await fetch(`http://127.0.0.1:${local}/`)).text();
    }
    throw new Error('kubectl port-forward ended before it forwarded anything');
  } finally {
    child.kill();
  }
}

/** Whether a program of the management cluster's node can open a connection to the worker's kubelet. */
async function kubeletIsOpen(): Promise<boolean> {
  const dial = `timeout 3 bash -c '</dev/tcp/${worker.address}/10250'`;
  return (await cluster.machine.tryExec(['sh', '-c', dial])).code === 0;
}

const ended: readonly string[] = ['Succeeded', 'Failed'];

const inTenant = async (): Promise<readonly string[]> => {
  const kinds = 'daemonsets,deployments,serviceaccounts,clusterrolebindings';
  const found = await tenantKubectl('get', kinds, '-n', 'kube-system', '-o', 'name');
  return found.split('\n').filter((line) => line.includes('konnectivity'));
};

const inManagement = async (): Promise<readonly string[]> => {
  const args = ['-n', 'tunnels', 'get', 'secrets,configmaps', '-o', 'name'];
  const { stdout } = await cluster.kubectl(args);
  return stdout.split('\n').filter((line) => line.includes('konnectivity'));
};

/** A webhook of the tenant that denies every ConfigMap of the namespace `denied`. */
async function denyingWebhook(): Promise<readonly PlainObject[]> {
  const pair = await selfSignedCertificate(['hook.default.svc']);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const metadata = { name: 'hook', namespace: 'default' };
  const labels = { app: 'hook' };
  const files = '/etc/hook';
  const container = {
    name: 'hook',
    image: agnhost,
    imagePullPolicy: 'IfNotPresent',
    args: ['webhook', '--port=8443', `--tls-cert-file=${files}/tls.crt`, `--tls-private-key-file=${files}/tls.key`],
    readinessProbe: { httpGet: { port: 8443, path: '/readyz', scheme: 'HTTPS' }, periodSeconds: 1 },
    volumeMounts: [{ name: 'files', mountPath: files }],
  };
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata,
      data: { 'tls.crt': base64(pair.certificate), 'tls.key': base64(pair.privateKey) },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, labels },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [container],
        volumes: [{ name: 'files', secret: { secretName: 'hook' } }],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: [{ port: 443, targetPort: 8443 }] },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'hook' },
      webhooks: [
        {
          name: 'hook.example.org',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'denied' } },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
          clientConfig: {
            service: { name: 'hook', namespace: 'default', path: '/always-deny' },
            caBundle: base64(pair.certificate),
          },
        },
      ],
    },
  ] as readonly PlainObject[];
}

describe('konnectivity', () => {
  test(
    'runs its agent on the first worker that joins a new tenant',
    async () => {
      await cluster.apply([
        stage.manifest(name, {
          controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } },
          kubernetes: { version: 'v1.36.3', kubelet: machineKubelet },
          addons: { coreDNS: {}, kubeProxy: {}, konnectivity: { server: { port: 8132 } } },
        }),
      ]);
      const { controlPlaneEndpoint = '' } = await stage.waitFor(name, 'Ready');
      worker = await joinByHand(stage, { tenant: name, endpoint: controlPlaneEndpoint, worker: 'behind-a-wall' });
      tenant = await stage.open(name);
      await tenant.waitFor(agents, runsOnItsNode, { timeoutMs: 120_000, diagnose });
      await tenant.apply([webPod('web')]);
      await tenant.waitFor({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web' }, 'Ready', { diagnose });
    },
    6 * minutes,
  );

  test(
    'carries logs, exec and port-forward to a kubelet that the control plane cannot reach',
    async () => {
      expect(await kubeletIsOpen()).toBe(true);
      await closeKubelet(worker, tenant);
      expect(await kubeletIsOpen()).toBe(false);
      expect(await tenantKubectl('logs', 'web')).toContain('Started HTTP server');
      expect(await tenantKubectl('exec', 'web', '--', '/agnhost', '--version')).toContain('version');
      expect(await forwarded('web', 8080)).toMatch(/^NOW: /);
      logStep('logs, exec and port-forward work', 'with port 10250 closed to the control plane');
    },
    2 * minutes,
  );

  test(
    'carries calls of the API server to a webhook that runs on the worker',
    async () => {
      await tenant.apply(await denyingWebhook());
      await tenant.waitFor({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'hook' }, 'Ready', {
        diagnose,
      });
      await tenant.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'denied' } }]);
      const create = (): Promise<string> =>
        tenantKubectl('-n', 'denied', 'create', 'configmap', 'refused').catch((error: unknown) => String(error));
      const deadline = deadlineIn(minutes / 2);
      let said = await create();
      // kube-proxy of the worker learns of the pod when it is Ready; the Service refuses until then.
      while (said.includes('connection refused') && Date.now() < deadline) said = await create();
      expect(said).toContain('this webhook denies all requests');
      logStep('a webhook in the tenant', 'was asked');
      await tenantKubectl('delete', 'validatingwebhookconfiguration', 'hook');
    },
    2 * minutes,
  );

  test(
    'carries calls of the API server to an API whose server runs on the worker',
    async () => {
      await expect(tenantKubectl('get', '--raw', aggregatedApiPath)).rejects.toThrow('NotFound');
      await runAggregatedApi(tenant, worker);
      const registered = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', name: aggregatedApiService };
      await tenant.waitFor(registered, 'Available', { diagnose });
      const { resources } = JSON.parse(await tenantKubectl('get', '--raw', aggregatedApiPath)) as {
        readonly resources: readonly { readonly name: string }[];
      };
      expect(resources.map((resource) => resource.name)).toContain('flunders');
      const [apiVersion, kind] = [aggregatedApiPath.replace('/apis/', ''), 'Flunder'];
      const flunder = { apiVersion, kind, namespace: 'default', name: 'first' };
      await tenant.apply([{ apiVersion, kind, metadata: { name: 'first', namespace: 'default' } }]);
      expect((await tenant.read(flunder))?.metadata?.uid).toBeDefined();
      logStep('an API of the tenant', 'was asked, and keeps what it was given');
    },
    3 * minutes,
  );

  test(
    'is restored within seconds, like CoreDNS, kube-proxy and the kubeadm objects, when the tenant’s administrator edits and deletes it',
    async () => {
      const coreDns = { ...agents, kind: 'Deployment', name: 'coredns' };
      await tenant.waitFor(coreDns, 'Available', { timeoutMs: 2 * minutes, diagnose });
      await tenantKubectl('-n', 'kube-system', 'scale', 'deployment', 'coredns', '--replicas=3');
      // The administrator cannot read anything while these permissions are missing.
      await undoneWithin(20_000, tenant, foreignEdits, () => stage.diagnose(name));
      // The Deployment was written since, and the number of its pods belongs to the tenant.
      expect((await tenant.read(coreDns))?.spec?.replicas).toBe(3);
      for (const address of [agents, { ...agents, name: 'kube-proxy' }]) {
        await tenant.waitFor(address, runsOnItsNode, { timeoutMs: minutes, diagnose });
      }
      await tenant.waitFor(coreDns, 'Available', { timeoutMs: minutes, diagnose });
      expect(await tenantKubectl('exec', 'web', '--', '/agnhost', '--version')).toContain('version');
    },
    5 * minutes,
  );

  test(
    'is removed on both sides when it is disabled, and the kubelet is out of reach',
    async () => {
      expect(await inTenant()).toHaveLength(3);
      expect(await inManagement()).toHaveLength(3);
      await cluster.client.merge(stage.tenant(name), { spec: { addons: { konnectivity: null } } });
      await stage.waitFor(
        name,
        (object) => {
          const status = object?.status as { addons?: { konnectivity?: { enabled?: boolean } } } | undefined;
          return status?.addons?.konnectivity?.enabled === false;
        },
        { timeoutMs: 180_000, what: 'status.addons.konnectivity.enabled: false' },
      );
      await stage.waitFor(name, 'Ready');
      expect(await inTenant()).toEqual([]);
      for (const object of await inManagement()) {
        await cluster.kubectl(['-n', 'tunnels', 'wait', '--for=delete', object, kubectlTimeout(30)]);
      }
      const service = await cluster.client.read(stage.at('Service', name));
      expect((service?.spec?.ports as { name: string }[]).map((port) => port.name)).toEqual(['kube-apiserver']);
      // A pod that has ended is there until its kubelet has tidied up.
      const living = (await stage.pods(name)).filter(({ status }) => !ended.includes(String(status?.phase)));
      expect(living).toHaveLength(1);
      expect(JSON.stringify(living.map(({ spec }) => spec))).not.toContain('konnectivity');
      const [binary, all] = await tenantCommand(['logs', 'web', '--request-timeout=5s']);
      await expect(runCommand(binary, all, { timeoutMs: 60_000 })).rejects.toThrow();
      await expect(tenantKubectl('get', '--raw', aggregatedApiPath, '--request-timeout=5s')).rejects.toThrow();
      logStep('without the add-on', 'the kubelet and the API on the worker are out of reach again');
    },
    5 * minutes,
  );
});
