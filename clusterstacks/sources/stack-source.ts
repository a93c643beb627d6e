import { posix } from 'node:path';
import type { ClusterStack } from '../api/cluster-stack.ts';
import type { ClusterStackSource } from '../api/cluster-stack-source.ts';
import type { Secret } from '../../api/core/kinds.ts';
import type { Key } from '../../api/meta.ts';
import type { SourceAddress } from './asset-store.ts';

/** The manager's own configuration of sources. */
export interface ManagerSource {
  readonly address?: SourceAddress;
  /** The folder that contains sources of type directory; without it there are none. */
  readonly folder?: string;
}

/** The source of a stack, or why there is none: a reason of the condition AssetsClientAPIAvailable. */
export type FoundSource =
  | { readonly address: SourceAddress }
  | {
      readonly reason: 'NoSource' | 'CredentialsMissing' | 'FailedCreateAssetsClient';
      readonly message: string;
    };

type ReadSecret = (key: Key) => Promise<Secret | undefined>;

/**
 * Where the releases of a stack are, with its credentials. The manager's credentials are only used for the manager's own source,
 * never for one that a ClusterStack names. Without a stack, it is the manager's source.
 */
export async function sourceOf(
  stack: Pick<ClusterStack, 'metadata' | 'spec'> | undefined,
  manager: ManagerSource,
  read: ReadSecret,
): Promise<FoundSource> {
  const source = stack?.spec.source;
  if (source === undefined) {
    if (manager.address !== undefined) return { address: manager.address };
    return {
      reason: 'NoSource',
      message:
        'spec.source is not set and the manager has no source of its own: set spec.source, or OCI_REPOSITORY in the manager’s environment',
    };
  }
  if (source.type === 'directory') return directoryOf(source, manager);
  const { namespace = '' } = stack?.metadata ?? {};
  const secrets = new SecretValues((name) => read({ namespace, name }));
  try {
    return { address: await remoteOf(source, secrets) };
  } catch (error) {
    if (error instanceof MissingValue) return { reason: 'CredentialsMissing', message: error.message };
    throw error;
  }
}

function directoryOf({ repository = '' }: ClusterStackSource, { folder = '' }: ManagerSource): FoundSource {
  const refused = (message: string): FoundSource => ({ reason: 'FailedCreateAssetsClient', message });
  if (folder === '') {
    return refused(
      'spec.source.type is directory, but the manager has no folder for sources: start it with --cluster-stacks-folder',
    );
  }
  const path = posix.join(folder, repository);
  if (path === folder || path.startsWith(`${folder.replace(/\/$/, '')}/`))
    return { address: { type: 'directory', path } };
  return refused(
    `spec.source.repository is "${repository}", which is outside the manager’s folder: use a folder below it`,
  );
}

async function remoteOf(source: ClusterStackSource, secrets: SecretValues): Promise<SourceAddress> {
  const { repository = '', credentialsSecretRef, caSecretRef } = source;
  const secret = credentialsSecretRef && (await secrets.of('credentialsSecretRef', credentialsSecretRef.name));
  const token = secret?.find('token');
  if (source.type === 'github') {
    if (secret !== undefined && token === undefined) throw secret.lacks('token');
    return { type: 'github', repository, token };
  }
  const authority = caSecretRef && (await secrets.of('caSecretRef', caSecretRef.name)).need('ca.crt');
  const credentials =
    secret === undefined
      ? undefined
      : token === undefined
        ? { username: secret.need('username'), password: secret.need('password') }
        : { token };
  return {
    type: 'oci',
    repository,
    ...(source.plainHTTP && { plainHttp: true }),
    certificateAuthority: authority,
    credentials,
  };
}

/** A Secret, or one of its keys, does not exist. */
class MissingValue extends Error {}

class SecretValues {
  readonly #read: (name: string) => Promise<Secret | undefined>;

  constructor(read: (name: string) => Promise<Secret | undefined>) {
    this.#read = read;
  }

  async of(field: string, name: string): Promise<OneSecret> {
    const secret = await this.#read(name);
    if (secret !== undefined) return new OneSecret(field, secret);
    throw new MissingValue(
      `spec.source.${field} refers to Secret ${name}, which does not exist in this namespace: create it, or use another`,
    );
  }
}

class OneSecret {
  readonly #field: string;
  readonly #secret: Secret;

  constructor(field: string, secret: Secret) {
    this.#field = field;
    this.#secret = secret;
  }

  find(key: string): string | undefined {
    const value = this.#secret.data?.[key];
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
  }

  need(key: string): string {
    const value = this.find(key);
    if (value === undefined || value === '') throw this.lacks(key);
    return value;
  }

  lacks(key: string): MissingValue {
    const { name } = this.#secret.metadata;
    return new MissingValue(`Secret ${name} of spec.source.${this.#field} has no key ${key}: add it`);
  }
}
