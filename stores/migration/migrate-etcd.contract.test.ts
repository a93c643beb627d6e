import { startEtcdDataUnderTest } from '../../testing/contracts/stores/etcd/data-under-test.ts';
import { startNatsDataUnderTest } from '../../testing/contracts/stores/nats/data-under-test.ts';
import { describeMigration } from './migration-contract.ts';

const etcd = (release: string) => ({ title: `etcd ${release}`, start: () => startEtcdDataUnderTest(release) });

describeMigration(etcd('3.6'), etcd('3.7'));
describeMigration(etcd('3.7'), { title: 'NATS', start: startNatsDataUnderTest });
