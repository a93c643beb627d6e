import { afterAll, beforeAll, describe } from '@jest/globals';
import { testConnection } from './connection.ts';
import { testIsolation } from './isolation.ts';
import { testNames } from './names.ts';
import { testOwnership } from './ownership.ts';
import { Stage } from './stage.ts';
import { testMeasuring } from './measuring.ts';
import { testVerification } from './verification.ts';
import { testTenancies } from './tenancies.ts';
import type { Driver, Tenancy, Tenant } from '../driver.ts';

/** A mistake of an administrator, or of this driver, that lets a tenant out: the attacks must find it. */
export interface PlantedFault {
  readonly name: string;
  /** Only attempts find it that the product does not make, because they would harm others; false by default. */
  readonly unverified?: boolean;
  /** Changes the server so that `attacker` reaches something that it must not, and nothing that other tests rely on. */
  plant(attacker: Tenant, victim: Tenant): Promise<void>;
}

/** An administrator whose credentials can be changed. */
export interface RotatingAdministrator<Config> {
  readonly config: Config;
  /** New credentials; from then on the server refuses new connections with the old ones. */
  rotate(): Promise<Config>;
}

/** What a server holds by name, exactly as it has it. */
export interface NamesOfServer {
  /** Databases, buckets; roles in etcd. */
  readonly schemas: readonly string[];
  /** Logins or accounts. */
  readonly users: readonly string[];
}

/** A real server of one kind, as the contract needs it. */
export interface StoreUnderTest<Config> extends AsyncDisposable {
  readonly driver: Driver<Config>;
  readonly config: Config;
  /** At least the mistakes that this kind of store is known for. `ensure` of both tenancies must repair each. */
  readonly plantedFaults: readonly PlantedFault[];
  /** Everything the server holds: keys with values, users, roles, grants; one line each, sorted. No passwords. */
  dump(): Promise<readonly string[]>;
  names(): Promise<NamesOfServer>;
  /** States a crash in the middle of `ensure` may leave, in order. */
  readonly halfMade: readonly { readonly name: string; make(tenancy: Tenancy): Promise<void> }[];
  /** Makes the tenancy as a tool would that records no owner. */
  makeUnrecorded(tenancy: Tenancy): Promise<void>;
  /** Configurations that cannot work, each with the reason expected. */
  unusable(): Promise<readonly { readonly name: string; readonly config: Config; readonly reason: string }[]>;
  /** The same datastore with an additional first endpoint where no server listens. */
  withDeadEndpoint(): Config;
  /** One more administrator, beside that of `config`. */
  rotatingAdministrator(): Promise<RotatingAdministrator<Config>>;
}

/**
 * The contract of every driver, tested against a real server. `start` is called once; the datastore is disposed of at the
 * end. `title` is also the name in the output about attempts and breaches; on a slower machine, limits of time are multiplied by
 * `slowness`.
 */
export function describeDriver<Config>(
  title: string,
  start: () => Promise<StoreUnderTest<Config>>,
  slowness = 1,
): void {
  describe(`the driver of ${title}`, () => {
    let stage: Stage<Config> | undefined;
    const started = (): Stage<Config> => {
      if (stage === undefined) throw new Error(`${title} was not started`);
      return stage;
    };

    beforeAll(async () => {
      stage = await Stage.open(title, await start());
    }, 120_000);
    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
    });

    testConnection(started, slowness);
    testTenancies(started);
    testMeasuring(started);
    testOwnership(started);
    testNames(started);
    testIsolation(started);
    testVerification(started, slowness);
  });
}
