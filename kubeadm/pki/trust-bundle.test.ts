import { describe, expect, test } from '@jest/globals';
import { parseCertificates } from './certificate-chain.ts';
import { issueCa } from './issue.ts';
import { caValidityMs, lifetimeFrom } from './lifetime.ts';
import { authorityProfiles } from './profiles.ts';
import { trustBundle } from './trust-bundle.ts';

const lifetime = lifetimeFrom(new Date('2030-01-01T00:00:00Z'), caValidityMs);
const authority = async (): Promise<string> =>
  (await issueCa(authorityProfiles.ca, { algorithm: 'ECDSA-P256', lifetime })).certificate;

describe('A trust bundle', () => {
  test('of one text is exactly that text', async () => {
    const text = `# ours\n${await authority()}`;
    expect(trustBundle([text])).toBe(text);
  });

  test('contains every certificate once, in the given order', async () => {
    const [a, b] = [await authority(), await authority()];
    const bundle = trustBundle([b, a, `${a}${b}`]);
    const found = parseCertificates(bundle, 'bundle').map(({ fingerprint256 }) => fingerprint256);
    const wanted = [b, a].map((pem) => parseCertificates(pem, 'ca')[0].fingerprint256);
    expect(found).toEqual(wanted);
    expect(bundle.endsWith('-----END CERTIFICATE-----\n')).toBe(true);
  });

  test('refuses text that is not a certificate', async () => {
    const pem = await authority();
    expect(() => trustBundle([pem, 'nonsense'])).toThrow('ca.crt');
  });
});
