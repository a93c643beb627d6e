import { describe, expect, test } from '@jest/globals';

import { parseConformanceTests } from './conformance-tests.ts';

describe('The list of conformance tests', () => {
  test('has names without the line breaks of its file, and serial ones last', () => {
    const list = `- testname: One
  codename: '[sig-apps] Daemon set [Serial] should run
    [Conformance]'
- testname: Two
  codename: '[sig-node] Pods should run [Conformance]'
`;
    expect(parseConformanceTests(list)).toEqual([
      { name: '[sig-node] Pods should run [Conformance]', sig: 'sig-node', serial: false },
      { name: '[sig-apps] Daemon set [Serial] should run [Conformance]', sig: 'sig-apps', serial: true },
    ]);
  });
});
