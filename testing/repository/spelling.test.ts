import { describe, expect, test } from '@jest/globals';
import { britishSpellings, textOf, writtenFiles } from './spelling.ts';

describe('The spelling', () => {
  test('is American in every file and in the names of files', () => {
    const files = writtenFiles();
    expect(files.length).toBeGreaterThan(2000);
    const found = files.flatMap((file) =>
      [...britishSpellings(file), ...britishSpellings(textOf(file))].map((word) => `${file}:${word}`),
    );
    expect(found).toEqual([]);
  });

  test.each([
    'behaviour',
    'isLabelled',
    'Neighbours',
    'the licence',
    'to fulfil',
    'was cancelled',
    'CancelledError',
    'serialised',
    'no pod runs any more',
  ])('is British in: %s', (text) => {
    expect(britishSpellings(`one\n${text}`)).toEqual([expect.stringMatching(/^2: /)]);
  });

  test.each([
    'behavior',
    'isLabeled',
    'the license',
    'fulfilled',
    'programmed',
    'optimistic',
    'aria-labelledby',
    'many more, no more than ten, nor any more than that',
    "phase: 'Cancelled'",
  ])('is American in: %s', (text) => {
    expect(britishSpellings(text)).toEqual([]);
  });
});
