import { natsReleases } from '../../../testing/servers/nats-server.ts';
import { startNatsDataUnderTest } from '../../../testing/contracts/stores/nats/data-under-test.ts';
import { describeTenancyData } from '../../contract/tenancy-data-contract.ts';

for (const release of natsReleases) describeTenancyData(`NATS (${release})`, () => startNatsDataUnderTest(release));
