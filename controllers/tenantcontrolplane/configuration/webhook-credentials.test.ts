import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Secret } from '../../../api/core/kinds.ts';
import { storedMeta } from '../../../api/as-stored.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { serverCa } from '../../../testing/servers/server-certificates.ts';
import { webhookCredentials } from './webhook-credentials.ts';

let pair: KeyPair;
let other: KeyPair;

beforeAll(async () => {
  [pair, other] = await Promise.all([serverCa('one'), serverCa('other')]);
});

const secretWith = (data: Readonly<Record<string, string>>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { ...storedMeta({ name: 'credentials' }), namespace: 'default' },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});

describe('Credentials for a webhook', () => {
  test('are a token, without the line break of an editor', () => {
    expect(webhookCredentials(secretWith({ token: 'abc\n' }))).toEqual({ token: 'abc' });
  });

  test('are a certificate with its key', () => {
    const found = webhookCredentials(secretWith({ 'tls.crt': pair.certificate, 'tls.key': pair.key, 'ca.crt': 'x' }));
    expect(found).toEqual({
      'client-certificate-data': Buffer.from(pair.certificate).toString('base64'),
      'client-key-data': Buffer.from(pair.key).toString('base64'),
    });
  });

  test('are a user with a password', () => {
    const found = webhookCredentials(secretWith({ username: 'a', password: 'b' }));
    expect(found).toEqual({ username: 'a', password: 'b' });
  });

  test.each([
    ['nothing', undefined, 'does not exist'],
    ['no key of these', { other: 'x' }, 'has none of these: token; tls.crt with tls.key; username with password'],
    ['half a pair', { 'tls.crt': 'x' }, 'has none of these: token; tls.crt with tls.key; username with password'],
    [
      'two kinds',
      { token: 'a', username: 'b', password: 'c' },
      'has more than one of these: token; tls.crt with tls.key; username with password',
    ],
    ['a token of two lines', { token: 'a\nb' }, 'has a token that cannot be sent in a header'],
    ['an empty token', { token: '' }, 'has a token that cannot be sent in a header'],
    ['text for a certificate', { 'tls.crt': 'x', 'tls.key': 'y' }, 'has a tls.crt or tls.key that is not PEM'],
  ])('are refused: %s', (_, data, trouble) => {
    const found = webhookCredentials(data === undefined ? undefined : secretWith(data));
    expect(found).toEqual({ trouble: expect.stringContaining(trouble) as unknown });
  });

  test('are refused with the key of another certificate, which would end kube-apiserver', () => {
    const found = webhookCredentials(secretWith({ 'tls.crt': pair.certificate, 'tls.key': other.key }));
    expect(found).toEqual({ trouble: 'has a tls.key that does not belong to its tls.crt' });
  });
});
