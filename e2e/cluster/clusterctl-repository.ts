import { chmod, cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { stringify } from 'yaml';

import { clusterApiReleases, resolveClusterApi } from '../tools/cluster-api-releases.ts';
import { moduleFolder } from '../tools/module-folder.ts';
import { resolveTools } from '../tools/resolve.ts';
import { runCommand } from './machines/run-command.ts';
import type { Progress } from './machines/supplies.ts';

/** The provider types of clusterctl that the harness installs. */
export type ProviderType = 'CoreProvider' | 'BootstrapProvider' | 'ControlPlaneProvider' | 'InfrastructureProvider';

/** A provider of a local clusterctl repository. */
export interface LocalProvider {
  readonly type: ProviderType;
  readonly name: string;
  /** With a leading `v`. */
  readonly version: string;
  /** Holds `metadata.yaml`, `<kind>-components.yaml` and perhaps templates. */
  readonly folder: string;
}

const labels: Readonly<Record<ProviderType, { readonly prefix: string; readonly components: string }>> = {
  CoreProvider: { prefix: '', components: 'core-components.yaml' },
  BootstrapProvider: { prefix: 'bootstrap-', components: 'bootstrap-components.yaml' },
  ControlPlaneProvider: { prefix: 'control-plane-', components: 'control-plane-components.yaml' },
  InfrastructureProvider: { prefix: 'infrastructure-', components: 'infrastructure-components.yaml' },
};

/** File name of a provider's components in a clusterctl repository. */
export function componentsFile(type: ProviderType): string {
  return labels[type].components;
}

/**
 * The components YAML of Cluster API's core and kubeadm bootstrap providers, made with kustomize from the pinned module
 * as its release does, except that images are ours and never pulled again.
 * @param into an empty folder that gets one folder per provider.
 * @param wanted a pinned release of Cluster API; the newest unless said.
 */
export async function buildClusterApiProviders(
  into: string,
  progress: Progress,
  wanted: string = clusterApiReleases[0].version,
): Promise<readonly LocalProvider[]> {
  const tell = (line: string): void => {
    progress('Cluster API', line);
  };
  const { folder: name, version, core } = resolveClusterApi(wanted);
  const module = await moduleFolder(name, tell);
  const { kustomize } = await resolveTools(['kustomize'], { progress: tell });
  const writable = await mkdtemp(path.join(tmpdir(), 'cluster-api-'));
  const sources = [
    { type: 'CoreProvider', name: 'cluster-api', config: path.join(core, 'config') },
    { type: 'BootstrapProvider', name: 'kubeadm', config: 'bootstrap/kubeadm/config' },
  ] as const;
  try {
    return await Promise.all(
      sources.map(async ({ type, name, config }) => {
        await copyWritable(path.join(module, config), path.join(writable, config));
        const { stdout } = await runCommand(kustomize, ['build', path.join(writable, config, 'default')]);
        const folder = path.join(into, name);
        await mkdir(folder, { recursive: true });
        await writeFile(path.join(folder, componentsFile(type)), useLocalImages(stdout, version));
        await writeFile(path.join(folder, 'metadata.yaml'), await readFile(path.join(module, 'metadata.yaml')));
        return { type, name, version, folder };
      }),
    );
  } finally {
    await rm(writable, { recursive: true, force: true });
  }
}

/** Names the images that the harness imports instead of the development images that the module's files name. */
export function useLocalImages(components: string, version: string): string {
  return components
    .replaceAll(/gcr\.io\/k8s-staging-cluster-api\/([\w-]+):main/g, `registry.k8s.io/cluster-api/$1:${version}`)
    .replaceAll('imagePullPolicy: Always', 'imagePullPolicy: IfNotPresent');
}

/**
 * Lays out a local repository as clusterctl wants it, `<label>/<version>/<file>`, with a `clusterctl.yaml` that names it.
 * @returns path of that configuration.
 */
export async function writeClusterctlRepository(
  folder: string,
  providers: readonly LocalProvider[],
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const entries = await Promise.all(
    providers.map(async ({ type, name, version, folder: source }) => {
      const { prefix, components } = labels[type];
      const target = path.join(folder, 'repository', `${prefix}${name}`, version);
      await cp(source, target, { recursive: true });
      return { name, type, url: `file://${path.join(target, components)}` };
    }),
  );
  const file = path.join(folder, 'clusterctl.yaml');
  await writeFile(file, stringify({ providers: entries, ...variables }));
  return file;
}

async function copyWritable(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true });
  // Folders of the Go module cache are read-only, and the copies would be too.
  await chmod(to, 0o755);
  const entries = await readdir(to, { recursive: true, withFileTypes: true });
  await Promise.all(
    entries.map((entry) => chmod(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644)),
  );
}
