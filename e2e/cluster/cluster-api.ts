import { mkdtemp, readFile, readdir } from 'node:fs/promises';
import path from 'node:path';

import { moduleFolder } from '../tools/module-folder.ts';
import { resolveTools } from '../tools/resolve.ts';
import { CertManagerStandIn, certificatesIn } from './cert-manager-stand-in.ts';
import type { LocalProvider, ProviderType } from './clusterctl-repository.ts';
import { buildClusterApiProviders, componentsFile, writeClusterctlRepository } from './clusterctl-repository.ts';
import type { KubernetesClient, PlainObject } from './kubernetes-client.ts';
import { parseManifests } from './kubernetes-client.ts';
import type { ManagementCluster } from './management-cluster.ts';
import type { CommandOptions, CommandOutput } from './machines/run-command.ts';
import { runCommand } from './machines/run-command.ts';

/** What is installed besides Cluster API's core and kubeadm bootstrap providers. */
export interface ClusterApiOptions {
  /** For example the control-plane provider `steward` from the folder of its release files. */
  readonly providers?: readonly LocalProvider[];
  /** clusterctl variables, for all components and templates. */
  readonly variables?: Readonly<Record<string, string>>;
}

const flags: Readonly<Record<ProviderType, string>> = {
  CoreProvider: '--core',
  BootstrapProvider: '--bootstrap',
  ControlPlaneProvider: '--control-plane',
  InfrastructureProvider: '--infrastructure',
};

/** Cluster API on a management cluster, with the clusterctl that installed it. */
export class ClusterApi {
  readonly cluster: ManagementCluster;
  /** Path of the `clusterctl.yaml` in use. */
  readonly configuration: string;
  readonly certificates: CertManagerStandIn;
  readonly #clusterctl: string;

  constructor(cluster: ManagementCluster, configuration: string, clusterctl: string) {
    this.cluster = cluster;
    this.configuration = configuration;
    this.certificates = new CertManagerStandIn(cluster.client);
    this.#clusterctl = clusterctl;
  }

  /** Runs clusterctl with the local repository, against the management cluster; `variables` are those of templates. */
  clusterctl(
    args: readonly string[],
    { variables, ...options }: CommandOptions & { readonly variables?: Readonly<Record<string, string>> } = {},
  ): Promise<CommandOutput> {
    const home = path.dirname(this.configuration);
    const env = {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      HOME: home,
      XDG_CONFIG_HOME: home,
      KUBECONFIG: this.cluster.kubeconfig,
      CLUSTERCTL_DISABLE_VERSIONCHECK: 'true',
      // Look-ups of newer versions on the internet find none, at once.
      GOPROXY: 'off',
      ...variables,
    };
    return runCommand(this.#clusterctl, ['--config', this.configuration, ...args], { env, ...options });
  }
}

/**
 * Installs Cluster API as a user would, with the real `clusterctl init`, but from a local repository and with a
 * stand-in for cert-manager; resolves when all its Deployments are Available.
 */
export async function installClusterApi(
  cluster: ManagementCluster,
  options: ClusterApiOptions = {},
): Promise<ClusterApi> {
  const { progress, signal, folder: state } = cluster.harness;
  progress('Cluster API', 'building the components');
  const folder = await mkdtemp(path.join(state, 'clusterctl-'));
  const own = await buildClusterApiProviders(path.join(folder, 'built'), progress);
  const providers = [...own, ...(options.providers ?? [])];
  const variables = { CLUSTER_TOPOLOGY: 'true', ...options.variables };
  const configuration = await writeClusterctlRepository(folder, providers, variables);
  const { clusterctl } = await resolveTools(['clusterctl']);
  const installed = new ClusterApi(cluster, configuration, clusterctl);

  progress('Cluster API', 'certificates');
  const manifests = await issueCertificates(installed.certificates, cluster, providers);

  progress('Cluster API', `clusterctl init (${providers.map(({ name }) => name).join(', ')})`);
  await installed.clusterctl(['init', ...initArguments(providers)], {
    timeoutMs: 180_000,
    signal,
    diagnose: () => cluster.diagnose(),
  });
  await installed.certificates.inject();
  progress('Cluster API', 'waiting for its Deployments');
  await Promise.all(
    manifests
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ apiVersion = '', metadata }) => {
        const { name = '', namespace = 'default' } = metadata ?? {};
        return cluster.waitFor({ apiVersion, kind: 'Deployment', name, namespace }, 'Available', {
          timeoutMs: 120_000,
        });
      }),
  );
  return installed;
}

/**
 * The Cluster API that {@link installClusterApi} has installed, for another process.
 * @throws Error when nobody has installed it.
 */
export async function attachClusterApi(cluster: ManagementCluster): Promise<ClusterApi> {
  const state = cluster.harness.folder;
  const folders = (await readdir(state)).filter((name) => name.startsWith('clusterctl-'));
  const [folder] = folders;
  if (folder === undefined)
    throw new Error(`Nobody has installed Cluster API on ${cluster.name}: ${state} has no clusterctl-*.`);
  const { clusterctl } = await resolveTools(['clusterctl']);
  return new ClusterApi(cluster, path.join(state, folder, 'clusterctl.yaml'), clusterctl);
}

/** Arguments of `clusterctl init`: exactly these providers; `-` switches the defaults off. */
export function initArguments(providers: readonly LocalProvider[]): readonly string[] {
  const types = Object.keys(flags) as ProviderType[];
  return types.flatMap((type) => {
    const named = providers.filter((provider) => provider.type === type);
    const values = named.length === 0 ? ['-'] : named.map(({ name, version }) => `${name}:${version}`);
    return [flags[type], values.join(',')];
  });
}

/**
 * Makes what cert-manager would make for these providers, so that clusterctl takes it for installed.
 * @returns the manifests of the providers.
 */
export async function issueCertificates(
  certificates: CertManagerStandIn,
  cluster: Pick<KubernetesClient, 'apply' | 'waitFor'>,
  providers: readonly LocalProvider[],
): Promise<readonly PlainObject[]> {
  await applyCertManagerDefinitions(cluster);
  const manifests = (await Promise.all(providers.map(componentsOf))).flat();
  await certificates.issue(certificatesIn(manifests));
  return manifests;
}

/** With its definitions there, clusterctl takes cert-manager for installed. */
async function applyCertManagerDefinitions(cluster: Pick<KubernetesClient, 'apply' | 'waitFor'>): Promise<void> {
  const folder = path.join(await moduleFolder('cert-manager'), 'deploy', 'crds');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml'));
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
  const definitions = texts.flatMap(parseManifests);
  await cluster.apply(definitions);
  for (const { metadata } of definitions) {
    const address = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      name: metadata?.name ?? '',
    };
    await cluster.waitFor(address, 'Established');
  }
}

async function componentsOf(provider: LocalProvider): Promise<readonly PlainObject[]> {
  return parseManifests(await readFile(path.join(provider.folder, componentsFile(provider.type)), 'utf8'));
}
