import { describe, expect, test } from '@jest/globals';
import { hideValues } from './hide-values.ts';

describe('hideValues', () => {
  test('hides texts anywhere in the values, plain and quoted', () => {
    const values = {
      token: 'abcdefgh123',
      deep: [{ pem: 'line-number-1\nline-number-2\n' }],
      quote: 'he said "never"',
    };
    const message = `token abcdefgh123; line-number-2; ${JSON.stringify(values.quote)}`;
    expect(hideValues(message, values)).toBe('token …; …; "…"');
  });

  test('hides a value that contains another one completely', () => {
    expect(hideValues('secret-secret-longer', ['secret-secret', 'secret-secret-longer'])).toBe('…');
  });

  test('keeps short words, numbers and names of fields, which every chart has', () => {
    expect(hideValues('replicas: 3 of true', { replicas: 3, kind: 'of', is: true })).toBe('replicas: 3 of true');
    expect(hideValues('as it was', undefined)).toBe('as it was');
  });
});
