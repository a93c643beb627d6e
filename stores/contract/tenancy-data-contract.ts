import { afterAll, beforeAll, describe } from '@jest/globals';
import type { TenancyContent } from '../driver.ts';
import { testDataCounting } from './data-counting.ts';
import { testDataFence } from './data-fence.ts';
import { testDataKeys } from './data-keys.ts';
import { testDataReading } from './data-reading.ts';
import { testDataWriters } from './data-writers.ts';
import { testDataWriting } from './data-writing.ts';
import type { TenancyData } from '../tenancy-data.ts';

/** A value with its resource version. */
export interface VersionedValue {
  readonly value: Uint8Array;
  /** The revision that wrote it. */
  readonly revision: bigint;
}

/** What became of an update with a resource version. */
export type Replacement =
  | { readonly is: 'done'; readonly revision: bigint }
  /** The key has another version. `found` is what the refusal showed; absent if it showed nothing. */
  | { readonly is: 'conflict'; readonly found?: { readonly version: VersionedValue | undefined } };

/** What a tenant's API server does to its store, with the tenant's own credentials; keys are below the tenant's root. */
export interface ApiServerHand extends AsyncDisposable {
  /** Creates or updates, and says which revision that made. Rejects when the store refuses. */
  put(key: string, value: Uint8Array, ttlSeconds?: number): Promise<bigint>;
  /** Rejects when the store refuses; succeeds if there is nothing to delete. */
  delete(key: string): Promise<void>;
  get(key: string): Promise<Uint8Array | undefined>;
  getVersion(key: string): Promise<VersionedValue | undefined>;
  /** Updates, or deletes without a value, only that version; creates for version 0. Rejects when the store refuses. */
  replace(key: string, revision: bigint, value: Uint8Array | undefined): Promise<Replacement>;
}

/** A tenancy that was made for one test. */
export interface DataTenant extends AsyncDisposable {
  readonly data: TenancyData;
  /** A connection that stays open: etcd's own, or that of a kine that runs. */
  readonly hand: ApiServerHand;
  /** With what the store begins each key: `/registry/` behind kine. */
  readonly root: string;
  /** A new connection with the same credentials: etcd's, or that of a kine that is started now. */
  anotherHand(): Promise<ApiServerHand>;
  /** The data over another administrative connection, as another process has it. */
  anotherData(): Promise<TenancyData>;
  /** What a reconcile does: `Session.ensure` of the tenancy. */
  ensure(): Promise<void>;
  /** What `Session.measure` finds. */
  content(): Promise<TenancyContent>;
  /** What `Session.countWrites` finds. */
  writes(): Promise<number>;
  /** Forgets all that was overwritten or deleted up to now, as the server or kine does from time to time. */
  compact(): Promise<void>;
  /**
   * Differences of this kind of datastore that the tests expect: it never forgets the last change of a key; its kine expires a key only
   * if it wrote the key itself; its kine answers reads from what its watch has received so far; or its kine deletes a key with two writes.
   */
  readonly peculiarities?: readonly (
    'keeps changes' | 'keeps what others wrote' | 'reads lag' | 'deletes with two writes'
  )[];
}

/** A real server that gives tenancies. */
export interface DataUnderTest extends AsyncDisposable {
  tenant(): Promise<DataTenant>;
}

/** What the data of a tenancy must do in every driver, against a real server. `start` is called once. */
export function describeTenancyData(title: string, start: () => Promise<DataUnderTest>): void {
  describe(`the data of a tenancy in ${title}`, () => {
    let store: DataUnderTest | undefined;
    const tenant = async (): Promise<DataTenant> => {
      if (store === undefined) throw new Error(`${title} was not started`);
      return store.tenant();
    };

    beforeAll(async () => {
      store = await start();
    }, 120_000);
    afterAll(async () => {
      await store?.[Symbol.asyncDispose]();
    });

    testDataCounting(tenant);
    testDataReading(tenant);
    testDataKeys(tenant);
    testDataWriting(title, tenant);
    testDataWriters(tenant);
    testDataFence(title, tenant);
  });
}
