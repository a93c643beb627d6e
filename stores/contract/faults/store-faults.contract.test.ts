import { startBreakableEtcd } from '../../../testing/contracts/stores/etcd/breakable-store.ts';
import { startBreakableNats } from '../../../testing/contracts/stores/nats/breakable-store.ts';
import { startBreakablePostgres } from '../../../testing/contracts/stores/postgres/breakable-store.ts';
import { describeStoreFaults } from './store-faults-contract.ts';

const [etcd, nats, postgres] = ['etcd', 'NATS', 'PostgreSQL'];

/** Every store once, in both directions, and every moment. */
const short = [
  { from: etcd, to: nats, leaderOf: etcd, at: 'first page' },
  { from: nats, to: etcd, leaderOf: nats, at: 'after fence' },
] as const;

const others = [
  { from: etcd, to: nats, leaderOf: etcd, at: 'after fence' },
  { from: etcd, to: nats, leaderOf: nats, at: 'first write' },
  { from: etcd, to: nats, leaderOf: nats, at: 'before endWrites' },
  { from: nats, to: etcd, leaderOf: nats, at: 'first page' },
  { from: nats, to: etcd, leaderOf: etcd, at: 'first write' },
  { from: nats, to: etcd, leaderOf: etcd, at: 'before endWrites' },
] as const;

const isLong = process.env.STEWARD_CRASH_POINTS === 'all';

describeStoreFaults(
  { [etcd]: () => startBreakableEtcd(), [nats]: startBreakableNats },
  { migrations: isLong ? [...short, ...others] : short, backups: isLong ? [etcd, nats] : [etcd] },
);

/** A primary can be lost once, so each case has its own. */
const failovers = [
  { from: postgres, to: etcd, leaderOf: postgres, at: 'after fence' },
  { from: postgres, to: etcd, leaderOf: postgres, at: 'first page' },
  { from: etcd, to: postgres, leaderOf: postgres, at: 'first write' },
] as const;

for (const failover of isLong ? failovers : failovers.slice(0, 1)) {
  describeStoreFaults(
    { [etcd]: () => startBreakableEtcd(1), [postgres]: startBreakablePostgres },
    { migrations: [failover], backups: [] },
  );
}
if (isLong) describeStoreFaults({ [postgres]: startBreakablePostgres }, { migrations: [], backups: [postgres] });
