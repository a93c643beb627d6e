import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { stringify } from 'yaml';

import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import { runCommand } from '../../cluster/machines/run-command.ts';
import { moduleFolder } from '../../tools/module-folder.ts';
import { resolveTools } from '../../tools/resolve.ts';
import type { Progress } from '../../tools/resolve.ts';
import { fluxArchives, fluxControllers } from './flux-images.ts';

/** Where Flux runs. */
export const fluxNamespace = 'flux-system';

/**
 * Installs Flux's source-controller and kustomize-controller: pods of their own manifests, with their own rights, in the namespace that
 * `flux install` gives them. One flag is ours: a Kustomization looks every two seconds, not every thirty, whether what it depends on is ready.
 */
export async function installFlux(cluster: ManagementCluster, progress: Progress): Promise<void> {
  for (const archive of await fluxArchives(progress)) await cluster.loadImage(archive.path);
  const folder = path.join(cluster.harness.folder, 'flux');
  await mkdir(folder, { recursive: true });
  for (const name of fluxControllers) {
    await cp(path.join(await moduleFolder(name, progress), 'config'), path.join(folder, name), { recursive: true });
    // Folders of the Go module cache are read-only, and the copies would be too.
    await runCommand('chmod', ['-R', 'u+w', path.join(folder, name)]);
  }
  const parts = fluxControllers.flatMap((name) => ['crd', 'rbac', 'manager'].map((part) => path.join(name, part)));
  await writeFile(path.join(folder, 'kustomization.yaml'), stringify(kustomization(parts)));
  const { kustomize } = await resolveTools(['kustomize']);
  const { stdout } = await runCommand(kustomize, ['build', folder]);
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: fluxNamespace } }]);
  await cluster.apply(stdout);
  for (const name of fluxControllers) {
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: fluxNamespace, name };
    await cluster.waitFor(deployment, 'Available', { timeoutMs: 120_000 });
  }
}

function kustomization(resources: readonly string[]): object {
  const flag = { op: 'add', path: '/spec/template/spec/containers/0/args/-', value: '--requeue-dependency=2s' };
  return {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: fluxNamespace,
    resources,
    patches: [{ target: { kind: 'Deployment', name: 'kustomize-controller' }, patch: JSON.stringify([flag]) }],
  };
}
