import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { privateKeyHashes } from './private-keys.ts';
import type { KeyHolder } from './private-keys.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = (type: 'sec1' | 'pkcs8'): string => privateKey.export({ type, format: 'pem' }).toString();
const encoded = (text: string): string => Buffer.from(text).toString('base64');

test('one key in several forms has one hash, and another key another one', () => {
  const kubeconfig = `users:\n  - user:\n      client-key-data: ${encoded(pem('sec1'))}\n`;
  const same: readonly KeyHolder[] = [
    { data: { a: encoded(pem('pkcs8')), b: encoded(`text\n${pem('sec1')}`) } },
    { data: { c: encoded(kubeconfig) } },
  ];
  expect(privateKeyHashes(same).size).toBe(1);
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const rsa = encoded(other.export({ type: 'pkcs1', format: 'pem' }).toString());
  expect(privateKeyHashes([...same, { data: { 'sa.key': rsa } }, {}]).size).toBe(2);
});
