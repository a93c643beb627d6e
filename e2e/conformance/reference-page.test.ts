import { describe, expect, test } from '@jest/globals';

import type { RecordedTest } from './conformance-record.ts';
import { referencePage } from './reference-page.ts';

const name = (what: string): string => `[sig-node] ${what} [Conformance]`;

const page = (...tests: readonly RecordedTest[]): string =>
  referencePage({ kubernetes: 'v1.36.3', commit: 'abc1234', date: '2026-11-24', tests }, (test) =>
    test === name('c') ? 'machine: it has no clock' : undefined,
  );

describe('The page of conformance results', () => {
  const text = page(
    { name: name('a'), outcome: 'passed', seconds: 1 },
    { name: name('b'), outcome: 'failed', seconds: 1, message: 'a|b\nc' },
    { name: name('c'), outcome: 'failed', seconds: 1, message: 'late' },
    { name: name('d'), outcome: 'not run' },
    { name: '[sig-cli] e', outcome: 'skipped', seconds: 1, message: 'needs a cloud' },
  );

  test('counts every test once', () => {
    expect(text).toContain('| sig-node | 4 | 1 | 2 | 0 | 1 |');
    expect(text).toContain('| sig-cli | 1 | 0 | 0 | 1 | 0 |');
    expect(text).toContain('| all | 5 | 1 | 2 | 1 | 1 |');
  });

  test('shows the explanation of each failure, or that there is none, with the test’s message in one cell', () => {
    expect(text).toContain(`| ${name('c')} | machine: it has no clock |`);
    expect(text).toContain(String.raw`| ${name('b')} | not explained yet: a\|b c |`);
  });

  test('shows why a test skipped itself', () => {
    expect(text).toContain('| [sig-cli] e | needs a cloud |');
  });

  test('shows commit and day', () => {
    expect(text).toContain('Written at commit abc1234 on 2026-11-24; the result of each test is in');
  });

  test('names what was not run', () => {
    expect(text.slice(text.indexOf('## Not run'))).toContain(`- ${name('d')}`);
  });

  test('has no section without tests', () => {
    expect(page()).not.toMatch(/## /);
  });
});
