import { expect, test } from '@jest/globals';
import { fuzzingPage } from './fuzzing-page.ts';
import { readFigures } from './fuzz-result.ts';

test('The last figures of the fuzzer are those of the run', () => {
  const output = [
    '#2\tINITED cov: 3 ft: 3 corp: 1/1b exec/s: 0 rss: 110Mb',
    '#1024\tNEW    cov: 58 ft: 71 corp: 12/1Kb lim: 4096 exec/s: 512 rss: 120Mb L: 3/9 MS: 1 ChangeBit-',
    '#4096\tDONE   cov: 60 ft: 80 corp: 14/1Kb lim: 4096 exec/s: 2048 rss: 130Mb',
  ].join('\n');
  expect(readFigures(output)).toEqual({ inputs: 4096, branches: 60, corpus: 14 });
  expect(readFigures('nothing')).toEqual({ inputs: 0, branches: 0, corpus: 0 });
});

test('The page adds up all parsers', () => {
  const result = { name: 'a', from: 'a tenant', seconds: 60, inputs: 10, branches: 5, corpus: 2, findings: ['x'] };
  const page = fuzzingPage([{ ...result, name: 'b' }, result], { commit: 'abc', date: '2026-01-02' });
  expect(page).toContain('Seen at commit abc on 2026-01-02: 20 inputs in 2 minutes of one processor, 2 findings.');
  expect(page.indexOf('| a |')).toBeLessThan(page.indexOf('| b |'));
});
