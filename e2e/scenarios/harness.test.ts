import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { PlainObject } from '../cluster/kubernetes-client.ts';
import { startManagementCluster } from '../cluster/management-cluster.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { runPodNetwork } from '../cluster/network/pod-network.ts';
import { abandonedHarnesses, leftovers } from '../cluster/remove-harness.ts';
import { fullSyncs, serviceRules, wantedRules } from '../cluster/network/service-rules.ts';
import { startWorker } from '../cluster/worker.ts';
import { logStep } from '../framework/log.ts';
import { untilReached } from '../framework/network/until-reached.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { webPod } from '../framework/web-pod.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { minutes } from '../framework/minutes.ts';

const owned = scenarioResources();
const main = path.join(import.meta.dirname, '../cluster/main.ts');

const pod = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name });
const node = (name: string) => ({ apiVersion: 'v1', kind: 'Node', name });

describe('A management cluster', () => {
  const name = owned.harness(`harness-${process.pid}`);
  let cluster: ManagementCluster;

  beforeAll(async () => {
    cluster = owned.use(await startManagementCluster({ name, progress: logStep }));
  }, 20 * minutes);

  test('has a Ready node that kubectl sees', async () => {
    const { stdout } = await cluster.kubectl(['get', 'nodes', '--no-headers']);
    expect(stdout).toMatch(/^management +Ready +control-plane /);
    expect(await leftovers(name)).toContain(`link ${cluster.network.bridge}`);
  });

  test(
    'runs a pod, shows its logs, runs commands in it and gives its Service an address that answers',
    async () => {
      const ports = [{ port: 80, targetPort: 8080 }];
      const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'default' } };
      await cluster.apply([
        webPod('web'),
        { ...service, spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports } },
      ]);
      await cluster.waitFor(pod('web'), 'Ready');
      expect((await cluster.kubectl(['logs', 'web'])).stdout).toContain('Started HTTP server on port 8080');
      expect((await cluster.kubectl(['exec', 'web', '--', '/agnhost', '--version'])).stdout).toContain('version');

      const addressOf = (object: PlainObject | undefined): string | undefined =>
        (object?.status as { loadBalancer?: { ingress?: { ip?: string }[] } } | undefined)?.loadBalancer?.ingress?.[0]
          ?.ip;
      const found = await cluster.waitFor(
        { ...service, namespace: 'default', name: 'web' },
        (object) => addressOf(object) !== undefined,
      );
      const address = addressOf(found) ?? '';
      const clusterIp = String(found?.spec?.clusterIP);
      for (const host of [address, clusterIp]) {
        const answer = await untilReached(() =>
          fetch(`http://${host}/hostname`, { signal: AbortSignal.timeout(10_000) }),
        );
        expect(await answer.text()).toBe('web');
      }
      logStep('a LoadBalancer Service answers at', address);
    },
    2 * minutes,
  );

  test(
    'has the rules of all its Services after kube-proxy has written all of them again, as it does every hour',
    async () => {
      const before = await fullSyncs(cluster.machine);
      // It begins with the zone of its node, which takes no hour.
      await cluster.client.merge(node('management'), {
        metadata: { labels: { 'topology.kubernetes.io/zone': 'another' } },
      });
      const deadline = deadlineIn(minutes / 2);
      while ((await fullSyncs(cluster.machine)) === before)
        if (Date.now() > deadline) throw new Error('kube-proxy did not write all of its rules again in 30 s.');
      const wanted = wantedRules(await cluster.client.list('v1', 'Service'));
      expect(wanted).toContain(`${cluster.network.services.replace(/\.0\/\d+$/, '.1')} tcp 443`);
      expect([...(await serviceRules(cluster.machine))].toSorted()).toEqual([...wanted].toSorted());
    },
    minutes,
  );

  test(
    'binds a claim of the default class to a volume',
    async () => {
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
      const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
      await cluster.apply([{ ...claim, metadata: { name: 'data', namespace: 'default' }, spec }]);
      await cluster.waitFor(
        { ...claim, name: 'data', namespace: 'default' },
        (object) => object?.status?.phase === 'Bound',
      );
    },
    minutes,
  );

  test(
    'accepts a worker by its bootstrap data, whose pods reach pods of the other node',
    async () => {
      const network = runPodNetwork(cluster.client, () => cluster.harness.machines(), {
        signal: cluster.harness.signal,
        onError: (error) => {
          logStep('pod network', String(error));
        },
      });
      network.catch((error: unknown) => {
        logStep('pod network', String(error));
      });
      const { stdout } = await cluster.exec(['kubeadm', 'token', 'create', '--print-join-command']);
      const [, token = ''] = /--token (\S+)/.exec(stdout) ?? [];
      const [, hash = ''] = /--discovery-token-ca-cert-hash (\S+)/.exec(stdout) ?? [];
      const worker = await startWorker({ harness: cluster.harness, name: 'worker-1' });
      const configuration = {
        apiVersion: 'kubeadm.k8s.io/v1beta4',
        kind: 'JoinConfiguration',
        discovery: {
          bootstrapToken: { apiServerEndpoint: `${cluster.address}:6443`, token, caCertHashes: [hash] },
        },
        nodeRegistration: {
          name: '{{ ds.meta_data.local_hostname }}',
          ignorePreflightErrors: ['SystemVerification'],
          kubeletExtraArgs: [{ name: 'node-ip', value: worker.address }],
        },
      };
      const join = 'kubeadm join --config /run/join.yaml && echo success > /run/cluster-api/bootstrap-success.complete';
      const files = [
        { path: '/run/join.yaml', permissions: '0640', content: JSON.stringify(configuration) },
        { path: '/run/cluster-api/placeholder', content: '' },
      ];
      const config = JSON.stringify({ write_files: files, runcmd: [join] });
      await worker.runBootstrapData(`## template: jinja\n#cloud-config\n${config}\n`);
      await cluster.waitFor(node('worker-1'), 'Ready');
      logStep('a worker is', 'Ready');

      await cluster.apply([webPod('far', { nodeName: 'worker-1' })]);
      const far = await cluster.waitFor(pod('far'), 'Ready');
      const connect = ['/agnhost', 'connect', `${String(far?.status?.podIP)}:8080`, '--timeout=5s'];
      await untilReached(() => cluster.kubectl(['exec', 'web', '--', ...connect]));
      await worker.stop();
    },
    3 * minutes,
  );

  test(
    'has its API server back after it was killed',
    async () => {
      await cluster.killApiServer();
      await cluster.waitFor(node('management'), 'Ready');
    },
    2 * minutes,
  );

  test(
    'leaves nothing behind when it is stopped',
    async () => {
      await cluster.stop();
      expect(await leftovers(name)).toEqual([]);
    },
    minutes,
  );
});

describe.each([
  { signal: 'SIGKILL', when: 'kubeadm init' },
  { signal: 'SIGINT', when: 'node: waiting' },
] as const)('a start that gets $signal after it has printed "$when"', ({ signal, when }) => {
  const name = owned.harness(`harness-${signal.toLowerCase()}-${process.pid}`);

  test(
    signal === 'SIGKILL' ? 'is removed by a later reset' : 'removes itself',
    async () => {
      const owner = spawn(process.execPath, [main, 'up', name], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(owner, 'exit');
      owner.stdout.setEncoding('utf8').on('data', (text: string) => {
        if (text.includes(when)) owner.kill(signal);
      });
      await ended;
      const left = await leftovers(name);
      logStep(`after ${signal}:`, `${left.length} things are left`);
      if (signal === 'SIGKILL') {
        expect(left.some((line) => line.startsWith('process'))).toBe(true);
        expect(await abandonedHarnesses()).toContain(name);
        const reset = spawn(process.execPath, [main, 'reset', name], { stdio: 'inherit' });
        expect(await once(reset, 'exit')).toEqual([0, null]);
      }
      expect(await leftovers(name)).toEqual([]);
    },
    3 * minutes,
  );
});
