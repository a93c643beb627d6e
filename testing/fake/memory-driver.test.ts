import { describeDriver } from '../../stores/contract/driver-contract.ts';
import { describeTenancyData } from '../../stores/contract/tenancy-data-contract.ts';
import { startMemoryDataUnderTest } from '../contracts/stores/memory/data-under-test.ts';
import { memoryStoreUnderTest } from '../contracts/stores/memory/store-under-test.ts';

describeDriver('memory', () => Promise.resolve(memoryStoreUnderTest({ kine: false })));
describeDriver('memory behind kine', () => Promise.resolve(memoryStoreUnderTest({ kine: true })));
describeTenancyData('memory', startMemoryDataUnderTest);
