import { describe, expect, test } from '@jest/globals';

import { readTestReport, suiteFailures } from './test-report.ts';

const spec = (State: string, LeafNodeText: string, Message?: string): object => ({
  ContainerHierarchyTexts: ['[sig-node] Pods'],
  LeafNodeText,
  LeafNodeType: 'It',
  State,
  RunTime: 1_234_000_000,
  ...(Message === undefined ? {} : { Failure: { Message } }),
});

const report = (...SpecReports: readonly object[]): string => JSON.stringify([{ SpecReports }]);

describe('A report of ginkgo', () => {
  test('contains the result of each test, by its full name', () => {
    expect(readTestReport(report(spec('passed', 'run'), spec('failed', 'stop', 'timed out')))).toEqual([
      { name: '[sig-node] Pods run', outcome: 'passed', seconds: 1.2 },
      { name: '[sig-node] Pods stop', outcome: 'failed', seconds: 1.2, message: 'timed out' },
    ]);
  });

  test('contains no tests that were not selected, but the reason of those that skip themselves', () => {
    expect(readTestReport(report(spec('skipped', 'run'), spec('skipped', 'stop', 'needs a cloud')))).toEqual([
      { name: '[sig-node] Pods stop', outcome: 'skipped', seconds: 1.2, message: 'needs a cloud' },
    ]);
  });

  test('marks a test that was cut off as interrupted, not as failed', () => {
    const outcomes = readTestReport(report(spec('timedout', 'a'), spec('interrupted', 'b'), spec('panicked', 'c')));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['interrupted', 'interrupted', 'failed']);
  });

  test('contains the failures of the suite’s own setup', () => {
    const setUp = { ...spec('failed', '', 'no nodes'), LeafNodeType: 'SynchronizedBeforeSuite' };
    expect(suiteFailures(report(setUp, spec('failed', 'a', 'x')))).toEqual(['SynchronizedBeforeSuite: no nodes']);
    expect(suiteFailures(JSON.stringify([{ SpecReports: null }]))).toEqual([]);
  });
});
