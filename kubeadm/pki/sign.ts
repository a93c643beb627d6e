import 'reflect-metadata';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Extension, JsonAttributeObject, JsonGeneralName } from '@peculiar/x509';
import { createPublicKey, generateKeyPair, randomBytes, webcrypto } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { InvalidInputError } from '../invalid-input-error.ts';
import type { KeyAlgorithm, KeyPair, Lifetime, Profile } from './key-pair.ts';
import { parsePrivateKey, privateKeyPem } from './private-key.ts';
import type { KeyType } from './private-key.ts';

cryptoProvider.set(webcrypto);

const generate = promisify(generateKeyPair);

const usageOids = {
  clientAuth: ExtendedKeyUsage.clientAuth,
  serverAuth: ExtendedKeyUsage.serverAuth,
  codeSigning: ExtendedKeyUsage.codeSigning,
} as const;

/** A new private key. The work runs on the thread pool and does not block the event loop. */
export async function newPrivateKey(algorithm: KeyAlgorithm): Promise<KeyObject> {
  switch (algorithm) {
    case 'ECDSA-P256':
      return (await generate('ec', { namedCurve: 'prime256v1' })).privateKey;
    case 'ECDSA-P384':
      return (await generate('ec', { namedCurve: 'secp384r1' })).privateKey;
    case 'RSA-2048':
    case 'RSA-3072':
    case 'RSA-4096':
      return (await generate('rsa', { modulusLength: Number(algorithm.slice(4)) })).privateKey;
    case 'Ed25519':
      return (await generate('ed25519')).privateKey;
  }
}

interface SigningAlgorithm {
  readonly name: string;
  /** Absent if the algorithm implies it. */
  readonly hash?: string;
  readonly namedCurve?: string;
}

const curves: Readonly<Record<string, SigningAlgorithm>> = {
  prime256v1: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  secp384r1: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  secp521r1: { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' },
};

/** The hashes that Go's x509 package chooses for a signer's key. */
function signingAlgorithm(key: KeyObject): SigningAlgorithm {
  if (key.asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  if (key.asymmetricKeyType === 'ed25519') return { name: 'Ed25519' };
  const algorithm = curves[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (algorithm !== undefined) return algorithm;
  throw new InvalidInputError({
    field: 'ca.key',
    reason: 'uses an elliptic curve that Kubernetes cannot verify',
    remedy: 'use P-256, P-384, P-521 or RSA',
  });
}

function signingKey(key: KeyObject): webcrypto.CryptoKey {
  return key.toCryptoKey(signingAlgorithm(key), false, ['sign']);
}

function verifyingKey(key: KeyObject): webcrypto.CryptoKey {
  return createPublicKey(key).toCryptoKey(signingAlgorithm(key), true, ['verify']);
}

/** RFC 5280 §4.1.2.2: positive and at most 20 octets; here 16 random octets, never zero. */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

/** The literal value: as plain text, the library would read quotes, backslashes and a leading # as RFC 4514 notation. */
function literal(value: string): JsonAttributeObject {
  return Name.isPrintableString(value) ? { printableString: value } : { utf8String: value };
}

/** The subject as kubeadm writes it: organizations first, each value as it is given. */
export function subject(profile: Pick<Profile, 'commonName' | 'organizations'>): Name {
  const organizations = (profile.organizations ?? []).map((organization) => ({ O: [literal(organization)] }));
  return new Name([...organizations, { CN: [literal(profile.commonName)] }]);
}

/** An Ed25519 key cannot encipher anything, and RFC 8410 §5 does not allow its certificate to claim so. */
function keyUsages(profile: Profile, publicKey: webcrypto.CryptoKey): Extension {
  const { digitalSignature, keyEncipherment, keyCertSign, cRLSign } = KeyUsageFlags;
  const signsOnly = publicKey.algorithm.name === 'Ed25519';
  const leaf: number = signsOnly ? digitalSignature : digitalSignature | keyEncipherment;
  const authority: number = signsOnly ? keyCertSign | cRLSign : leaf | keyCertSign;
  const flags = profile.ca === true ? authority : leaf;
  // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- the library declares its bit flags as an enum
  return made(`usages ${flags}`, () => new KeyUsagesExtension(flags, true));
}

/** The few extensions that many certificates have in common: encoding one takes longer than signing. */
const common = new Map<string, Extension>();

function made(name: string, make: () => Extension): Extension {
  const known = common.get(name) ?? make();
  common.set(name, known);
  return known;
}

async function extensions(
  profile: Profile,
  publicKey: webcrypto.CryptoKey,
  issuer: X509Certificate | undefined,
): Promise<Extension[]> {
  const found: Extension[] = [keyUsages(profile, publicKey)];
  if (profile.usages.length > 0) {
    const usages = profile.usages.map((usage) => usageOids[usage]);
    found.push(made(`extended ${usages.join()}`, () => new ExtendedKeyUsageExtension(usages)));
  }
  const { ca = false, pathLength } = profile;
  found.push(made(`constraints ${ca} ${pathLength}`, () => new BasicConstraintsExtension(ca, pathLength, true)));
  if (profile.ca === true) found.push(await SubjectKeyIdentifierExtension.create(publicKey));
  const ofIssuer = issuer === undefined ? undefined : authorityIdentifier(issuer);
  if (ofIssuer !== undefined) found.push(ofIssuer);
  const names: JsonGeneralName[] = [
    ...(profile.dnsNames ?? []).map((value) => ({ type: 'dns' as const, value })),
    ...(profile.ipAddresses ?? []).map((value) => ({ type: 'ip' as const, value })),
  ];
  if (names.length > 0) found.push(new SubjectAlternativeNameExtension(names));
  return found;
}

/** The extension of all certificates that an issuer signs, as long as it is known. */
const identifiers = new WeakMap<X509Certificate, AuthorityKeyIdentifierExtension>();

/** Undefined where the certificate of the issuer does not identify its key. */
function authorityIdentifier(issuer: X509Certificate): AuthorityKeyIdentifierExtension | undefined {
  const known = identifiers.get(issuer);
  if (known !== undefined) return known;
  const keyId = issuer.getExtension(SubjectKeyIdentifierExtension)?.keyId;
  if (keyId === undefined) return undefined;
  const identifier = new AuthorityKeyIdentifierExtension(keyId);
  identifiers.set(issuer, identifier);
  return identifier;
}

/** The signer of a certificate. */
export interface Signer {
  readonly key: KeyObject;
  /** Absent when the certificate signs itself. */
  readonly certificate?: X509Certificate;
}

/** A certificate for the public half of `key`; PEM with a trailing newline, the key in the form kubeadm writes. */
export async function sign(profile: Profile, key: KeyObject, signer: Signer, lifetime: Lifetime): Promise<KeyPair> {
  const publicKey = verifyingKey(key);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: subject(profile),
    issuer: signer.certificate?.subjectName ?? subject(profile),
    notBefore: new Date(lifetime.notBefore),
    notAfter: new Date(lifetime.notAfter),
    publicKey,
    signingKey: signingKey(signer.key),
    signingAlgorithm: signingAlgorithm(signer.key),
    extensions: await extensions(profile, publicKey, signer.certificate),
  });
  return { certificate: `${certificate.toString('pem').trim()}\n`, key: privateKeyPem(key) };
}

/**
 * A CA as a signer; of a bundle, the first certificate. `types` are the accepted kinds of its key. Throws `InvalidInputError`
 * when the certificate or the key cannot be read or do not belong together.
 */
export function readSigner(ca: KeyPair, types?: readonly KeyType[]): Required<Signer> {
  const key = parsePrivateKey(ca.key, 'ca.key', types);
  const certificate = parseSigner(ca.certificate);
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  if (publicKey.equals(Buffer.from(certificate.publicKey.rawData))) return { key, certificate };
  throw new InvalidInputError({
    field: 'ca.key',
    reason: 'is not the private key of the first certificate in ca.crt',
    remedy: 'provide the certificate and the key of the same CA',
  });
}

/** True unless the CA must not sign other CAs (RFC 5280 §4.2.1.9, a path length of 0). */
export function signsAuthorities({ certificate }: Required<Signer>): boolean {
  return certificate.getExtension(BasicConstraintsExtension)?.pathLength !== 0;
}

function parseSigner(pem: string): X509Certificate {
  const block = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/.exec(pem)?.[0];
  const remedy = 'provide the CA certificate in PEM form';
  if (block === undefined) {
    throw new InvalidInputError({ field: 'ca.crt', reason: 'holds no certificate in PEM form', remedy });
  }
  try {
    return new X509Certificate(block);
  } catch (cause) {
    throw new InvalidInputError({ field: 'ca.crt', reason: 'cannot be decoded', remedy }, { cause });
  }
}
