import { createHash, randomBytes, X509Certificate } from 'node:crypto';

import { stringify } from 'yaml';

import type { KubernetesClient, PlainObject } from '../../cluster/kubernetes-client.ts';
import { addIpv6 } from '../../cluster/network/links.ts';
import { startWorker } from '../../cluster/worker.ts';
import type { Worker } from '../../cluster/worker.ts';
import type { TenantStage } from '../tenant-stage.ts';

/** kubelet settings that machines of the harness need, as `spec.kubernetes.kubelet` of a tenant gives them. */
export const machineKubelet = {
  cgroupfs: 'cgroupfs',
  preferredAddressTypes: ['InternalIP'],
  configurationJSONPatches: [
    { op: 'add', path: '/failCgroupV1', value: false },
    { op: 'add', path: '/failSwapOn', value: false },
    { op: 'add', path: '/oomScoreAdj', value: 0 },
    { op: 'add', path: '/imageGCHighThresholdPercent', value: 100 },
    {
      op: 'add',
      path: '/evictionHard',
      value: {
        'memory.available': '100Mi',
        'nodefs.available': '0%',
        'nodefs.inodesFree': '0%',
        'imagefs.available': '0%',
      },
    },
  ],
} as const;

/** Lets a worker join a tenant as a person would: a bootstrap token, a JoinConfiguration, `kubeadm join`. */
export async function joinByHand(
  stage: TenantStage,
  to: {
    readonly tenant: string;
    readonly endpoint: string;
    readonly worker: string;
    /** Version of its kubelet and kubeadm. Default: the harness'. */
    readonly kubernetes?: string;
    /** A worker that is up already, with that name. */
    readonly started?: Worker;
    /** Done to the machine before it joins. */
    readonly prepare?: (worker: Worker) => Promise<void>;
    /** Its address of the other IP family, which the machine gets. Default: none. */
    readonly secondAddress?: string;
    /** How its author reaches the tenant, unless by the endpoint's name. */
    readonly open?: () => KubernetesClient;
  },
): Promise<Worker> {
  const client = to.open?.() ?? (await stage.open(to.tenant));
  const token = await createBootstrapToken(client);
  const ca = (await stage.secret(`${to.tenant}-ca`))['ca.crt'] ?? '';
  const { kubernetes } = to;
  const worker = to.started ?? (await startWorker({ harness: stage.cluster.harness, name: to.worker, kubernetes }));
  await to.prepare?.(worker);
  const { init } = worker.machine;
  if (to.secondAddress !== undefined) await addIpv6(to.secondAddress, init);
  const nodeIp = [worker.address, to.secondAddress].filter((address) => address !== undefined).join(',');
  // kubeadm learned v1beta4, where extra arguments are a list, in 1.31.
  const isOld = Number(worker.machine.record.kubernetes.split('.')[1]) < 31;
  await worker.join(
    stringify({
      apiVersion: isOld ? 'kubeadm.k8s.io/v1beta3' : 'kubeadm.k8s.io/v1beta4',
      kind: 'JoinConfiguration',
      discovery: { bootstrapToken: { apiServerEndpoint: to.endpoint, token, caCertHashes: [publicKeyHash(ca)] } },
      nodeRegistration: {
        name: to.worker,
        criSocket: 'unix:///run/containerd/containerd.sock',
        kubeletExtraArgs: isOld ? { 'node-ip': nodeIp } : [{ name: 'node-ip', value: nodeIp }],
      },
    }),
  );
  const node = { apiVersion: 'v1', kind: 'Node', name: to.worker };
  const found = await client.waitFor(node, (object) => podRanges(object).length > 0, { what: 'a pod range' });
  await worker.usePodCidrs(podRanges(found));
  await client.waitFor(node, 'Ready', { diagnose: () => worker.machine.lastWords() });
  return worker;
}

/** The ranges that a node got for its pods, one of each IP family. */
export function podRanges(node: PlainObject | undefined): readonly string[] {
  return (node?.spec?.podCIDRs as readonly string[] | undefined) ?? [];
}

/** A bootstrap token that may do all that `kubeadm join` needs, as a Secret of the tenant. */
async function createBootstrapToken(client: KubernetesClient): Promise<string> {
  const [id, secret] = [randomBytes(3).toString('hex'), randomBytes(8).toString('hex')];
  const stringData = {
    'token-id': id,
    'token-secret': secret,
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'true',
    'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token',
  };
  const metadata = { name: `bootstrap-token-${id}`, namespace: 'kube-system' };
  await client.apply([
    { apiVersion: 'v1', kind: 'Secret', metadata, type: 'bootstrap.kubernetes.io/token', stringData },
  ]);
  return `${id}.${secret}`;
}

/** kubeadm's pin of an authority: SHA-256 over its SubjectPublicKeyInfo (RFC 7469). */
function publicKeyHash(certificate: string): string {
  const key = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}
