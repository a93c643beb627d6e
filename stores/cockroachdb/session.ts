import type { Session, ServerState, Tenancy, TenancySize } from '../driver.ts';
import { notImplemented } from './not-implemented.ts';

/** The administrative connection. Every call fails by name. */
export class CockroachSession implements Session {
  ping(): Promise<ServerState> {
    return notImplemented('ping');
  }

  ensure({ schema }: Tenancy): Promise<void> {
    return notImplemented(`ensure of ${schema}`);
  }

  remove({ schema }: Tenancy): Promise<void> {
    return notImplemented(`remove of ${schema}`);
  }

  revoke({ schema }: Tenancy): Promise<void> {
    return notImplemented(`revoke of ${schema}`);
  }

  measure({ schema }: Tenancy): Promise<TenancySize | undefined> {
    return notImplemented(`measure of ${schema}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}
