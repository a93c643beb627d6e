import { generateKeyPairSync } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';

import type { KubernetesClient, PlainObject } from '../../cluster/kubernetes-client.ts';
import { confidentialTexts, findTexts } from './confidential-texts.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const secret = (name: string, data: Readonly<Record<string, string>>): PlainObject => ({
  metadata: { name },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
});

const client: Pick<KubernetesClient, 'list'> = {
  list: () =>
    Promise.resolve([
      secret('pki', { 'tls.key': pem }),
      secret('config', { kubeconfig: `users:\n- user:\n    client-key-data: ${base64(pem)}\n` }),
      secret('store', { password: 'correct-horse-battery', user: 'short' }),
    ]),
};

describe('confidential texts', () => {
  test('are the keys and passwords of Secrets', async () => {
    const texts = await confidentialTexts(client, ['tenants']);
    expect(texts.map(({ from }) => from)).toEqual([
      'Secret tenants/pki, tls.key',
      'Secret tenants/config, kubeconfig',
      'Secret tenants/store, password',
    ]);
  });

  test.each([
    ['as it is', pem],
    ['in base64, as in a Secret', JSON.stringify({ data: { key: base64(pem) } })],
  ])('are found in a document %s', async (_, document) => {
    const texts = await confidentialTexts(client, ['tenants']);
    expect(findTexts(new Map([['a file', document]]), texts)).toContain('a file has Secret tenants/pki, tls.key');
  });

  test('are not found where they are not', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const other = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    expect(findTexts(new Map([['a file', other]]), await confidentialTexts(client, ['tenants']))).toEqual([]);
  });
});
