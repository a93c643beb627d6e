import 'reflect-metadata';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
  type X509Certificate as Issued,
} from '@peculiar/x509';
import { KeyObject, X509Certificate, createPrivateKey, randomBytes, webcrypto } from 'node:crypto';

/** The common data of the replicas: the CAs that clients trust, and the key pair of the servers. All PEM. */
export interface ServingMaterial {
  /** The current CA first, then older ones that are still valid. */
  readonly bundle: string;
  readonly certificate: string;
  readonly key: string;
}

/** Under which names clients reach the server. */
export interface ServingNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** How long material is valid, and how long before its end it is renewed, in milliseconds. */
export interface ServingLife {
  readonly validMs: number;
  readonly renewBeforeMs: number;
}

const day = 24 * 3600_000;
/** 90 days, renewed 30 days before the end. */
export const defaultServingLife: ServingLife = { validMs: 90 * day, renewBeforeMs: 30 * day };

/** Clocks of API servers may be behind ours. */
const backdateMs = 3600_000;
const mostAuthorities = 3;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/**
 * New material: a CA that signs exactly one certificate and whose key is then discarded, so that nothing that is stored can
 * sign. CAs of `before` that are still valid stay in the bundle, because servers may use their certificates until all have
 * changed.
 */
export async function makeServingMaterial(order: {
  readonly names: ServingNames;
  readonly life: ServingLife;
  readonly now: Date;
  readonly before?: string;
}): Promise<ServingMaterial> {
  const validity = {
    notBefore: new Date(order.now.getTime() - backdateMs),
    notAfter: new Date(order.now.getTime() + order.life.validMs),
  };
  const authority = await makeAuthority(validity);
  const leaf = await makeLeaf(authority, order.names, validity);
  const older = certificatesOf(order.before ?? '').filter(({ validToDate }) => validToDate > order.now);
  const bundle = [pemOf(authority.certificate), ...older.slice(0, mostAuthorities - 1).map(String)];
  return { bundle: bundle.map((pem) => `${pem.trim()}\n`).join(''), ...leaf };
}

/** Why the material must be issued again, as text for people; undefined when it can be used. */
export function whyNotServing(
  material: Partial<ServingMaterial>,
  order: { readonly names: ServingNames; readonly life: ServingLife; readonly now: Date },
): string | undefined {
  const { bundle = '', certificate = '', key = '' } = material;
  if (bundle === '' || certificate === '' || key === '') return 'a part of it is missing';
  const [leaf] = certificatesOf(certificate);
  const authorities = certificatesOf(bundle);
  if (leaf === undefined || authorities.length === 0) return 'a certificate cannot be read';
  if (!holdsKey(leaf, key)) return 'the key does not match the certificate';
  if (!authorities.some((authority) => leaf.verify(authority.publicKey))) return 'no CA of the bundle signed it';
  const missing = [
    ...order.names.dnsNames.filter((name) => leaf.checkHost(name, { subject: 'never' }) === undefined),
    ...order.names.ipAddresses.filter((address) => leaf.checkIP(address) === undefined),
  ];
  if (missing.length > 0) return `it is not valid for ${missing.join(', ')}`;
  if (leaf.validFromDate > order.now) return `it is not valid before ${leaf.validFromDate.toISOString()}`;
  if (order.now >= renewalOf(material, order.life)) return `it expires at ${leaf.validToDate.toISOString()}`;
  return undefined;
}

/** When material is to be renewed; the epoch when it cannot be read. */
export function renewalOf(material: Partial<ServingMaterial>, life: ServingLife): Date {
  const [leaf] = certificatesOf(material.certificate ?? '');
  return new Date(leaf === undefined ? 0 : leaf.validToDate.getTime() - life.renewBeforeMs);
}

interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

interface Authority {
  readonly certificate: Issued;
  readonly keys: webcrypto.CryptoKeyPair;
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
}

/** A positive serial number of 127 bits (RFC 5280 §4.1.2.2). */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('hex');
}

async function makeAuthority(validity: Validity): Promise<Authority> {
  const keys = await newKeys();
  const serialNumber = newSerial();
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      ...validity,
      serialNumber,
      name: [{ CN: [`webhook-ca-${serialNumber.slice(0, 8)}`] }],
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  return { certificate, keys };
}

async function makeLeaf(
  authority: Authority,
  names: ServingNames,
  validity: Validity,
): Promise<{ readonly certificate: string; readonly key: string }> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.create(
    {
      ...validity,
      serialNumber: newSerial(),
      subject: [{ CN: [(names.dnsNames[0] ?? names.ipAddresses[0] ?? 'webhook').slice(0, 64)] }],
      issuer: authority.certificate.subjectName,
      publicKey: keys.publicKey,
      signingKey: authority.keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
        await AuthorityKeyIdentifierExtension.create(authority.keys.publicKey, false, webcrypto),
        new SubjectAlternativeNameExtension([
          ...names.dnsNames.map((value) => ({ type: 'dns' as const, value })),
          ...names.ipAddresses.map((value) => ({ type: 'ip' as const, value })),
        ]),
      ],
    },
    webcrypto,
  );
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { certificate: pemOf(certificate), key: String(key) };
}

function pemOf(certificate: Issued): string {
  return `${certificate.toString('pem').trim()}\n`;
}

/** The certificates of a PEM text that can be read. */
function certificatesOf(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.flatMap((block) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      // Unreadable certificates are skipped: the caller replaces the material.
      return [];
    }
  });
}

function holdsKey(leaf: X509Certificate, key: string): boolean {
  try {
    return leaf.checkPrivateKey(createPrivateKey(key));
  } catch {
    // An unreadable key belongs to no certificate.
    return false;
  }
}
