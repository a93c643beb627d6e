import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { issueServiceAccountKeys } from '../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { answersOk } from './answers-ok.ts';
import { startEtcd } from './etcd-server.ts';
import { freePorts } from './free-ports.ts';
import { clientPair, loopbackPair, serverCa } from './server-certificates.ts';
import { serverFolder } from './server-folder.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';

/** What to start. */
export interface ApiServerOptions {
  /** Authorizes by RBAC; otherwise everybody may do everything. True by default. */
  readonly rbac?: boolean;
  /** Flags of kube-apiserver without the dashes; they win over ours. */
  readonly flags?: Readonly<Record<string, string>>;
  /** A pinned minor or version; by default the newest. */
  readonly kubernetes?: string;
}

/** All that a client of an API server needs. PEM texts. */
export interface ApiServerAccess {
  readonly url: string;
  readonly ca: string;
  /** A member of `system:masters`. */
  readonly adminCertificate: string;
  readonly adminKey: string;
  /** The same as a file. */
  readonly kubeconfigPath: string;
}

/** A real kube-apiserver with an etcd of its own, as processes of this host. There are no controllers. */
export interface ApiServer extends ApiServerAccess, AsyncDisposable {
  readonly kubeconfig: string;
  /** A client certificate that this server trusts: the common name is the user, the organizations are its groups. */
  clientPair(user: string, groups?: readonly string[]): Promise<KeyPair>;
  /** SIGKILL for kube-apiserver alone; etcd stays. */
  kill(): Promise<void>;
  /** Kills kube-apiserver if it runs, starts it again at the same address and waits until it is ready. */
  restart(): Promise<void>;
  /** Kills both and removes their files. */
  stop(): Promise<void>;
}

const kubeconfigOf = (url: string, ca: string, admin: KeyPair): string => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': base64(ca) } }],
    users: [
      {
        name: 'admin',
        user: { 'client-certificate-data': base64(admin.certificate), 'client-key-data': base64(admin.key) },
      },
    ],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  });
};

interface Identity {
  readonly ca: KeyPair;
  readonly admin: KeyPair;
}

/** Writes the server's files into its folder and returns who may sign and who is the administrator. */
const writeIdentity = async (folder: string): Promise<Identity> => {
  const ca = await serverCa('kubernetes');
  const [server, admin, account] = await Promise.all([
    loopbackPair(ca, 'kube-apiserver', ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc']),
    clientPair(ca, 'kubernetes-admin', ['system:masters']),
    issueServiceAccountKeys('ECDSA-P256'),
  ]);
  const write = (name: string, text: string) => writeFile(join(folder, name), text, { mode: 0o600 });
  await Promise.all([
    write('ca.crt', ca.certificate),
    // For a signer of certificates beside the server.
    write('ca.key', ca.key),
    write('server.crt', server.certificate),
    write('server.key', server.key),
    write('sa.pub', account.publicKey),
    write('sa.key', account.privateKey),
  ]);
  return { ca, admin };
};

const serverFlags = (
  folder: string,
  port: number,
  etcd: readonly string[],
  options: ApiServerOptions,
): readonly string[] =>
  Object.entries({
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'secure-port': String(port),
    'etcd-servers': etcd.join(','),
    'client-ca-file': join(folder, 'ca.crt'),
    'tls-cert-file': join(folder, 'server.crt'),
    'tls-private-key-file': join(folder, 'server.key'),
    'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
    'service-account-key-file': join(folder, 'sa.pub'),
    'service-account-signing-key-file': join(folder, 'sa.key'),
    'service-cluster-ip-range': '10.96.0.0/16',
    'authorization-mode': options.rbac === false ? 'AlwaysAllow' : 'Node,RBAC',
    // No controller makes the default service accounts here, and without them no Pod could be created.
    'disable-admission-plugins': 'ServiceAccount',
    'endpoint-reconciler-type': 'none',
    'allow-privileged': 'true',
    'shutdown-delay-duration': '0s',
    ...options.flags,
  }).map(([name, value]) => `--${name}=${value}`);

/**
 * Starts etcd and kube-apiserver on free loopback ports and waits until `/readyz` says so (about 3 s). Both die with this
 * process; stopping or disposing kills kube-apiserver first and removes all files. Throws with the remedy when the pinned
 * binaries cannot be had.
 */
export const startApiServer = async (options: ApiServerOptions = {}): Promise<ApiServer> => {
  const tools = await resolveTools(['kube-apiserver'], { kubernetes: options.kubernetes });
  const folder = await serverFolder();
  const etcd = await startEtcd();
  let server: ServerProcess | undefined;
  const stop = async (): Promise<void> => {
    // kube-apiserver first: it would hang for minutes without its etcd.
    await server?.kill();
    await etcd.stop();
    await folder[Symbol.asyncDispose]();
  };
  try {
    const { ca, admin } = await writeIdentity(folder.path);
    const [port = 0] = await freePorts(1);
    const url = `https://127.0.0.1:${port}`;
    const kubeconfig = kubeconfigOf(url, ca.certificate, admin);
    const kubeconfigPath = join(folder.path, 'admin.kubeconfig');
    await writeFile(kubeconfigPath, kubeconfig, { mode: 0o600 });
    const start = async (): Promise<void> => {
      server = await startServerProcess({
        program: tools['kube-apiserver'],
        programArguments: serverFlags(folder.path, port, etcd.endpoints, options),
        log: join(folder.path, 'kube-apiserver.log'),
      });
      const credentials = { ca: ca.certificate, cert: admin.certificate, key: admin.key };
      await server.until(() => answersOk(`${url}/readyz`, credentials), 120_000);
      // It makes its namespaces after it has said that it is ready.
      for (const name of ['default', 'kube-system'])
        await server.until(() => answersOk(`${url}/api/v1/namespaces/${name}`, credentials), 120_000);
    };
    await start();
    return {
      url,
      ca: ca.certificate,
      adminCertificate: admin.certificate,
      adminKey: admin.key,
      kubeconfig,
      kubeconfigPath,
      clientPair: (user, groups = []) => clientPair(ca, user, groups),
      kill: async () => server?.kill(),
      restart: async () => {
        await server?.kill();
        await start();
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
