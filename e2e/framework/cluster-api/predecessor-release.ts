import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { stringify } from 'yaml';

import type { LocalProvider } from '../../cluster/clusterctl-repository.ts';
import type { PlainObject } from '../../cluster/kubernetes-client.ts';
import { parseManifests } from '../../cluster/kubernetes-client.ts';

const group = 'controlplane.cluster.x-k8s.io';
const pause = 'registry.k8s.io/pause:3.10.2';

interface Definition {
  readonly spec: { readonly versions: readonly { readonly name: string }[] };
}

/**
 * Writes a release of the provider as the one in Go was: the two kinds of Cluster API in `v1alpha1` alone, for the contract v1beta1. Its
 * manager is a program that does nothing, so that what it leaves behind is what a user has written.
 * @param current a release of ours, whose definitions are taken.
 * @param into folder that gets the files.
 */
export async function writePredecessorRelease(current: LocalProvider, into: string): Promise<LocalProvider> {
  const version = 'v0.3.0';
  const file = 'control-plane-components.yaml';
  const manifests = parseManifests(await readFile(path.join(current.folder, file), 'utf8'));
  const kept = manifests.flatMap((manifest) => {
    if (manifest.kind === 'Namespace' || manifest.kind === 'ServiceAccount') return [manifest];
    if (manifest.kind === 'Deployment') return [idle(manifest)];
    return manifest.kind === 'CustomResourceDefinition' ? [before(manifest)] : [];
  });
  await mkdir(into, { recursive: true });
  await writeFile(path.join(into, file), kept.map((manifest) => stringify(manifest)).join('---\n'));
  const series = [{ major: 0, minor: 3, contract: 'v1beta1' }];
  const metadata = { apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3', kind: 'Metadata', releaseSeries: series };
  await writeFile(path.join(into, 'metadata.yaml'), stringify(metadata));
  return { ...current, version, folder: into };
}

/** A definition as it was before there was `v1alpha2`. */
function before(definition: PlainObject): PlainObject {
  if (definition.spec?.group !== group) return definition;
  const labels = { ...definition.metadata?.labels };
  delete labels['cluster.x-k8s.io/v1beta2'];
  const { versions } = (definition as unknown as Definition).spec;
  const spec = { ...definition.spec, versions: versions.filter(({ name }) => name === 'v1alpha1') };
  return { ...definition, metadata: { ...definition.metadata, labels }, spec };
}

function idle(deployment: PlainObject): PlainObject {
  const selector = deployment.spec?.selector as { readonly matchLabels: Readonly<Record<string, string>> };
  const template = {
    metadata: { labels: selector.matchLabels },
    spec: { containers: [{ name: 'manager', image: pause, imagePullPolicy: 'IfNotPresent' }] },
  };
  return { ...deployment, spec: { replicas: 1, selector, template } };
}
