import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { kinds } from '../../api/core/kinds.ts';
import type { Deployment } from '../../api/core/kinds.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { answersOk } from './answers-ok.ts';
import { freePorts } from './free-ports.ts';
import { serverFolder } from './server-folder.ts';
import { startServerProcess } from './server-process.ts';

type PodSpec = NonNullable<NonNullable<NonNullable<Deployment['spec']>['template']>['spec']>;
type Volume = NonNullable<PodSpec['volumes']>[number];
type Files = Readonly<Record<string, string>>;

/** A pod of a control plane as processes of this host: its kube-apiserver and, unless left out, its kube-controller-manager. */
export interface ProcessPod extends AsyncDisposable {
  /** Of kube-apiserver. */
  readonly port: number;
  /** What kube-apiserver has written to its outputs until now. */
  log(): Promise<string>;
}

/** What a pod is made of. */
export interface ProcessPodInput {
  /** Holds the Deployment's Secrets. */
  readonly cluster: Cluster;
  readonly deployment: Deployment;
  /** Another store than the pod's; without TLS. */
  readonly etcd?: readonly string[];
  /** The client that checks its readiness. */
  readonly reader: { readonly ca: string; readonly cert?: string; readonly key?: string };
  /**
   * Address of this host at which it serves, with the pod's own port, and with its API server alone; by default a free port
   * of 127.0.0.1.
   */
  readonly address?: string;
  /** Pinned minor or version; by default the newest. */
  readonly kubernetes?: string;
  /** The folder of this host with the sockets of additional containers, instead of `/run/kms`. */
  readonly kmsFolder?: string;
}

async function secretFiles(cluster: Cluster, namespace: string, name: string): Promise<Files> {
  const found = await cluster.get(kinds.Secret, { namespace, name });
  if (found === undefined) throw new Error(`a pod mounts the Secret ${name}, which is not there`);
  return Object.fromEntries(
    Object.entries(found.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}

/** The content of a volume, by path below its mount. Throws for a key that the Secret does not have, as kubelets wait for it. */
async function filesOf(cluster: Cluster, namespace: string, volume: Volume): Promise<Files> {
  if (volume.secret?.secretName !== undefined) return secretFiles(cluster, namespace, volume.secret.secretName);
  const parts = await Promise.all(
    (volume.projected?.sources ?? []).map(async ({ secret }) => {
      const files = await secretFiles(cluster, namespace, secret?.name ?? '');
      return (secret?.items ?? []).map(({ key, path }) => {
        const content = files[key];
        if (content === undefined) throw new Error(`the Secret ${secret?.name ?? ''} has no key ${key}`);
        return [path, content] as const;
      });
    }),
  );
  return Object.fromEntries(parts.flat());
}

/** The flags of a container with the paths of this host; `changes` win, and those without a value are left out. */
function flagsOf(args: readonly string[], root: string, changes: Readonly<Record<string, string>>): readonly string[] {
  const kept = args.filter((argument) => changes[argument.slice(2).split('=')[0] ?? ''] === undefined);
  const added = Object.entries(changes).flatMap(([name, value]) => (value === '' ? [] : [`--${name}=${value}`]));
  return [...kept.map((argument) => argument.replaceAll('=/etc/kubernetes', `=${root}/etc/kubernetes`)), ...added];
}

/**
 * Starts what the Deployment describes and waits until its API server is ready. Stores, addresses and ports are of this host, all
 * else is as the pod has it.
 */
export async function startProcessPod(input: ProcessPodInput): Promise<ProcessPod> {
  const { cluster, deployment, etcd, reader, address = '127.0.0.1', kubernetes, kmsFolder = '/run/kms' } = input;
  const { volumes = [], containers = [] } = deployment.spec?.template.spec ?? {};
  const namespace = deployment.metadata.namespace;
  const folder = await serverFolder();
  const [freePort = 0, managerPort = 0] = await freePorts(2);
  const argumentsOf = (name: string): readonly string[] => containers.find((one) => one.name === name)?.args ?? [];
  const secure = argumentsOf('kube-apiserver').find((argument) => argument.startsWith('--secure-port='));
  const published = secure?.split('=')[1] ?? '';
  const port = input.address === undefined ? freePort : Number(published);
  for (const { name, volumeMounts = [] } of containers) {
    for (const mount of volumeMounts) {
      const volume = volumes.find((one) => one.name === mount.name);
      for (const [path, content] of Object.entries(
        volume === undefined ? {} : await filesOf(cluster, namespace, volume),
      )) {
        const target = join(folder.path, name, mount.mountPath, path);
        await mkdir(dirname(target), { recursive: true });
        // A program reaches the API server of its own pod, and finds in its own folder what its files name.
        const here = content
          .replaceAll(`https://127.0.0.1:${published}`, `https://${address}:${port}`)
          .replaceAll('unix:///run/kms', `unix://${kmsFolder}`)
          .replaceAll(/(?<= )\/etc\/kubernetes\//g, `${join(folder.path, name)}/etc/kubernetes/`);
        await writeFile(target, here);
      }
    }
  }
  const tools = {
    ...(await resolveTools(['kube-apiserver'], { kubernetes })),
    ...(await resolveTools(['kube-controller-manager'])),
  };
  const start = (program: 'kube-apiserver' | 'kube-controller-manager', changes: Readonly<Record<string, string>>) =>
    startServerProcess({
      program: tools[program],
      programArguments: flagsOf(argumentsOf(program), join(folder.path, program), changes),
      log: join(folder.path, `${program}.log`),
    });
  const another = { 'etcd-cafile': '', 'etcd-certfile': '', 'etcd-keyfile': '' };
  const store = etcd === undefined ? {} : { 'etcd-servers': etcd.join(), ...another };
  const server = await start('kube-apiserver', {
    ...store,
    'secure-port': String(port),
    'bind-address': address,
    'advertise-address': address,
    'endpoint-reconciler-type': 'none',
    'shutdown-delay-duration': '0s',
  });
  await server.until(() => answersOk(`https://${address}:${port}/readyz`, reader), 120_000);
  const manager =
    input.address === undefined
      ? await start('kube-controller-manager', {
          'bind-address': '127.0.0.1',
          'secure-port': String(managerPort),
          'leader-elect': 'false',
        })
      : undefined;
  return {
    port,
    log: () => readFile(join(folder.path, 'kube-apiserver.log'), 'utf8'),
    async [Symbol.asyncDispose]() {
      await manager?.kill();
      await server.kill();
      await folder[Symbol.asyncDispose]();
    },
  };
}
