import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { storePassword } from './store-password.ts';

const owner = '6f9619ff-8b86-4011-b42d-00c04fc964ff';
const another = '6f9619ff-8b86-4011-b42d-00c04fc964fe';
const holding = (password: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: storedMeta({ name: 'x' }),
  data: { DB_PASSWORD: Buffer.from(password).toString('base64') },
});

describe('storePassword', () => {
  test('generates a new one each time while there is none, safe in a URL and within 64 characters', () => {
    const made = storePassword(undefined, owner);
    expect(made).toMatch(/^[a-z0-9-]{57}$/);
    expect(storePassword(undefined, owner)).not.toBe(made);
  });

  test('keeps an existing one, and one that the Go Steward generated', () => {
    const made = storePassword(undefined, owner);
    expect(storePassword(holding(made), owner)).toBe(made);
    expect(storePassword(holding(another), owner)).toBe(another);
  });

  test.each([
    ['cut short', storePassword(undefined, owner).slice(0, 40)],
    ['empty', ''],
    ['of another tenant', storePassword(undefined, another)],
    ['with a line break', `${storePassword(undefined, owner)}\n`],
    ['with characters that a URL gives a meaning', 'a@b/c?d#e'],
  ])('replaces one that is %s', (_what, found) => {
    expect(storePassword(holding(found), owner)).not.toBe(found);
  });
});
