import { kinds } from '../../api/core/kinds.ts';
import type { Secret } from '../../api/core/kinds.ts';
import { labels, project } from '../../api/names.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { Logger } from '../../runtime/observe/logger.ts';

/** Texts of a Secret, by key. */
export type SecretTexts = Readonly<Record<string, string>>;

/** Secrets by name. */
export type Secrets = ReadonlyMap<string, SecretTexts>;

/** Where the Secrets of a quick-start store are written. */
export interface SecretsTarget {
  readonly namespace: string;
  /** Value of their label `app.kubernetes.io/name`: the store's. */
  readonly store: string;
  readonly cluster: Pick<Cluster, 'get' | 'create' | 'patch'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Computes the wanted Secrets from the current ones; valid content stays as it is, so that a second run changes nothing. */
export type WantedSecrets = (current: Secrets, now: Date) => Promise<Secrets>;

const collisions = 5;

/**
 * Creates or updates the Secrets with these names where content is missing or must be renewed, and returns their content. It may be
 * repeated, interrupted at any point and run concurrently. Throws what `wanted` throws, and `ApiError`.
 */
export async function writeSecrets(
  target: SecretsTarget,
  names: readonly string[],
  wanted: WantedSecrets,
): Promise<Secrets> {
  for (let left = collisions; ; left -= 1) {
    try {
      return await writeOnce(target, names, wanted);
    } catch (error) {
      // Another run was faster with one of them: its result is used.
      const collided = error instanceof ApiError && error.code === 409;
      if (!collided || left === 0) throw error;
    }
  }
}

async function writeOnce(target: SecretsTarget, names: readonly string[], wanted: WantedSecrets): Promise<Secrets> {
  const { namespace, cluster, clock, log, signal } = target;
  const found = new Map<string, Secret>();
  for (const name of names) {
    const secret = await cluster.get(kinds.Secret, { namespace, name }, { signal });
    if (secret !== undefined) found.set(name, secret);
  }
  const current = new Map([...found].map(([name, secret]) => [name, decoded(secret)]));
  const secrets = await wanted(current, clock.now());
  for (const [name, texts] of secrets) {
    const before = found.get(name);
    if (before === undefined) {
      await cluster.create(kinds.Secret, manifest(target, name, texts), { signal });
      log.info('Secret created', { secret: `${namespace}/${name}` });
    } else if (JSON.stringify(sorted(texts)) !== JSON.stringify(sorted(pick(current.get(name) ?? {}, texts)))) {
      const metadata = { resourceVersion: before.metadata.resourceVersion };
      const body = { metadata, data: encoded(texts) };
      await cluster.patch(kinds.Secret, { namespace, name }, { type: 'merge', body }, { signal });
      log.info('Secret renewed', { secret: `${namespace}/${name}` });
    }
  }
  return secrets;
}

function manifest({ namespace, store }: SecretsTarget, name: string, texts: SecretTexts) {
  const meta = { name, namespace, labels: { [labels.project]: project, 'app.kubernetes.io/name': store } };
  return { apiVersion: 'v1', kind: 'Secret', metadata: meta, type: 'Opaque', data: encoded(texts) };
}

function encoded(texts: SecretTexts): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
}

function decoded({ data }: Secret): SecretTexts {
  return Object.fromEntries(
    Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}

function pick(texts: SecretTexts, keys: SecretTexts): SecretTexts {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => key in keys));
}

function sorted(texts: SecretTexts): readonly (readonly [string, string])[] {
  return Object.entries(texts).sort(([left], [right]) => (left < right ? -1 : 1));
}
