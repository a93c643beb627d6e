import type { Provider } from './provider.ts';

/** A provider that API servers can read with. */
export interface Reader {
  readonly provider: Provider;
  /** True once every API server had it; it stays so until the provider is removed. */
  readonly everywhere: boolean;
  /** True when stored data may be encrypted with it. */
  readonly hasWritten: boolean;
}

/** The providers of a resource. The first one writes. */
export interface EncryptedResource {
  readonly resource: string;
  readonly readers: readonly Reader[];
}

/** The encryption of a tenant's data: what API servers write and read with. Resources that are not listed are plain text. */
export interface EncryptionState {
  /** Grows with each change of the configuration. */
  readonly revision: number;
  /** The number in the spec that is in effect. */
  readonly generation: number;
  /** True while all objects must be written again although no provider changes. */
  readonly rewrites: boolean;
  /** True for a tenant that has no data yet. */
  readonly isNew: boolean;
  readonly resources: readonly EncryptedResource[];
}

/** The encryption that the spec requests. */
export interface WantedEncryption {
  readonly resources: readonly string[];
  readonly writer: Provider;
  readonly generation: number;
}

/** Before there is any encryption. */
export const noEncryption: EncryptionState = {
  revision: 0,
  generation: 1,
  rewrites: false,
  isNew: false,
  resources: [],
};

/** Every provider in the state. */
export function providersOf({ resources }: EncryptionState): readonly Provider[] {
  return resources.flatMap(({ readers }) => readers.map(({ provider }) => provider));
}
