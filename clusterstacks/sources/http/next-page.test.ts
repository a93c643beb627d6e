import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SourceUnavailableError } from '../asset-errors.ts';
import { nextPage } from './next-page.ts';

const base = new URL('https://registry.example.org/v2/stacks/tags/list');
const link = (target: string): string => `<${target}>; rel="next"`;

describe('The next page of a list', () => {
  test('is at the address of the list, whatever scheme a proxy names', () => {
    expect(nextPage(link('/v2/stacks/tags/list?last=a'), base)?.href).toBe(
      'https://registry.example.org/v2/stacks/tags/list?last=a',
    );
    expect(nextPage(link('http://registry.example.org/v2/b'), base)?.href).toBe('https://registry.example.org/v2/b');
    expect(nextPage(undefined, base)).toBeUndefined();
    expect(nextPage('</v2/a>; rel="prev"', base)).toBeUndefined();
  });

  test('is never at another host, because it would get the credentials', () => {
    expect(() => nextPage(link('https://evil.example/v2/a'), base)).toThrow(SourceUnavailableError);
    // The path of such an address begins with two slashes, like an address without a scheme.
    expect(nextPage(link('/.//evil.example/v2/a'), base)?.href).toBe('https://registry.example.org//evil.example/v2/a');
    expect(nextPage(link('.//////evil.example:99/'), base)?.host).toBe(base.host);
    expect(nextPage(link('/.//\u009a'), base)?.host).toBe(base.host);
  });

  test('is at that host or refused, whatever the header says', () => {
    const piece = fc.constantFrom(
      '/',
      '//',
      '.',
      '..',
      '\\',
      ':',
      '@',
      'evil.example',
      '99',
      '?',
      '#',
      '%2f',
      ' ',
      '\u009a',
    );
    const target = fc.oneof(
      fc.string(),
      fc.webUrl(),
      fc.array(piece, { maxLength: 8 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(target, (text) => {
        try {
          expect(nextPage(link(text), base)?.host ?? base.host).toBe(base.host);
        } catch (error) {
          expect(error).toBeInstanceOf(SourceUnavailableError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
