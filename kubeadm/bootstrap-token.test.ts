import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bootstrapTokenSecret, newBootstrapToken, parseBootstrapToken, tokenEntropyBytes } from './bootstrap-token.ts';

describe('Bootstrap tokens', () => {
  test('are made of any random octets, in the form that Kubernetes accepts', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: tokenEntropyBytes, maxLength: tokenEntropyBytes }), (random) => {
        fc.pre([...random].filter((octet) => octet < 252).length >= 22);
        const { id, secret } = newBootstrapToken(random);
        expect(parseBootstrapToken(`${id}.${secret}`)).toEqual({ id, secret });
      }),
    );
  });

  test('use every character equally often', () => {
    const counts = new Map<string, number>();
    for (let octet = 0; octet < 256; octet += 1) {
      const random = Uint8Array.from({ length: 22 }, () => octet);
      if (octet >= 252) {
        expect(() => newBootstrapToken(random)).toThrow('needs 22 usable random octets, but there are only 0');
      } else {
        const [character = ''] = newBootstrapToken(random).id;
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(36);
    expect(new Set(counts.values())).toEqual(new Set([7]));
  });

  test.each(['', 'abcdef', 'abcdef.0123456789abcde', 'ABCDEF.0123456789abcdef', 'abcdef.0123456789abcdef '])(
    'refuse %j without repeating it',
    (text) => {
      expect(() => parseBootstrapToken(text)).toThrow('token is not a bootstrap token: use six and sixteen characters');
    },
  );

  test('become a Secret, with an expiry in whole seconds if there is one', () => {
    const token = { id: 'abcdef', secret: '0123456789abcdef' };
    const decoded = (secret: ReturnType<typeof bootstrapTokenSecret>): Record<string, string> =>
      Object.fromEntries(
        Object.entries(secret.data as Record<string, string>).map(([key, value]) => [
          key,
          Buffer.from(value, 'base64').toString(),
        ]),
      );
    expect(decoded(bootstrapTokenSecret({ token }))).not.toHaveProperty('expiration');
    const secret = bootstrapTokenSecret({
      token,
      expiration: new Date('2026-03-01T12:00:00.123Z'),
      description: 'for a worker',
    });
    expect(secret).toMatchObject({ metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' } });
    expect(decoded(secret)).toMatchObject({
      expiration: '2026-03-01T12:00:00Z',
      description: 'for a worker',
      'token-id': 'abcdef',
    });
  });
});
