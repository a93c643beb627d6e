import { X509Certificate } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { InvalidInputError } from '../invalid-input-error.ts';
import { caCertHashes, parseCertificates } from './certificate-chain.ts';
import { issueCa } from './issue.ts';
import { caValidityMs, lifetimeFrom } from './lifetime.ts';
import { authorityProfiles } from './profiles.ts';

const lifetime = lifetimeFrom(new Date('2030-01-01T00:00:00Z'), caValidityMs);

test('A certificate whose public key is not a point of its curve is refused when it is read, not when the key is needed', async () => {
  const { certificate } = await issueCa(authorityProfiles.ca, { algorithm: 'ECDSA-P256', lifetime });
  const der = Buffer.from(new X509Certificate(certificate).raw);
  const spki = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  const last = der.indexOf(spki) + spki.length - 1;
  der.writeUInt8(der.readUInt8(last) ^ 1, last);
  const broken = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
  expect(() => new X509Certificate(broken)).not.toThrow();
  for (const read of [() => parseCertificates(broken, 'tls.crt'), () => caCertHashes(broken)]) {
    expect(read).toThrow(InvalidInputError);
    expect(read).toThrow('holds a certificate that cannot be decoded');
  }
});
