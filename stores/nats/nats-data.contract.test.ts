import { natsReleases } from '../../testing/servers/nats-server.ts';
import { startNatsDataUnderTest } from '../../testing/stores/nats-data-under-test.ts';
import { describeTenancyData } from '../tenancy-data-contract.ts';

for (const release of natsReleases) describeTenancyData(`NATS (${release})`, () => startNatsDataUnderTest(release));
