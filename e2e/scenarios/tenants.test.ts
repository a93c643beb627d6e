import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { parseManifests } from '../cluster/kubernetes-client.ts';
import type { PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { runCommand } from '../cluster/machines/run-command.ts';
import { untilReached } from '../framework/network/until-reached.ts';
import { podProcesses } from '../framework/pod-processes.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import type { StewardCluster } from '../framework/steward-cluster.ts';
import { logStep } from '../framework/log.ts';
import { conditionOf, documentAt, isCondition, TenantStage, versionAt } from '../framework/tenant-stage.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { agnhost, webPod } from '../framework/web-pod.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { minutes } from '../framework/minutes.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';

const owned = scenarioResources();
const root = path.join(import.meta.dirname, '..', '..');
const manifests = path.join(root, 'e2e', 'fixtures', 'user-manifests');
const sample = 'config/samples/steward_v1alpha1_tenantcontrolplane.yaml';

let steward: StewardCluster;
let cluster: ManagementCluster;
let inDefault: TenantStage;
let stage: TenantStage;

beforeAll(async () => {
  steward = owned.use(await shareStewardCluster(owned.harness(`tenants-${process.pid}`), logStep));
  cluster = steward.cluster;
  inDefault = new TenantStage(cluster, 'default');
  stage = new TenantStage(cluster, 'tenants');
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } }]);
}, 20 * minutes);

const kubectl = async (args: readonly string[]): Promise<string> => (await cluster.kubectl(args)).stdout;

/** kubectl with a tenant's kubeconfig, where the names of the management cluster's Services resolve. */
async function tenantKubectl(of: TenantStage, tenant: string, key: string, args: readonly string[]): Promise<string> {
  const file = await of.kubeconfigFile(tenant, key);
  const binary = path.join(cluster.harness.folder, 'bin', cluster.machine.record.kubernetes, 'kubectl');
  const [command = '', ...rest] = await cluster.withClusterDns([binary, '--kubeconfig', file, ...args]);
  return (await runCommand(command, rest)).stdout;
}

interface SeenContainer {
  readonly name: string;
  readonly image: string;
  readonly resources?: unknown;
}

/** Twice the same flag, in this order. */
const origins = ['--cors-allowed-origins=//b\\.example\\.com$', '--cors-allowed-origins=//a\\.example\\.com$'];

/** Many of the fields for the pods of a control plane. */
const dressed = {
  controlPlane: {
    service: { serviceType: 'ClusterIP', internalTrafficPolicy: 'Cluster', ipFamilyPolicy: 'SingleStack' },
    deployment: {
      replicas: 1,
      podSecurityContext: { fsGroup: 2000 },
      containerSecurityContexts: { apiServer: { runAsUser: 1234 } },
      registrySettings: { registry: 'registry.example.com/mirror', tagSuffix: '-ours' },
      priorityClassName: 'tenants',
      podAdditionalMetadata: { labels: { team: 'blue' }, annotations: { 'example.com/cost': 'low' } },
      extraArgs: { apiServer: origins },
      probes: { apiServer: { liveness: { periodSeconds: 7 } } },
      resources: {
        requests: { cpu: '10m', memory: '20Mi' },
        limits: { memory: '256Mi' },
        apiServer: { requests: { cpu: '60m' } },
      },
      additionalContainers: [{ name: 'witness', image: agnhost, args: ['pause'] }],
      additionalVolumes: [{ name: 'shared', emptyDir: {} }],
      additionalVolumeMounts: { apiServer: [{ name: 'shared', mountPath: '/shared' }] },
    },
  },
  kubernetes: {
    version: 'v1.36.3',
    kubelet: { cgroupfs: 'cgroupfs' },
    admissionControllers: ['LimitRanger', 'NodeRestriction'],
    eventTTL: '2h',
    requestLimits: { inFlight: 300, mutatingInFlight: 100 },
    serviceAccountIssuer: { url: 'https://tokens.example.com/dressed', publicDiscovery: true },
  },
};

/** The process of the one API server of a tenant. */
async function apiServerOf(tenant: string): Promise<number> {
  const [pod] = await stage.pods(tenant);
  const processes = await podProcesses(cluster, pod?.metadata?.uid ?? '');
  return processes.find(({ command }) => command === 'kube-apiserver')?.pid ?? 0;
}

/** The flags that it runs with. */
const flagsOf = async (tenant: string): Promise<readonly string[]> =>
  (await readFile(`/proc/${await apiServerOf(tenant)}/cmdline`, 'utf8')).split('\0');

describe('TenantControlPlanes', () => {
  test(
    'of every type of Service become Ready in parallel, and answer at the endpoint in their status',
    async () => {
      const began = performance.now();
      await cluster.apply(await readFile(path.join(root, sample), 'utf8'));
      await cluster.apply([
        stage.manifest('inside', { kubernetes: { version: '1.36.3', kubelet: { cgroupfs: 'systemd' } } }),
        stage.manifest('outside', {
          controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } },
          kubernetes: { version: 'v1.36.3', kubelet: machineKubelet },
          networkProfile: { serviceCidr: cluster.network.services, podCidr: cluster.network.pods },
          addons: { coreDNS: {}, kubeProxy: {} },
        }),
      ]);
      const tenants = [
        [inDefault, 'tenant-00'],
        [stage, 'inside'],
        [stage, 'outside'],
      ] as const;
      await Promise.all(
        tenants.map(async ([of, name]) => {
          const { controlPlaneEndpoint = '', conditions = [] } = await of.waitFor(name, 'Ready');
          const ca = (await of.secret(`${name}-ca`))['ca.crt'] ?? '';
          expect(await versionAt(controlPlaneEndpoint, ca)).toBe('v1.36.3');
          logStep(
            `${name} is Ready`,
            `after ${((performance.now() - began) / 1000).toFixed(1)} s at ${controlPlaneEndpoint}`,
          );
          expect(conditions.filter(({ status }) => status !== 'True')).toEqual([]);
        }),
      );
      expect(await inDefault.pods('tenant-00')).toHaveLength(2);
    },
    5 * minutes,
  );

  test(
    'use the assigned node port also inside their pods and in their own Service kubernetes',
    async () => {
      const { controlPlaneEndpoint = '' } = await stage.waitFor('outside', 'Ready');
      const service = await cluster.client.read(stage.at('Service', 'outside'));
      const [port] = (service?.spec?.ports ?? []) as { port: number; targetPort: number; nodePort: number }[];
      expect(port?.nodePort).toBeGreaterThanOrEqual(30000);
      expect([port?.port, port?.targetPort]).toEqual([port?.nodePort, port?.nodePort]);
      expect(controlPlaneEndpoint).toBe(`${cluster.address}:${port?.nodePort}`);
      const tenant = await stage.open('outside');
      const [slice] = (await tenant.list('discovery.k8s.io/v1', 'EndpointSlice', 'default')) as (PlainObject & {
        endpoints?: { addresses: string[] }[];
        ports?: { port: number }[];
      })[];
      expect(slice?.endpoints?.[0]?.addresses).toEqual([cluster.address]);
      expect(slice?.ports?.[0]?.port).toBe(port?.nodePort);
    },
    minutes,
  );

  test(
    'give administrators kubeconfigs that work outside and inside the management cluster',
    async () => {
      const groups = { 'admin.conf': 'kubeadm:cluster-admins', 'super-admin.conf': 'system:masters' };
      for (const [key, group] of Object.entries(groups)) {
        for (const file of [key, key.replace('.conf', '.svc')]) {
          const whoami = ['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.groups}'];
          expect(await tenantKubectl(inDefault, 'tenant-00', file, whoami)).toContain(group);
          expect(await tenantKubectl(inDefault, 'tenant-00', file, ['auth', 'can-i', '*', '*'])).toMatch(/^yes/);
          const name = ['config', 'view', '--minify', '-o', 'jsonpath={.clusters[0].cluster.server}'];
          logStep(file, `works at ${await tenantKubectl(inDefault, 'tenant-00', file, name)}`);
        }
      }
    },
    minutes,
  );

  test('show the important fields in the columns of kubectl', async () => {
    const [head = '', line = ''] = (await kubectl(['get', 'tcp', 'tenant-00'])).split('\n');
    for (const column of [
      'VERSION',
      'INSTALLED VERSION',
      'STATUS',
      'CONTROL-PLANE ENDPOINT',
      'KUBECONFIG',
      'DATASTORE',
      'AGE',
    ])
      expect(head).toContain(column);
    expect(line).toMatch(
      /^tenant-00 +v1\.36\.3 +v1\.36\.3 +Ready +[\d.]+:6443 +tenant-00-admin-kubeconfig +default +\S+/,
    );
  });

  test('write image tags as vX.Y.Z, however the version was given, and pull only absent images', async () => {
    const [pod] = await stage.pods('inside');
    const containers = pod?.spec?.containers as { image: string; imagePullPolicy: string; name: string }[];
    expect(containers.map(({ image }) => image).sort()).toEqual(
      ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map((name) => `registry.k8s.io/${name}:v1.36.3`),
    );
    expect(new Set(containers.map(({ imagePullPolicy }) => imagePullPolicy))).toEqual(new Set(['IfNotPresent']));
  });

  test(
    'run without root, without a service-account token, on read-only file systems, with the CA key in one container only',
    async () => {
      const [pod] = await stage.pods('inside');
      const seen = await Promise.all(
        (await podProcesses(cluster, pod?.metadata?.uid ?? '')).map(async ({ pid, command }) => {
          const inside = (file: string): Promise<boolean> => exists(`/proc/${pid}/root${file}`);
          const [mounts, status] = await Promise.all(
            ['mountinfo', 'status'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')),
          );
          return {
            command,
            root: /^Uid:\s+0\b/m.test(status ?? ''),
            readOnly: / \/ \/ ro[, ]/.test(mounts ?? '') || /^\d+ \d+ \S+ \S+ \/ ro\b/m.test(mounts ?? ''),
            token: await inside('/var/run/secrets/kubernetes.io'),
            caKey: await inside('/etc/kubernetes/pki/ca.key'),
          };
        }),
      );
      const facts = { root: false, readOnly: true, token: false };
      expect(seen.sort((a, b) => (a.command < b.command ? -1 : 1))).toEqual([
        { command: 'kube-apiserver', ...facts, caKey: false },
        { command: 'kube-controller', ...facts, caKey: true },
        { command: 'kube-scheduler', ...facts, caKey: false },
      ]);
    },
    minutes,
  );

  test(
    'have in their running pods what spec.controlPlane.deployment contains, and lose a flag that is removed from it',
    async () => {
      const priority = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'tenants' } };
      await cluster.apply([{ ...priority, value: 1000 }]);
      for (const program of ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler']) {
        const image = `registry.k8s.io/${program}:v1.36.3`;
        const mirrored = `registry.example.com/mirror/${program}:v1.36.3-ours`;
        await cluster.machine.exec(['ctr', '-n', 'k8s.io', 'images', 'tag', '--force', image, mirrored]);
      }
      await cluster.apply([stage.manifest('dressed', dressed)]);
      const { controlPlaneEndpoint = '' } = await stage.waitFor('dressed', 'Ready');
      const [pod, ...others] = await stage.pods('dressed');
      expect(others).toEqual([]);
      expect(pod?.metadata).toMatchObject({ labels: { team: 'blue' }, annotations: { 'example.com/cost': 'low' } });
      expect(pod?.spec).toMatchObject({
        priority: 1000,
        automountServiceAccountToken: false,
        securityContext: { fsGroup: 2000 },
        topologySpreadConstraints: [{ topologyKey: 'kubernetes.io/hostname' }],
      });
      const containers = pod?.spec?.containers as readonly SeenContainer[];
      const [apiServer, scheduler, witness] = ['kube-apiserver', 'kube-scheduler', 'witness'].map((name) =>
        containers.find((container) => container.name === name),
      );
      expect(apiServer).toMatchObject({
        image: 'registry.example.com/mirror/kube-apiserver:v1.36.3-ours',
        livenessProbe: { periodSeconds: 7 },
        resources: { requests: { cpu: '60m' } },
        securityContext: {
          runAsUser: 1234,
          runAsNonRoot: true,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
          seccompProfile: { type: 'RuntimeDefault' },
        },
      });
      // The short form is for those that have no resources of their own.
      expect(scheduler?.resources).toEqual({ requests: { cpu: '10m', memory: '20Mi' }, limits: { memory: '256Mi' } });
      expect(witness?.image).toBe(agnhost);
      const read = ['exec', pod?.metadata?.name ?? '', '-c', 'witness', '--', '/agnhost', 'help'];
      expect(await kubectl(['-n', stage.namespace, ...read])).toContain('Available Commands');
      const before = await flagsOf('dressed');
      expect(before.filter((flag) => flag.startsWith('--cors-allowed-origins='))).toEqual(origins);
      expect(before).toContain('--enable-admission-plugins=LimitRanger,NodeRestriction');
      const ca = (await stage.secret('dressed-ca'))['ca.crt'] ?? '';
      expect(await documentAt(controlPlaneEndpoint, ca, '/.well-known/openid-configuration')).toMatchObject({
        issuer: 'https://tokens.example.com/dressed',
        jwks_uri: 'https://tokens.example.com/dressed/openid/v1/jwks',
      });
      expect(await documentAt(controlPlaneEndpoint, ca, '/openid/v1/jwks')).toMatchObject({ keys: [{ use: 'sig' }] });
      expect(await exists(`/proc/${await apiServerOf('dressed')}/root/shared`)).toBe(true);
      for (const args of [
        'tenants networkpolicy/dressed',
        'default networkpolicy/tenant-00 poddisruptionbudget/tenant-00',
      ])
        await kubectl(['get', '-n', ...args.split(' ')]);

      const without = { controlPlane: { deployment: { extraArgs: null, podAdditionalMetadata: null } } };
      await cluster.client.merge(stage.tenant('dressed'), { spec: without });
      await cluster.waitFor(stage.at('Pod', pod?.metadata?.name ?? ''), (object) => object === undefined, {
        what: 'the end of the pod of before',
      });
      expect((await flagsOf('dressed')).filter((flag) => flag.startsWith('--cors-allowed-origins='))).toEqual([]);
      expect((await stage.pods('dressed'))[0]?.metadata?.labels).not.toHaveProperty('team');
    },
    4 * minutes,
  );

  test(
    'get kubeconfigs for the users of a KubeconfigGenerator, which are deleted with it',
    async () => {
      const generator = {
        apiVersion: 'steward.butlerlabs.dev/v1alpha1',
        kind: 'KubeconfigGenerator',
        metadata: { name: 'developers' },
        spec: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'tenants' } },
          user: { fromDefinition: 'metadata.namespace' },
          groups: [{ stringValue: 'developers' }],
          controlPlaneEndpointFrom: 'admin.svc',
        },
      };
      await cluster.apply([generator]);
      const address = { apiVersion: generator.apiVersion, kind: generator.kind, name: 'developers' };
      await cluster.waitFor(address, 'Ready');
      const file = path.join(cluster.harness.folder, 'developers.kubeconfig');
      const { value = '' } = await stage.secret('inside-developers');
      await writeFile(file, value, { mode: 0o600 });
      const binary = path.join(cluster.harness.folder, 'bin', cluster.machine.record.kubernetes, 'kubectl');
      const whoami = [binary, '--kubeconfig', file, 'auth', 'whoami', '-o', 'json'];
      const [command = '', ...rest] = await cluster.withClusterDns(whoami);
      const { stdout } = await runCommand(command, rest);
      const { status } = JSON.parse(stdout) as { status: { userInfo: { username: string; groups: string[] } } };
      expect(status.userInfo).toMatchObject({ username: 'tenants', groups: ['developers', 'system:authenticated'] });
      logStep('the kubeconfig of a generator is of', status.userInfo.username);
      await kubectl(['delete', 'kubeconfiggenerator', 'developers', kubectlTimeout(30)]);
      expect(await cluster.client.read(stage.at('Secret', 'inside-developers'))).toBeUndefined();
    },
    minutes,
  );

  test(
    'sleep when kubectl scales them to 0, and come back',
    async () => {
      await kubectl(['-n', 'tenants', 'scale', 'tcp/inside', '--replicas=0']);
      const isState = (state: string) => (object: PlainObject | undefined) =>
        (object?.status as { kubernetesResources?: { version?: { status?: string } } } | undefined)?.kubernetesResources
          ?.version?.status === state;
      await stage.waitFor('inside', isState('Sleeping'));
      await stage.waitFor('inside', isCondition('Ready', 'False', 'Sleeping'));
      await cluster.waitFor(
        stage.at('Deployment', 'inside', 'apps/v1'),
        (object) => object?.spec?.replicas === 0 && object.status?.replicas === undefined,
      );
      await kubectl(['-n', 'tenants', 'scale', 'tcp/inside', '--current-replicas=0', '--replicas=1']);
      const began = performance.now();
      await stage.waitFor('inside', 'Ready');
      await stage.waitFor('inside', isState('Ready'));
      logStep('a tenant woke up', `after ${((performance.now() - began) / 1000).toFixed(1)} s`);
    },
    3 * minutes,
  );

  test(
    'report in conditions and Events what they wait for, and continue as soon as it exists',
    async () => {
      await cluster.apply([
        stage.manifest('by-hand', {
          controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'LoadBalancer' } },
          networkProfile: { loadBalancerClass: 'example.com/by-hand' },
        }),
      ]);
      await stage.waitFor('by-hand', isCondition('EndpointReady', 'False', 'NotExposed'));
      await stage.waitFor('by-hand', isCondition('Ready', 'False', 'Provisioning'));
      const waiting = await cluster.client.read(stage.tenant('by-hand'));
      expect(conditionOf(waiting, 'EndpointReady')?.message).toMatch(/load balancer of Service by-hand has no address/);
      expect(conditionOf(waiting, 'Ready')?.message).toMatch(/no address/);
      expect(conditionOf(waiting, 'CertificatesReady')).toMatchObject({ status: 'Unknown', reason: 'Blocked' });
      logStep('waiting:', conditionOf(waiting, 'Ready')?.message);

      const address = cluster.network.loadBalancers.replace(/\.0\/\d+$/, '.200');
      const status = { loadBalancer: { ingress: [{ ip: address, ipMode: 'VIP' }] } };
      await cluster.client.merge(stage.at('Service', 'by-hand'), { status }, 'status');
      expect((await stage.waitFor('by-hand', 'Ready')).controlPlaneEndpoint).toBe(`${address}:6443`);
      const told = (): Promise<boolean> =>
        stage.events('by-hand').then((notes) => {
          const has = (pattern: RegExp): boolean => notes.some((note) => pattern.test(note));
          return has(/^NotExposed: .*no address/) && has(/^Ready: /);
        });
      const deadline = deadlineIn(minutes / 6);
      while (!(await told())) {
        if (Date.now() > deadline) throw new Error(`Events: ${(await stage.events('by-hand')).join(' | ')}`);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      logStep('told:', (await stage.events('by-hand')).join(' | '));
    },
    3 * minutes,
  );

  test(
    'accept a worker that joins by kubeadm, even with the same networks as the management cluster',
    async () => {
      const { controlPlaneEndpoint = '' } = await stage.waitFor('outside', 'Ready');
      const began = performance.now();
      const worker = await joinByHand(stage, { tenant: 'outside', endpoint: controlPlaneEndpoint, worker: 'by-hand' });
      logStep('a worker is Ready', `after ${((performance.now() - began) / 1000).toFixed(1)} s`);
      const tenant = await stage.open('outside');
      const diagnose = async (): Promise<string> =>
        `${await tenantKubectl(stage, 'outside', 'admin.conf', ['get', 'pods,events', '-A'])}\n${await worker.machine.lastWords()}`;
      await tenant.waitFor(
        { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kube-system', name: 'coredns' },
        ({ spec, status } = {}) => status?.readyReplicas === spec?.replicas,
        { timeoutMs: 120_000, diagnose },
      );
      logStep('CoreDNS of the tenant is Ready');
      await tenant.apply([webPod('web')]);
      await tenant.waitFor({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web' }, 'Ready', {
        timeoutMs: 120_000,
        diagnose,
      });
      expect(await tenantKubectl(stage, 'outside', 'admin.conf', ['logs', 'web'])).toContain('Started HTTP server');
      // The name needs CoreDNS, the Service kube-proxy, and its only endpoint is the advertised address.
      const connect = ['exec', 'web', '--', '/agnhost', 'connect', 'kubernetes.default.svc.cluster.local:443'];
      await untilReached(() => tenantKubectl(stage, 'outside', 'admin.conf', [...connect, '--timeout=5s']));
      await worker.stop();
    },
    5 * minutes,
  );

  test(
    'and DataStores of all drivers are accepted from manifests of the Go Steward',
    async () => {
      const files = (await readdir(manifests)).map((name) => path.join(manifests, name));
      expect(files).toHaveLength(5);
      for (const file of files) {
        const objects = parseManifests(await readFile(file, 'utf8'));
        for (const namespace of objects.flatMap(({ metadata }) => metadata?.namespace ?? []))
          await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
        const apply = ['apply', '--dry-run=server', '-f', file];
        logStep('plain', (await kubectl(apply)).trim());
        // By now the DataStore `default` exists and has another owner.
        logStep('server-side', (await kubectl([...apply, '--server-side', '--force-conflicts'])).trim());
      }
      const [tenant] = parseManifests(await readFile(path.join(manifests, 'tenantcontrolplane-tenant-1.yaml'), 'utf8'));
      const input = JSON.stringify(tenant);
      const { stdout } = await cluster.kubectl(['apply', '--dry-run=server', '-o', 'json', '-f', '-'], { input });
      const { spec } = JSON.parse(stdout) as { spec: { kubernetes: { admissionControllers: unknown } } };
      expect(spec.kubernetes.admissionControllers).toContain('ValidatingAdmissionWebhook');
      expect(spec.kubernetes.admissionControllers).toHaveLength(17);
    },
    minutes,
  );

  test(
    'leave nothing in their namespace when they are deleted',
    async () => {
      const began = performance.now();
      await kubectl(['-n', 'tenants', 'delete', 'tcp', '--all', kubectlTimeout(90)]);
      await kubectl(['delete', 'tcp', 'tenant-00', kubectlTimeout(90)]);
      logStep('all are deleted', `after ${((performance.now() - began) / 1000).toFixed(1)} s`);
      for (const namespace of ['tenants', 'default']) {
        const kinds = 'deployments,replicasets,pods,services,secrets,configmaps';
        const label = 'steward.butlerlabs.dev/name';
        const left = async (): Promise<string> => kubectl(['-n', namespace, 'get', kinds, '-l', label, '-o', 'name']);
        const deadline = deadlineIn(minutes / 2);
        while ((await left()) !== '') {
          if (Date.now() > deadline) throw new Error(`left in ${namespace}: ${await left()}`);
        }
      }
    },
    4 * minutes,
  );
});

function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
