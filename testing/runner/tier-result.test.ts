import { describe, expect, test } from '@jest/globals';
import { failedFiles, flakyFailures, testResults, withSecondRun } from './tier-result.ts';
import type { TestResult } from './tier-result.ts';

const result = (file: string, name: string, outcome: TestResult['outcome']): TestResult => ({
  file,
  name,
  outcome,
  seconds: 0,
});

describe('the tests of one run', () => {
  test('are passed, failed, or skipped by whatever word jest has for it', () => {
    const report = {
      testResults: [
        {
          name: '/a.test.ts',
          status: 'failed',
          assertionResults: [
            { fullName: 'one', status: 'passed', duration: 1500 },
            { fullName: 'two', status: 'failed', duration: null },
            { fullName: 'three', status: 'pending' },
            { fullName: 'four', status: 'todo' },
          ],
        },
      ],
    };

    expect(testResults(report)).toEqual([
      { file: '/a.test.ts', name: 'one', outcome: 'passed', seconds: 1.5 },
      result('/a.test.ts', 'two', 'failed'),
      result('/a.test.ts', 'three', 'skipped'),
      result('/a.test.ts', 'four', 'skipped'),
    ]);
  });

  test('count a file that could not start as one failure', () => {
    const report = { testResults: [{ name: '/a.test.ts', status: 'failed', assertionResults: [] }] };

    expect(testResults(report)).toEqual([result('/a.test.ts', '(the file itself)', 'failed')]);
  });

  test('count a file whose tests passed and which failed nevertheless as one failure more', () => {
    const assertionResults = [{ fullName: 'one', status: 'passed' }];

    expect(testResults({ testResults: [{ name: '/a.test.ts', status: 'failed', assertionResults }] })).toEqual([
      result('/a.test.ts', 'one', 'passed'),
      result('/a.test.ts', '(the file itself)', 'failed'),
    ]);
  });

  test('name each file once in which one failed', () => {
    expect(
      failedFiles([
        result('/a', 'one', 'failed'),
        result('/a', 'two', 'failed'),
        result('/b', 'one', 'passed'),
        result('/c', 'one', 'failed'),
      ]),
    ).toEqual(['/a', '/c']);
  });
});

describe('a second run', () => {
  test('replaces its files, and calls flaky what passes now', () => {
    const first = [result('/a', 'one', 'failed'), result('/a', 'two', 'passed'), result('/b', 'one', 'passed')];
    const second = [result('/a', 'one', 'passed'), result('/a', 'two', 'passed')];

    expect(withSecondRun(first, second)).toEqual({
      tests: [result('/b', 'one', 'passed'), ...second],
      flaky: [result('/a', 'one', 'failed')],
    });
  });

  test('leaves failed what fails twice, and what fails only then', () => {
    const first = [result('/a', 'one', 'failed'), result('/a', 'two', 'passed')];
    const second = [result('/a', 'one', 'failed'), result('/a', 'two', 'failed')];

    expect(withSecondRun(first, second)).toEqual({ tests: second, flaky: [] });
  });

  test('does not excuse a test that is skipped then', () => {
    const first = [result('/a', 'one', 'failed')];
    const second = [result('/a', 'one', 'skipped'), result('/a', '(the file itself)', 'failed')];

    expect(withSecondRun(first, second)).toEqual({ tests: second, flaky: [] });
  });

  test('that never got to a file leaves it failed', () => {
    const first = [result('/a', 'one', 'failed')];

    expect(withSecondRun(first, [])).toEqual({ tests: first, flaky: [] });
  });
});

describe('tests that pass only when they are run again', () => {
  test('of one file are excused', () => {
    expect(flakyFailures([])).toEqual([]);
    expect(flakyFailures([result('/a', 'one', 'failed'), result('/a', 'two', 'failed')])).toEqual([]);
  });

  test('of two files are not', () => {
    const flaky = [result('/a', 'one', 'failed'), result('/b', 'one', 'failed')];
    expect(flakyFailures(flaky)).toEqual(['2 files are flaky; at most one may be']);
  });

  test.each([
    '(the file itself)',
    'a cluster leaves nothing on the host when it is stopped',
    'tenants leave nothing in their namespace',
    'is deleted, and nothing is left of it',
  ])('are not excused when they are about what is left behind: %s', (name) => {
    expect(flakyFailures([result('/a', name, 'failed')])).toEqual([
      `what a test leaves behind is never flaky: ${name}`,
    ]);
  });
});
