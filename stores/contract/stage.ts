import { expect } from '@jest/globals';
import type { IsolationProbe, Session, Tenancy, Tenant, TenantHand } from '../driver.ts';
import type { StoreUnderTest } from './driver-contract.ts';
import { tenancyIdentifier } from '../tenancy-names.ts';

/** A store under test with an open session, and the moves that its tests are made of. */
export class Stage<Config> implements AsyncDisposable {
  readonly title: string;
  readonly store: StoreUnderTest<Config>;
  readonly session: Session;
  readonly probe: IsolationProbe<Config>;
  #count = 0;

  private constructor(
    title: string,
    store: StoreUnderTest<Config>,
    opened: { readonly session: Session; readonly probe: IsolationProbe<Config> },
  ) {
    this.title = title;
    this.store = store;
    this.session = opened.session;
    this.probe = opened.probe;
  }

  /** Opens the administrative session of a store that was started. */
  static async open<Config>(title: string, store: StoreUnderTest<Config>): Promise<Stage<Config>> {
    const { driver, config } = store;
    const session = await driver.open(config, new AbortController().signal);
    return new Stage(title, store, { session, probe: await driver.isolation() });
  }

  /** Another administrative session; the caller disposes of it. */
  open(config: Config): Promise<Session> {
    return this.store.driver.open(config, new AbortController().signal);
  }

  /** A tenancy with names of its own, not made yet. */
  newTenancy(over: Partial<Tenancy> = {}): Tenancy {
    this.#count += 1;
    const owner = `00000000-0000-4000-8000-${String(this.#count).padStart(12, '0')}`;
    const name = tenancyIdentifier(owner);
    return { schema: name, user: name, owner, ...this.password('first'), ...over };
  }

  /** The password of a tenancy, where the driver has passwords: as long as one may be, with every kind of character. */
  password(which: string): Pick<Tenancy, 'password'> {
    if (!this.store.driver.capabilities.passwords) return {};
    return { password: `Pw_${which}-${this.#count}_`.padEnd(64, '0aZ_-') };
  }

  /** The tenant of an existing tenancy, with new credentials. */
  async tenant(tenancy: Tenancy): Promise<Tenant> {
    const tls = await this.store.driver.clientTls(this.store.config, tenancy, undefined, new Date());
    return { tenancy, tls };
  }

  /** Makes a tenancy. */
  async settle(tenancy = this.newTenancy()): Promise<Tenant> {
    await this.session.ensure(tenancy);
    return this.tenant(tenancy);
  }

  /** Connects with a tenant's credentials only. */
  connect(tenant: Tenant): Promise<TenantHand> {
    return this.probe.connect(this.store.config, tenant);
  }

  /** Writes and reads as the tenant. */
  async use(tenant: Tenant, value: string): Promise<void> {
    await using hand = await this.connect(tenant);
    await hand.write('a', value);
    expect(await hand.read('a')).toBe(value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.session[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}
