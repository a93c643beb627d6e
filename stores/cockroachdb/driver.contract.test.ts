import { cockroachUnderTest } from '../../testing/contracts/stores/cockroachdb/store-under-test.ts';
import { describeDriver } from '../contract/driver-contract.ts';

describeDriver('CockroachDB', () => Promise.resolve(cockroachUnderTest));
