import type { StoreUnderTest } from '../../../../stores/contract/driver-contract.ts';
import { cockroachDriver } from '../../../../stores/cockroachdb/driver.ts';
import type { LoginConfig } from '../../../../stores/login-config.ts';

const missing = (what: string): Promise<never> =>
  Promise.reject(new Error(`CockroachDB under test: ${what} is not implemented`));
const nowhere = { name: 'localhost:1', host: 'localhost', port: 1 };
const config: LoginConfig = { endpoints: [nowhere], username: 'root', password: 'hidden' };

/** No server yet: what the contract asks of one fails by name, so that nothing passes for want of a question. */
export const cockroachUnderTest: StoreUnderTest<LoginConfig> = {
  driver: cockroachDriver,
  config,
  plantedFaults: [{ name: 'a grant to PUBLIC', plant: () => missing('a planted fault') }],
  dump: () => missing('the dump'),
  names: () => missing('the list of names'),
  halfMade: [{ name: 'a database without a user', make: () => missing('a half-made tenancy') }],
  makeUnrecorded: () => missing('an unrecorded tenancy'),
  unusable: () => missing('the list of unusable configurations'),
  withDeadEndpoint: () => config,
  rotatingAdministrator: () => missing('a second administrator'),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
