import type library from '@jest/test-sequencer';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';

// Its types are those of a CommonJS module only.
const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer') as typeof library;

const root = join(import.meta.dirname, '..');

type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0];

/**
 * The files that take longest, in seconds as they once took beside each other on two processors. One that begins last has the other
 * worker wait for it, and jest knows on a new clone only how long a file is, not how long it takes.
 */
const seconds: ReadonlyMap<string, number> = new Map([
  ['e2e/scenarios/datastores.test.ts', 426],
  ['e2e/scenarios/cluster-stacks.test.ts', 422],
  ['e2e/scenarios/rollouts.test.ts', 346],
  ['e2e/scenarios/workers.test.ts', 260],
  ['e2e/scenarios/topology.test.ts', 252],
  ['e2e/scenarios/cluster-api.test.ts', 226],
  ['e2e/scenarios/tenant-faults.test.ts', 214],
  ['e2e/scenarios/rotation.test.ts', 198],
  ['e2e/scenarios/migration.test.ts', 190],
  ['e2e/scenarios/manager-restart.test.ts', 182],
  ['e2e/scenarios/exposure.test.ts', 179],
  ['e2e/scenarios/external.test.ts', 175],
  ['e2e/scenarios/oldest-minor.test.ts', 119],
  ['e2e/scenarios/hostile-ports.test.ts', 150],
  ['e2e/scenarios/tenants.test.ts', 116],
  ['e2e/scenarios/clusterctl-upgrade.test.ts', 103],
  ['stores/nats/nats-data.contract.test.ts', 121],
  ['stores/nats/nats.contract.test.ts', 116],
  ['stores/postgres/postgres.contract.test.ts', 93],
  ['stores/migration/migrate-sql.contract.test.ts', 82],
  ['stores/nats/nats-servers.contract.test.ts', 67],
  ['stores/migration/migrate-etcd.contract.test.ts', 55],
  ['stores/etcd/etcd.contract.test.ts', 48],
  ['testing/templates.api.test.ts', 76],
  ['controllers/tenantcontrolplane/tenant-control-plane.api.test.ts', 70],
  ['cmd/migration/migration-crash.test.ts', 38],
  ['cmd/hand-over.test.ts', 34],
  ['controllers/tenantcontrolplane/overrides-crash.test.ts', 30],
  ['controllers/tenantcontrolplane/re-exposure.test.ts', 29],
  ['controllers/tenantcontrolplane/rotation-crash.test.ts', 21],
]);

/** Has jest begin with what takes longest; what is not known to take long comes after it, in jest's own order. */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default class LongestFirst extends Sequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const known = ({ path }: Tests[number]): number => seconds.get(relative(root, path)) ?? 0;
    return (await super.sort(tests)).toSorted((a, b) => known(b) - known(a));
  }
}
