import type { Command } from 'commander';
import type { KindRef } from '../../../api/meta.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import { orNothing } from '../control-plane/find-control-plane.ts';
import type { World } from '../frame/world.ts';
import { completeWords } from './complete-words.ts';

/** A shell waits for the answer, so it does not wait for long. */
const timeoutMs = 2_000;

/** Tells the shell not to complete names of files (a directive of cobra, which kubectl uses). */
const noFiles = ':4';

/** Lines for a shell: a candidate each, a tab, and its description. Candidates that cannot be looked up are left out. */
export async function complete(program: Command, words: readonly string[], world: World): Promise<string> {
  const { words: fixed, names, before } = completeWords(program, words);
  const found = names === undefined ? [] : await lookUp(names, before, world).catch(() => []);
  const last = words.at(-1) ?? '';
  const lines = [...fixed, ...found.filter((name) => name.startsWith(last)).map((name) => [name, ''] as const)];
  return [...lines.map(([word, text]) => `${word}\t${text}`), noFiles, ''].join('\n');
}

async function lookUp(
  names: 'control planes' | 'datastores',
  before: readonly string[],
  world: World,
): Promise<readonly string[]> {
  const [kubeconfig, context] = [valueOf(before, '--kubeconfig'), valueOf(before, '--context')];
  const given = valueOf(before, '--namespace') ?? valueOf(before, '-n');
  await using management = await connectManagement(world, {
    timeout: timeoutMs,
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(given !== undefined && { namespace: given }),
  });
  const { cluster, namespace, signal } = management;
  const kinds: readonly KindRef[] = names === 'datastores' ? [dataStore] : [tenantControlPlane, stewardControlPlane];
  const lists = kinds.map((kind) => orNothing(cluster.list(kind, { namespace, signal, metadataOnly: true })));
  const items = (await Promise.all(lists)).flatMap((list) => list.items);
  return [...new Set(items.map(({ metadata }) => metadata.name))].sort();
}

function valueOf(words: readonly string[], option: string): string | undefined {
  const at = words.lastIndexOf(option);
  return at === -1 ? words.find((word) => word.startsWith(`${option}=`))?.slice(option.length + 1) : words[at + 1];
}
