import { slowness } from '../../e2e/cluster/slowness.ts';
import { natsReleases } from '../../testing/servers/nats-server.ts';
import { startNatsUnderTest } from '../../testing/contracts/stores/nats/store-under-test.ts';
import { describeDriver } from '../contract/driver-contract.ts';

for (const release of natsReleases) describeDriver(`NATS (${release})`, () => startNatsUnderTest(release), slowness());
