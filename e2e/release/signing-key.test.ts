import { generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { readSigningKey } from './signing-key.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'steward-key-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const file = async (content: string): Promise<string> => {
  const name = path.join(folder, 'key.pem');
  await writeFile(name, content, { mode: 0o600 });
  return name;
};
const pemOf = (key: KeyObject, passphrase?: string): string =>
  key
    .export({ type: 'pkcs8', format: 'pem', ...(passphrase !== undefined && { cipher: 'aes-256-cbc', passphrase }) })
    .toString();

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

describe('a signing key', () => {
  test('is read with and without a passphrase', async () => {
    expect((await readSigningKey(await file(pemOf(privateKey)))).equals(privateKey)).toBe(true);
    expect((await readSigningKey(await file(pemOf(privateKey, 'p')), 'p')).equals(privateKey)).toBe(true);
  });

  test('behind another passphrase, or of cosign’s own format, is refused without a word of its content', async () => {
    await expect(readSigningKey(await file(pemOf(privateKey, 'p')), 'q')).rejects.toThrow(
      /needs SIGNING_KEY_PASSWORD$/,
    );
    const own = '-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED SIGSTORE PRIVATE KEY-----\n';
    await expect(readSigningKey(await file(own))).rejects.toThrow(/a key of cosign itself/);
  });

  test('on another curve is refused', async () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    await expect(readSigningKey(await file(pemOf(other)))).rejects.toThrow(/a key of kind ed25519; P-256 is needed/);
  });
});
