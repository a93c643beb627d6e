import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { kinds } from '../../../api/core/kinds.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { tenantObjects } from '../../../api/names.ts';
import { awaitedRestore } from '../../../api/steward/v1alpha1/backup/restore-mark.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { choosesNames } from '../datastore/tenancy.ts';
import { fieldManager } from '../dependencies.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import type { EncryptionFacts, EncryptionTrouble } from './encryption-facts.ts';
import { keyBytes, offeredKey } from './encryption-key.ts';
import { kmsContainersOf } from './encryption-pod.ts';
import { configurationKey, encryptionSecret, readEncryptionSecret, storedAfter } from './encryption-secret.ts';
import type { StoredEncryption } from './encryption-secret.ts';
import { noEncryption } from './encryption-state.ts';
import type { WantedEncryption } from './encryption-state.ts';
import { nextState } from './next-state.ts';
import { keyEntry, providerId } from './provider.ts';
import { additionalContainerNames, ownConfiguration } from './validate-encryption.ts';
import { wantedEncryption } from './wanted-encryption.ts';

/** How soon a Secret of the author, which no watch reports, is read again, in milliseconds. */
const lookAgainMs = 10_000;

/**
 * True while there cannot be any data: nothing of the tenant exists, and no other one had its names in the datastore. From then on the
 * Secret records it, until there is a key.
 */
function isNew({ tcp, observed, versions }: Readonly<Scope>): boolean {
  const { storage, encryption } = tcp.status ?? {};
  return (
    observed.deployment === undefined &&
    versions.installed === undefined &&
    !observed.secrets.has(tenantObjects(tcp.metadata.name).ca) &&
    storage?.setup === undefined &&
    storage?.owner === undefined &&
    encryption === undefined &&
    !choosesNames(tcp)
  );
}

function lost({ tcp, observed }: Readonly<Scope>): Outcome<Scope> {
  const name = tenantObjects(tcp.metadata.name).encryption;
  const is = observed.secrets.has(name) ? 'is damaged' : 'is missing';
  const message = `Secret ${name}, which holds the keys of the tenant's encrypted data, ${is}: restore it from a backup; running pods are left alone`;
  return { is: 'waiting', reason: 'EncryptionKeysLost', message, afterMs: lookAgainMs };
}

/** The facts of what is stored; nothing is encrypted before. */
function factsOf(stored: StoredEncryption | undefined, trouble?: EncryptionTrouble): EncryptionFacts {
  const state = stored?.state ?? noEncryption;
  const key = configurationKey(state.revision);
  const configuration = stored?.configurations[key];
  const isUsed = state.resources.length > 0 && configuration !== undefined;
  return {
    state,
    // Pods of a revision with the same content are still different ones: they have requested the key of a plugin.
    ...(isUsed && { checksum: checksum({ [key]: configuration }) }),
    ...(trouble !== undefined && { trouble }),
  };
}

const learn = (facts: EncryptionFacts, afterMs?: number): Outcome<Scope> => ({
  is: 'done',
  learned: { encryption: facts },
  ...(afterMs !== undefined && { afterMs }),
});

/** Why a plugin cannot be used: the container that serves it is not in the pods. */
function withoutPlugin({ tcp }: Readonly<Scope>, containers: readonly string[]): EncryptionTrouble | undefined {
  const known = additionalContainerNames(tcp);
  const missing = containers.find((name) => !known.includes(name));
  if (missing === undefined) return undefined;
  const message = `container ${missing} is not among the additional containers, but stored data depends on its plugin: add it to spec.controlPlane.deployment.additionalContainers or additionalInitContainers`;
  return { reason: 'EncryptionKeyUnusable', message };
}

/** The keys with that of the wanted provider, or why there is none. A key that is in use is never replaced. */
async function keysFor(
  { writer }: WantedEncryption,
  stored: StoredEncryption | undefined,
  { scope, deps, ctx }: { readonly scope: Readonly<Scope>; readonly deps: Dependencies; readonly ctx: Context },
): Promise<{ readonly keys: ReadonlyMap<string, string> } | { readonly trouble: EncryptionTrouble }> {
  const keys = new Map(stored?.keys);
  const id = providerId(writer);
  const { keySecret } = scope.tcp.spec.kubernetes.encryption ?? {};
  if (keyEntry(writer) === undefined) return { keys };
  if (keySecret === undefined)
    return { keys: keys.has(id) ? keys : keys.set(id, randomBytes(keyBytes).toString('base64')) };
  const { namespace } = scope.tcp.metadata;
  const secret = await deps.cluster.get(kinds.Secret, { namespace, name: keySecret.name }, { signal: ctx.signal });
  const present = keys.get(id);
  const offered = offeredKey(secret, keySecret);
  // The key was copied: its Secret is no longer needed.
  if (!('key' in offered)) return present === undefined ? { trouble: offered } : { keys };
  if (present === undefined || present === offered.key) return { keys: keys.set(id, offered.key) };
  const message = `the key ${keySecret.key} in Secret ${keySecret.name} has another value than before, which is not used: give a new key a new name`;
  return { trouble: { reason: 'EncryptionKeyUnusable', message } };
}

/** What has to be decided upon. */
interface Run {
  readonly scope: Readonly<Scope>;
  readonly deps: Dependencies;
  readonly ctx: Context;
  readonly wanted: WantedEncryption;
  /** Absent when the tenant has no Secret for it yet. */
  readonly stored: StoredEncryption | undefined;
}

/** Leaves what is in place, because the wanted provider cannot be used. A tenant without data starts only with it. */
async function stay(run: Run, trouble: EncryptionTrouble, isNewTenant: boolean): Promise<Outcome<Scope>> {
  const { scope, deps, ctx, stored, wanted } = run;
  if (!isNewTenant) return learn(factsOf(stored, trouble), lookAgainMs);
  const state = { ...noEncryption, generation: wanted.generation, isNew: true };
  if (stored === undefined) await store(scope, { state, keys: new Map(), configurations: {} }, deps, ctx);
  return { is: 'waiting', ...trouble, afterMs: lookAgainMs };
}

/** Goes one step on the way to what is wanted, as far as the pods and the objects are. */
async function advance(run: Run): Promise<Outcome<Scope>> {
  const { scope, deps, ctx, wanted, stored } = run;
  const before = stored?.state ?? { ...noEncryption, generation: wanted.generation, isNew: isNew(scope) };
  const plugin = wanted.writer.kind === 'kms' ? withoutPlugin(scope, [wanted.writer.container]) : undefined;
  const found = plugin === undefined ? await keysFor(wanted, stored, { scope, deps, ctx }) : { trouble: plugin };
  if ('trouble' in found) return stay(run, found.trouble, before.isNew);
  const record = scope.tcp.status?.encryption;
  const isCurrent = record?.revision === before.revision;
  const distributed = isCurrent && record.distributed;
  const state = nextState(before, wanted, { distributed, rewritten: isCurrent && record.rewritten === true });
  const after = storedAfter(stored, { state, keys: found.keys, distributed });
  if (!isDeepStrictEqual(after, stored)) await store(scope, after, deps, ctx);
  return learn(factsOf(after));
}

/**
 * Decides what API servers write and read with from now on, and stores that with the keys before pods can use it. Each reconcile makes one
 * step at most; what the previous one found out about the pods and the objects is in the status.
 */
export async function encryption(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const restore = awaitedRestore(tcp);
  // The keys of the backup come first: a control plane that has others could not read its data.
  if (restore !== undefined) {
    const message = `waiting for TenantRestore ${restore} to restore keys and data: no pod starts before`;
    return { is: 'waiting', reason: 'WaitingForRestore', message };
  }
  const secret = observed.secrets.get(tenantObjects(tcp.metadata.name).encryption);
  const wanted = wantedEncryption(tcp.spec.kubernetes.encryption);
  const hadKeys = (tcp.status?.encryption?.resources.length ?? 0) > 0;
  if (secret === undefined && !hadKeys && wanted.resources.length === 0) return { is: 'done' };
  const stored = secret === undefined ? undefined : readEncryptionSecret(secret);
  if (stored === undefined && (secret !== undefined || hadKeys)) return lost(scope);
  const [conflict] = ownConfiguration(tcp);
  if (conflict !== undefined) throw new InvalidInputError(conflict);
  const missing = withoutPlugin(scope, kmsContainersOf(stored?.state ?? noEncryption));
  if (missing !== undefined) return { is: 'waiting', ...missing };
  // A migration copies data as it is stored, and rolls pods out in steps of its own.
  if (isUnderWay(tcp.status?.storage?.migration)) return learn(factsOf(stored));
  return advance({ scope, deps, ctx, wanted, stored });
}

/** Stores keys and state, unless they were changed since they were read. */
async function store(
  { tcp, observed }: Readonly<Scope>,
  stored: StoredEncryption,
  deps: Dependencies,
  { signal }: Context,
): Promise<void> {
  const manifest = encryptionSecret(tcp, stored);
  const { namespace = '', name } = manifest.metadata;
  const present = observed.secrets.get(name);
  if (present === undefined) {
    await deps.cluster.create<Secret>(kinds.Secret, manifest, { fieldManager, signal });
    return;
  }
  const { data } = manifest as unknown as Required<Pick<Secret, 'data'>>;
  const gone = Object.keys(present.data ?? {}).filter((key) => data[key] === undefined);
  const body = {
    metadata: { annotations: manifest.metadata.annotations, resourceVersion: present.metadata.resourceVersion },
    data: { ...data, ...Object.fromEntries(gone.map((key) => [key, null])) },
  };
  await deps.cluster.patch(kinds.Secret, { namespace, name }, { type: 'merge', body }, { fieldManager, signal });
}
