import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseTarget } from './request-target.ts';

describe('The target of a request', () => {
  test.each([
    ['/readyz?verbose', '/readyz'],
    ['http://manager:8081/healthz', '/healthz'],
    ['//', '//'],
    ['//readyz', '//readyz'],
    ['/\\', '//'],
    ['//[', '//['],
    ['//:99999/', '//:99999/'],
    ['//a%zz', '//a%zz'],
  ])('%s is the path %s', (target, path) => {
    expect(parseTarget(target)?.pathname).toBe(path);
  });

  test.each([undefined, '', '*', 'http://[', 'http://a:99999/', 'ftp://a/', 'manager:443', 'readyz'])(
    '%s is invalid',
    (target) => {
      expect(parseTarget(target)).toBeUndefined();
    },
  );

  test('never throws, whatever was sent', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: 'binary' }).map((text) => `/${text}`),
        ),
        (target) => {
          const url = parseTarget(target);
          expect(url === undefined || url.pathname.startsWith('/')).toBe(true);
        },
      ),
    );
  });
});
