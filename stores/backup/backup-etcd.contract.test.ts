import { startEtcdDataUnderTest } from '../../testing/contracts/stores/etcd/data-under-test.ts';
import { startNatsDataUnderTest } from '../../testing/contracts/stores/nats/data-under-test.ts';
import { describeBackup } from './backup-contract.ts';

describeBackup('etcd 3.7', () => startEtcdDataUnderTest('3.7'));
describeBackup('NATS', startNatsDataUnderTest);
