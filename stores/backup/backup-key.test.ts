import { describe, expect, test } from '@jest/globals';
import { BackupKey } from './backup-key.ts';
import { RepositoryError } from './backup-repository.ts';

const text = Buffer.alloc(32, 7).toString('base64');
const key = new BackupKey(`${text}\n`);
const content = Buffer.from('the content '.repeat(100));

describe('the key of a backup', () => {
  test('opens what it sealed, which shows nothing of the content', () => {
    const sealed = key.seal('a/b', content);
    expect(Buffer.from(key.open('a/b', sealed)).equals(content)).toBe(true);
    expect(Buffer.from(sealed).includes('content')).toBe(false);
    expect(sealed.length).toBeLessThan(content.length);
  });

  test('never gives two files the same bytes', () => {
    expect(Buffer.from(key.seal('a', content)).equals(key.seal('a', content))).toBe(false);
  });

  test('does not open what another key sealed, what was changed anywhere, or what has another name', () => {
    const sealed = key.seal('a', content);
    const other = new BackupKey(Buffer.alloc(32, 8).toString('base64'));
    expect(() => other.open('a', sealed)).toThrow(RepositoryError);
    expect(() => key.open('b', sealed)).toThrow('the key is another one, or the file was changed');
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Uint8Array.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => key.open('a', changed)).toThrow(RepositoryError);
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => key.open('a', sealed.subarray(0, length))).toThrow(RepositoryError);
    }
  });

  test('names the same content alike, and another key names it differently', () => {
    const other = new BackupKey(Buffer.alloc(32, 8).toString('base64'));
    expect(key.nameOf(content)).toMatch(/^[0-9a-f]{64}$/);
    expect(key.nameOf(content)).toBe(new BackupKey(text).nameOf(Uint8Array.from(content)));
    expect(key.nameOf(content)).not.toBe(other.nameOf(content));
  });

  test.each([
    '',
    'short',
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
    `${text}=`,
    `!${text}`,
  ])('refuses %j, and says how to make one', (wrong) => {
    expect(() => new BackupKey(wrong)).toThrow('openssl rand -base64 32');
  });
});
