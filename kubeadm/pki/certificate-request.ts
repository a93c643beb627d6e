import 'reflect-metadata';
import { ExtensionsAttribute, Pkcs10CertificateRequest, SubjectAlternativeNameExtension } from '@peculiar/x509';
import { InvalidInputError } from '../invalid-input-error.ts';
import { canonicalIp } from '../networks.ts';

/** The requested subject and names. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  /** In canonical form. */
  readonly ipAddresses: readonly string[];
}

/** A kubelet's request is below 1 KiB; an RSA key of 8192 bits and a dozen names fit as well. */
const longestRequest = 8 * 1024;

const singleBlock = /^-----BEGIN CERTIFICATE REQUEST-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE REQUEST-----\s*$/;
const alternativeNamesOid = '2.5.29.17';
const extensionRequestOid = '1.2.840.113549.1.9.14';

function refused(reason: string, cause?: unknown): InvalidInputError {
  const remedy = 'request a subject of CN and O, DNS names and IP addresses, as a kubelet does';
  return new InvalidInputError({ field: 'spec.request', reason, remedy }, cause === undefined ? {} : { cause });
}

function parse(pem: string): Pkcs10CertificateRequest {
  if (pem.length > longestRequest) throw refused(`is longer than ${longestRequest} characters`);
  if (!singleBlock.test(pem)) throw refused('is not a single certificate request in PEM form');
  try {
    return new Pkcs10CertificateRequest(pem);
  } catch (cause) {
    throw refused('cannot be decoded', cause);
  }
}

/** CN and O, each in an RDN of its own: other forms could be parsed in different ways. */
function readSubject(request: Pkcs10CertificateRequest): Pick<CertificateRequest, 'commonName' | 'organizations'> {
  const parts = request.subjectName.toJSON().map((part) => Object.entries(part));
  const values = (type: string): readonly string[] =>
    parts.flatMap((part) => part.flatMap(([name, found]) => (name === type ? found : [])));
  const odd = parts.some((part) => part.length !== 1 || part.some(([, found]) => found.length !== 1));
  const [commonName, ...others] = values('CN');
  const organizations = values('O');
  if (odd || commonName === undefined || others.length > 0 || organizations.length + 1 !== parts.length) {
    throw refused('has a subject with parts other than one CN and O');
  }
  return { commonName, organizations };
}

function readNames(request: Pkcs10CertificateRequest): Pick<CertificateRequest, 'dnsNames' | 'ipAddresses'> {
  const [attribute, ...others] = request.attributes;
  if (!(attribute instanceof ExtensionsAttribute) || attribute.type !== extensionRequestOid || others.length > 0) {
    throw refused('has attributes other than one list of extensions');
  }
  const [extension, ...more] = attribute.items;
  const isNames = extension instanceof SubjectAlternativeNameExtension && extension.type === alternativeNamesOid;
  if (!isNames || more.length > 0 || attribute.values.length !== 1) {
    throw refused('requests extensions other than alternative names');
  }
  const names = extension.names.items;
  const ofType = (type: string): readonly string[] =>
    names.filter((name) => name.type === type).map(({ value }) => value);
  const dnsNames = ofType('dns');
  const addresses = ofType('ip').map(canonicalIp);
  const ipAddresses = addresses.filter((address) => address !== undefined);
  if (dnsNames.length + ipAddresses.length !== names.length) {
    throw refused('requests names that are neither DNS names nor IP addresses');
  }
  return { dnsNames, ipAddresses };
}

/**
 * Reads a PKCS #10 request (RFC 2986) for a subject and alternative names only. It comes from an untrusted source: input
 * that could be parsed in different ways is refused. The API server verifies its signature. Throws `InvalidInputError`,
 * which repeats nothing of the request.
 */
export function readCertificateRequest(pem: string): CertificateRequest {
  const request = parse(pem);
  try {
    return { ...readSubject(request), ...readNames(request) };
  } catch (error) {
    // The library decodes parts lazily.
    throw error instanceof InvalidInputError ? error : refused('cannot be decoded', error);
  }
}
