import type { Driver, Session } from '../../../stores/driver.ts';

/** Everything succeeds: a plan assumes that the datastore works, and what it says otherwise is in the DataStore's status. */
const session: Session = {
  ping: () => Promise.resolve({ version: 'assumed', supported: true, floor: '' }),
  ensure: () => Promise.resolve(),
  remove: () => Promise.resolve(),
  revoke: () => Promise.resolve(),
  measure: () => Promise.resolve(undefined),
  countWrites: () => Promise.resolve(undefined),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

/** The driver without its connections: it binds and configures, and opens nothing. */
export function assumedDriver(driver: Driver): Driver {
  return { ...driver, open: () => Promise.resolve(session) };
}
