import { describeContract } from '../contract.ts';
import { stewardProfile } from './steward-profile.ts';

describeContract(stewardProfile, '1.13');
