import { expect, test } from '@jest/globals';

import { kubeconfig } from '../kubeconfig.ts';
import { issueCa } from './issue.ts';
import { lifetimeFrom } from './lifetime.ts';
import { authorityProfiles } from './profiles.ts';
import { certificateExpiry } from './certificate-expiry.ts';

const now = new Date('2030-01-01T00:00:00Z');
const day = 24 * 3600_000;
const pairFor = (days: number) =>
  issueCa(authorityProfiles.ca, { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(now, days * day) });
const after = (days: number): Date => new Date(now.getTime() + days * day);

test('of several certificates, the one that expires first counts, wherever it is', async () => {
  const [short, long] = [await pairFor(10), await pairFor(100)];
  expect(certificateExpiry({ 'ca.crt': long.certificate, 'ca.key': long.key })).toEqual(after(100));
  expect(certificateExpiry({ 'ca.crt': long.certificate, 'tls.crt': short.certificate })).toEqual(after(10));
  expect(certificateExpiry({ 'ca.crt': long.certificate + short.certificate })).toEqual(after(10));
});

test('the client certificate of a kubeconfig counts, and its CA does not', async () => {
  const [client, ca] = [await pairFor(10), await pairFor(5)];
  const content = { clusterName: 'shop', server: 'https://shop:6443', ca: ca.certificate, user: 'admin', client };
  expect(certificateExpiry({ 'admin.conf': kubeconfig(content) })).toEqual(after(10));
});

test('a Secret without a certificate, or with one that is damaged, has no expiry', async () => {
  const { key, certificate } = await pairFor(10);
  const damaged = certificate.replace(/\n[^\n]{20}/, '\n');
  for (const value of ['', 'x', key, damaged, 'client-certificate-data: AAAA'])
    expect(certificateExpiry({ value })).toBe(undefined);
});
