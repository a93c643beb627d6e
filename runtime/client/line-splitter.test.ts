import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LineSplitter, LineTooLongError } from './line-splitter.ts';

/** Cuts bytes at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

describe('The line splitter', () => {
  test('returns the same lines however the stream was cut, also inside characters', () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => JSON.stringify(text));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), fc.constantFrom('\n', '\r\n'), (lines, places, end) => {
        const splitter = new LineSplitter(1_000_000);
        const bytes = Buffer.from(lines.map((text) => text + end).join(''));
        expect(cut(bytes, places).flatMap((chunk) => splitter.push(chunk))).toEqual(lines);
        expect(splitter.end()).toBeUndefined();
      }),
    );
  });

  test('returns the rest after the last line', () => {
    const splitter = new LineSplitter(100);
    expect(splitter.push(Buffer.from('a\nb'))).toEqual(['a']);
    expect(splitter.end()).toBe('b');
    expect(splitter.end()).toBeUndefined();
  });

  test('never buffers more than the longest line allowed, whether it ends or not', () => {
    const holding = new LineSplitter(10);
    expect(holding.push(Buffer.from('0123456789\n01234'))).toEqual(['0123456789']);
    expect(() => holding.push(Buffer.from('567890'))).toThrow(LineTooLongError);
    expect(() => new LineSplitter(10).push(Buffer.from('01234567890\n'))).toThrow('longer than 10 bytes');
  });

  test('keeps no chunk of an unfinished line: each may be one byte, and have much memory of its own', () => {
    const splitter = new LineSplitter(100);
    const chunk = Buffer.from('a');
    for (let count = 0; count < 3; count += 1) splitter.push(chunk);
    chunk.fill('z');
    expect(splitter.push(Buffer.from('\n'))).toEqual(['aaa']);
  });
});
