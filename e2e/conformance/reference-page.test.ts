import { describe, expect, test } from '@jest/globals';

import { referencePage } from './reference-page.ts';
import type { TestResult } from './test-report.ts';

const name = (what: string): string => `[sig-node] ${what} [Conformance]`;

const page = (...results: readonly TestResult[]): string =>
  referencePage({
    version: 'v1.36.3',
    tests: ['a', 'b', 'c', 'd', 'e'].map((what) => ({ name: name(what), sig: 'sig-node', serial: false })),
    results,
    written: { commit: 'abc1234', date: '2026-11-24' },
    leftOutBecause: (test) => (test === name('e') ? 'It needs two nodes.' : undefined),
    explanationOf: (test) => (test === name('c') ? 'machine: it has no clock' : undefined),
  });

describe('The page of conformance results', () => {
  const text = page(
    { name: name('a'), outcome: 'passed', seconds: 1 },
    { name: name('b'), outcome: 'failed', seconds: 1, message: 'a|b\nc' },
    { name: name('c'), outcome: 'failed', seconds: 1, message: 'late' },
    { name: name('d'), outcome: 'interrupted', seconds: 1 },
    { name: name('e'), outcome: 'passed', seconds: 1 },
  );

  test('counts every test once', () => {
    expect(text).toContain('| sig-node | 5 | 1 | 2 | 0 | 1 | 1 |');
    expect(text).toContain('| all | 5 | 1 | 2 | 0 | 1 | 1 |');
  });

  test('shows the explanation of each failure, or that there is none, with the test’s message in one cell', () => {
    expect(text).toContain(`| ${name('c')} | machine: it has no clock |`);
    expect(text).toContain(String.raw`| ${name('b')} | not explained yet: a\|b c |`);
  });

  test('shows commit and day', () => {
    expect(text).toContain('Written at commit abc1234 on 2026-11-24; the result of each test is in');
  });

  test('claims nothing about a test that was interrupted or left out', () => {
    expect(text).toContain(`| ${name('e')} | It needs two nodes. |`);
    expect(text.slice(text.indexOf('## Not run'))).toContain(`- ${name('d')}`);
  });

  test('has no section without tests', () => {
    expect(page()).not.toMatch(/## (Failed|Skipped)/);
  });
});
