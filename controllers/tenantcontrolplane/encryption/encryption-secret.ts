import type { Secret } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { secret, secretText } from '../shared/secret.ts';
import { encryptionConfiguration } from './encryption-configuration.ts';
import type { EncryptionKeys } from './encryption-configuration.ts';
import { providersOf } from './encryption-state.ts';
import type { EncryptionState } from './encryption-state.ts';
import { keyEntry, providerId } from './provider.ts';

/** Value of the component label on the Secret, and the name of its checksum on pods. */
export const encryptionComponent = 'encryption';

const stateKey = 'state.json';
const configurationPrefix = 'configuration-';

/** The key of the Secret's data with the configuration of one revision. */
export const configurationKey = (revision: number): string => `${configurationPrefix}${revision}.json`;

/** What the Secret holds. */
export interface StoredEncryption {
  readonly state: EncryptionState;
  readonly keys: EncryptionKeys;
  /** The configurations that pods may use, by the keys of the Secret's data. */
  readonly configurations: Readonly<Record<string, string>>;
}

/** How many configurations are stored: pods whose rollout failed still read theirs when a container restarts. */
const storedConfigurations = 8;

/**
 * What the Secret is to hold after `before`. Once all pods have the present revision, only the configuration of that one is left of the
 * earlier ones; keys that no provider needs are gone.
 */
export function storedAfter(
  before: StoredEncryption | undefined,
  after: { readonly state: EncryptionState; readonly keys: EncryptionKeys; readonly distributed: boolean },
): StoredEncryption {
  const { state, keys, distributed } = after;
  const needed = new Set(providersOf(state).map(providerId));
  const kept = new Map([...keys].filter(([id]) => needed.has(id)));
  const revisionOf = (key: string): number => Number.parseInt(key.slice(configurationPrefix.length), 10);
  const older = Object.entries(before?.configurations ?? {})
    .filter(([key]) => !distributed || revisionOf(key) === before?.state.revision)
    .sort(([a], [b]) => revisionOf(b) - revisionOf(a));
  const present = encryptionConfiguration(state, kept);
  const all = [...(present === undefined ? [] : [[configurationKey(state.revision), present] as const]), ...older];
  return { state, keys: kept, configurations: Object.fromEntries(all.toReversed().slice(-storedConfigurations)) };
}

/** The Secret with keys, configurations and state; it is part of every backup of the tenant. */
export function encryptionSecret(tcp: TenantControlPlane, { state, keys, configurations }: StoredEncryption): Manifest {
  const entries = providersOf(state).flatMap((provider) => {
    const [entry, key] = [keyEntry(provider), keys.get(providerId(provider))];
    return entry === undefined || key === undefined ? [] : [[entry, key] as const];
  });
  return secret(tcp, {
    name: tenantObjects(tcp.metadata.name).encryption,
    component: encryptionComponent,
    data: { [stateKey]: JSON.stringify(state), ...configurations, ...Object.fromEntries(entries) },
  });
}

/** What a Secret holds; undefined when it is damaged. Only Steward writes it. */
export function readEncryptionSecret({ data }: Secret): StoredEncryption | undefined {
  const text = secretText(data);
  try {
    const state = JSON.parse(text[stateKey] ?? '') as EncryptionState;
    const keys = new Map(
      providersOf(state).flatMap((provider) => {
        const entry = keyEntry(provider);
        return entry === undefined ? [] : [[providerId(provider), text[entry] ?? ''] as const];
      }),
    );
    if ([...keys.values()].includes('')) return undefined;
    const configurations = Object.entries(text).filter(([key]) => key.startsWith(configurationPrefix));
    return { state, keys, configurations: Object.fromEntries(configurations) };
  } catch {
    // Not JSON, or not a state.
    return undefined;
  }
}
