import { etcdReleases } from '../../e2e/tools/etcd-releases.ts';
import { startEtcdDataUnderTest } from '../../testing/stores/etcd-data-under-test.ts';
import { describeTenancyData } from '../tenancy-data-contract.ts';

for (const { version } of etcdReleases) {
  describeTenancyData(`etcd ${version}`, () => startEtcdDataUnderTest(version));
}
