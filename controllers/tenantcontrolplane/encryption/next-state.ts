import { isDeepStrictEqual } from 'node:util';
import type { EncryptedResource, EncryptionState, Reader, WantedEncryption } from './encryption-state.ts';
import { identity, providerId } from './provider.ts';
import type { Provider } from './provider.ts';

/** What was found out about the present revision. */
export interface Progress {
  /** True when all API servers have it. */
  readonly distributed: boolean;
  /** True when all objects were written again after that. */
  readonly rewritten: boolean;
}

const isSame = (one: Provider, other: Provider): boolean => providerId(one) === providerId(other);

/** The readers after what was found out: after a rewrite, nothing is stored with any but the first. */
function informed(readers: readonly Reader[], { distributed, rewritten }: Progress): readonly Reader[] {
  return readers.map((reader, index) => ({
    provider: reader.provider,
    everywhere: reader.everywhere || distributed,
    hasWritten: reader.hasWritten && !(rewritten && index > 0),
  }));
}

/**
 * The next readers on the way to `writer`. A provider writes only after every API server could read with it, and goes only when
 * nothing is stored with it: so whatever two neighboring configurations write, both can read, and a restart may get either.
 */
function towards(writer: Provider, readers: readonly Reader[]): readonly Reader[] {
  const needed = readers
    .filter(({ provider, hasWritten }, index) => index === 0 || hasWritten || isSame(provider, writer))
    .map((reader) => (isSame(reader.provider, writer) ? { ...reader, provider: writer } : reader));
  const known = needed.find(({ provider }) => isSame(provider, writer));
  if (known === undefined) return [...needed, { provider: writer, everywhere: false, hasWritten: false }];
  if (needed[0] === known || !known.everywhere) return needed;
  return [{ ...known, hasWritten: true }, ...needed.filter((reader) => reader !== known)];
}

const plainText: readonly Reader[] = [{ provider: identity, everywhere: true, hasWritten: true }];

function isPlain({ readers }: EncryptedResource): boolean {
  return readers.every(({ provider }) => provider.kind === 'identity');
}

/** What of the state is in the configuration of API servers. */
function configured({ resources }: EncryptionState): unknown {
  return resources.map(({ resource, readers }) => ({ resource, readers: readers.map(({ provider }) => provider) }));
}

/**
 * The next state on the way to what is wanted; the same configuration when the API servers, or a rewrite, must come first. May be
 * called at any moment, and with another spec each time.
 */
export function nextState(before: EncryptionState, wanted: WantedEncryption, progress: Progress): EncryptionState {
  const all = [...new Set([...before.resources.map(({ resource }) => resource), ...wanted.resources])].sort();
  const resources = all.map((resource): EncryptedResource => {
    const writer = wanted.resources.includes(resource) ? wanted.writer : identity;
    const present = before.resources.find((one) => one.resource === resource)?.readers;
    // Nothing is stored yet that could need another provider.
    if (before.isNew) return { resource, readers: [{ provider: writer, everywhere: true, hasWritten: true }] };
    return { resource, readers: towards(writer, informed(present ?? plainText, progress)) };
  });
  const regenerated = wanted.writer.kind === 'kms' && before.generation !== wanted.generation && !before.isNew;
  const after: EncryptionState = {
    ...before,
    generation: wanted.generation,
    rewrites: regenerated || (before.rewrites && !progress.rewritten),
    isNew: false,
    resources: resources.filter((one) => !isPlain(one)),
  };
  const isChanged = regenerated || !isDeepStrictEqual(configured(before), configured(after));
  return { ...after, revision: before.revision + (isChanged ? 1 : 0) };
}

/** The resources whose objects may be stored with another provider than the first one, which all of them must leave. */
export function staleResources({ resources, rewrites }: EncryptionState): readonly string[] {
  return resources
    .filter(({ readers }) => rewrites || readers.some(({ hasWritten }, index) => index > 0 && hasWritten))
    .map(({ resource }) => resource);
}

/** True when every resource is written as wanted; old objects may still be stored otherwise. */
export function writesAsWanted({ resources }: EncryptionState, wanted: WantedEncryption): boolean {
  const covered = new Set(resources.map(({ resource }) => resource));
  return (
    wanted.resources.every((resource) => covered.has(resource)) &&
    resources.every(({ resource, readers: [first] }) => {
      const writer = wanted.resources.includes(resource) ? wanted.writer : identity;
      return first !== undefined && isSame(first.provider, writer);
    })
  );
}
