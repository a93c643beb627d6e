import { randomInt } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { CertManagerStandIn } from '../../../e2e/cluster/cert-manager-stand-in.ts';
import { initArguments, issueCertificates } from '../../../e2e/cluster/cluster-api.ts';
import type { LocalProvider } from '../../../e2e/cluster/clusterctl-repository.ts';
import {
  buildClusterApiProviders,
  componentsFile,
  writeClusterctlRepository,
} from '../../../e2e/cluster/clusterctl-repository.ts';
import { KubernetesClient, parseManifests } from '../../../e2e/cluster/kubernetes-client.ts';
import { runCommand } from '../../../e2e/cluster/machines/run-command.ts';
import { resolveTools } from '../../../e2e/tools/resolve.ts';
import { answersOk } from '../../servers/answers-ok.ts';
import type { ApiServer } from '../../servers/api-server.ts';
import { startApiServer } from '../../servers/api-server.ts';
import { freePorts } from '../../servers/free-ports.ts';
import { loopbackPair, serverCa } from '../../servers/server-certificates.ts';
import { serverFolder } from '../../servers/server-folder.ts';
import type { ServerProcess } from '../../servers/server-process.ts';
import { startServerProcess } from '../../servers/server-process.ts';
import { infrastructureDefinitions } from './infrastructure.ts';
import { runMachines } from './machines.ts';
import type { Command, ControlPlaneProfile } from './profile.ts';
import { callLocally } from './call-locally.ts';

const patienceMs = 60_000;

/** What a management cluster of the kit is made of. */
export interface ContractManagementOptions {
  readonly profile: ControlPlaneProfile;
  /** A pinned release of Cluster API. */
  readonly clusterApi: string;
  /** The installed release of the provider; by default that of the profile. */
  readonly release?: (current: LocalProvider, folder: string) => Promise<LocalProvider>;
}

/**
 * A management cluster that `clusterctl init` has made from local repositories, without nodes: the managers are processes of this host, each
 * with the identity and the rights of its ServiceAccount. The provider's own is started on demand.
 */
export interface ContractManagement extends AsyncDisposable {
  readonly client: KubernetesClient;
  readonly server: ApiServer;
  /** The release of the provider that is newest, installed or not. */
  readonly release: LocalProvider;
  /** Puts a release where clusterctl looks for other versions of what it has installed. */
  readonly publish: (release: LocalProvider) => Promise<void>;
  /** Runs the real clusterctl against it. */
  readonly clusterctl: (...words: readonly string[]) => Promise<string>;
  /** Runs the real kubectl against it, as its administrator. */
  readonly kubectl: (...words: readonly string[]) => Promise<string>;
  /** Starts the provider's manager and waits until it is ready. */
  readonly startProvider: (instance?: Instance) => Promise<ServerProcess>;
}

/** One of several instances of the provider. */
export interface Instance {
  /** Without one it looks after everything. */
  readonly watchFilter: string;
  /** One instance at a time is called for admission. */
  readonly servesWebhooks: boolean;
}

/** One provider's Deployment in the eyes of the kit. */
interface Account {
  readonly namespace: string;
  readonly name: string;
}

async function accountOf({ type, folder }: LocalProvider): Promise<Account> {
  const manifests = parseManifests(await readFile(join(folder, componentsFile(type)), 'utf8'));
  const deployment = manifests.find(({ kind }) => kind === 'Deployment');
  const { spec } = (deployment?.spec?.template ?? {}) as { spec?: { serviceAccountName?: string } };
  return { namespace: deployment?.metadata?.namespace ?? '', name: spec?.serviceAccountName ?? 'default' };
}

/** Starts it all; what it started dies with this process, and when it is disposed of. */
export async function startContractManagement(options: ContractManagementOptions): Promise<ContractManagement> {
  const { profile, clusterApi } = options;
  await using started = new AsyncDisposableStack();
  const folder = started.use(await serverFolder());
  const [tools, { kubectl, 'kube-controller-manager': controllers }] = await Promise.all([
    resolveTools(['capi-core-manager', 'capi-kubeadm-bootstrap-manager', 'clusterctl'], { clusterApi }),
    resolveTools(['kubectl', 'kube-controller-manager']),
  ]);
  // Addresses of Services are this host's own, and of another run's next to never.
  const services = `127.${randomInt(1, 255)}.${randomInt(0, 255)}.0/24`;
  const server = started.use(await startApiServer({ flags: { 'service-cluster-ip-range': services } }));
  const client = new KubernetesClient(server.kubeconfig);

  const run = async (name: string, { program, programArguments, environment }: Command): Promise<ServerProcess> => {
    const log = join(folder.path, `${name}.log`);
    const process_ = await startServerProcess({ program, programArguments, environment, log });
    started.defer(() => process_.kill());
    return process_;
  };
  // Owned objects go with their owners, and the core manager has the rights that providers add to its own.
  await run('kube-controller-manager', {
    program: controllers,
    programArguments: [
      ...[`--kubeconfig=${server.kubeconfigPath}`, '--leader-elect=false', '--secure-port=0'],
      '--controllers=garbage-collector-controller,clusterrole-aggregation-controller',
    ],
    environment: process.env,
  });

  const own = await buildClusterApiProviders(join(folder.path, 'built'), () => undefined, clusterApi);
  const release = await profile.release(join(folder.path, 'release'));
  const installed = (await options.release?.(release, join(folder.path, 'installed'))) ?? release;
  const configuration = await writeClusterctlRepository(folder.path, [...own, installed], { CLUSTER_TOPOLOGY: 'true' });
  const clusterctl = async (...words: readonly string[]): Promise<string> => {
    const env = {
      ...{ PATH: '/usr/bin:/bin', HOME: folder.path, XDG_CONFIG_HOME: folder.path, GOPROXY: 'off' },
      ...{ KUBECONFIG: server.kubeconfigPath, CLUSTERCTL_DISABLE_VERSIONCHECK: 'true' },
    };
    const args = ['--config', configuration, ...words];
    return (await runCommand(tools.clusterctl, args, { env, timeoutMs: 2 * patienceMs })).stdout;
  };
  await issueCertificates(new CertManagerStandIn(client), client, [...own, installed]);
  await clusterctl('init', ...initArguments([...own, installed]));
  await client.apply(infrastructureDefinitions);

  const authority = await serverCa('webhooks');
  const pair = await loopbackPair(authority, 'localhost');
  await writeFile(join(folder.path, 'tls.crt'), pair.certificate);
  await writeFile(join(folder.path, 'tls.key'), pair.key, { mode: 0o600 });
  const [core, bootstrap, provider] = await Promise.all([...own, release].map(accountOf));
  if (core === undefined || bootstrap === undefined || provider === undefined) throw new Error('three are installed');

  const kubeconfigOf = async ({ namespace, name }: Account): Promise<string> => {
    const user = `system:serviceaccount:${namespace}:${name}`;
    const { certificate, key } = await server.clientPair(user, [
      ...['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    ]);
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const cluster = { server: server.url, 'certificate-authority-data': base64(server.ca) };
    const path = join(folder.path, `${namespace}.kubeconfig`);
    await mkdir(folder.path, { recursive: true });
    await writeFile(
      path,
      stringify({
        ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'own' },
        clusters: [{ name: 'own', cluster }],
        users: [
          { name: user, user: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) } },
        ],
        contexts: [{ name: 'own', context: { cluster: 'own', user } }],
      }),
      { mode: 0o600 },
    );
    return path;
  };
  const manager = async (name: string, account: Account, program: string, more: readonly string[]): Promise<void> => {
    const [health = 0, hooks = 0] = await freePorts(2);
    const running = await run(name, {
      program,
      programArguments: [
        ...[`--kubeconfig=${await kubeconfigOf(account)}`, '--diagnostics-address=127.0.0.1:0', ...more],
        ...['--insecure-diagnostics', `--health-addr=127.0.0.1:${health}`, `--webhook-port=${hooks}`],
        `--webhook-cert-dir=${folder.path}`,
      ],
      environment: { ...process.env, POD_NAMESPACE: account.namespace, POD_NAME: name, POD_UID: name },
    });
    await callLocally(client, { namespace: account.namespace, port: hooks, authority: authority.certificate });
    await running.until(() => answersOk(`http://127.0.0.1:${health}/readyz`), patienceMs);
  };
  await Promise.all([
    manager('core', core, tools['capi-core-manager'], ['--feature-gates=ClusterTopology=true']),
    manager('bootstrap', bootstrap, tools['capi-kubeadm-bootstrap-manager'], []),
  ]);

  const machines = new AbortController();
  const working = runMachines(client, machines.signal);
  started.defer(async () => {
    machines.abort();
    await working;
  });
  const all = started.move();
  return {
    client,
    server,
    release,
    clusterctl,
    async publish({ name, version, folder: from }) {
      await cp(from, join(folder.path, 'repository', `control-plane-${name}`, version), { recursive: true });
    },
    async kubectl(...words) {
      return (await runCommand(kubectl, ['--kubeconfig', server.kubeconfigPath, ...words])).stdout;
    },
    async startProvider(instance) {
      const { watchFilter, servesWebhooks = true } = instance ?? {};
      const [health = 0, hooks = 0] = await freePorts(2);
      const { namespace } = provider;
      const place = { kubeconfigPath: await kubeconfigOf(provider), namespace, certificates: folder.path, health };
      const webhooks = servesWebhooks ? hooks : undefined;
      if (webhooks !== undefined)
        await callLocally(client, { namespace, port: webhooks, authority: authority.certificate });
      const log = `provider${watchFilter === undefined ? '' : `-${watchFilter}`}`;
      const command = profile.manager({ ...place, webhooks, watchFilter });
      const running = await startServerProcess({ ...command, log: join(folder.path, `${log}.log`) });
      all.defer(() => running.kill());
      await running.until(() => answersOk(`http://127.0.0.1:${health}/readyz`), patienceMs);
      return running;
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
