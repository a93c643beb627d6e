import { createHash } from 'node:crypto';
import type { StoreTls } from '../store-tls.ts';

/** Each tenant in an account of its own, which an operator's key signs. */
export interface AccountAccess {
  readonly mode: 'accounts';
  /** Seed of an operator or of its signing key. */
  readonly operatorSeed: string;
  /** Credentials file of a user of the system account. */
  readonly systemCredentials: string;
  /** Copies of each tenant's data. */
  readonly replicas: number;
  /** What a tenant may store. */
  readonly bytesPerTenant: number;
}

/** One user and password, or only a client certificate, for the manager and the single tenant of such a datastore. */
export interface LoginAccess {
  readonly mode: 'login';
  readonly user?: string;
  readonly password?: string;
}

/** A DataStore of driver NATS with its credentials resolved and checked. Never logged. */
export interface NatsConfig {
  /** `host:port`, in the DataStore's order. */
  readonly endpoints: readonly string[];
  /** Absent: the servers use no TLS. */
  readonly tls?: StoreTls;
  readonly access: AccountAccess | LoginAccess;
}

/** SHA-256, in hex, over everything in the config. */
export function natsChecksum({ endpoints, tls, access }: NatsConfig): string {
  const pairs = [tls?.client, tls?.signer].map((pair) => [pair?.certificate ?? null, pair?.key ?? null]);
  const inside =
    access.mode === 'login'
      ? [access.user ?? null, access.password ?? null]
      : [access.operatorSeed, access.systemCredentials, access.replicas, access.bytesPerTenant];
  const parts = [endpoints, tls?.ca ?? null, pairs, access.mode, inside];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
