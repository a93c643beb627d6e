import { describeDriver } from '../stores/driver-contract.ts';
import { describeTenancyData } from '../stores/tenancy-data-contract.ts';
import { startMemoryDataUnderTest } from './stores/memory-data-under-test.ts';
import { memoryStoreUnderTest } from './stores/memory-store-under-test.ts';

describeDriver('memory', () => Promise.resolve(memoryStoreUnderTest({ kine: false })));
describeDriver('memory behind kine', () => Promise.resolve(memoryStoreUnderTest({ kine: true })));
describeTenancyData('memory', startMemoryDataUnderTest);
