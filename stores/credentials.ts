import type { KeyObject, X509Certificate } from 'node:crypto';
import type { ContentRef } from '../api/steward/v1alpha1/data-store.ts';
import { InvalidInputError } from '../kubeadm/invalid-input-error.ts';
import { parseCertificates } from '../kubeadm/pki/certificate-chain.ts';
import { parsePrivateKey } from '../kubeadm/pki/private-key.ts';
import type { ReadSecret } from './driver.ts';
import { parseEndpoint } from './endpoint.ts';
import type { NamedEndpoint } from './endpoint.ts';
import { StoreError } from './store-error.ts';

/** A private key and the certificate that it belongs to. */
export interface Credential {
  /** PEM; may be a bundle. */
  readonly certificate: string;
  /** PEM, PKCS#8. */
  readonly key: string;
}

/**
 * Reads a DataStore's credentials and collects all validation errors, so that a person sees all of them at once. Fields are named by
 * their path; messages never contain a value.
 */
export class CredentialReader {
  readonly #read: ReadSecret;
  readonly #missing: string[] = [];
  readonly #broken: string[] = [];

  constructor(read: ReadSecret) {
    this.#read = read;
  }

  /** The servers of spec.endpoints, without those that are broken. */
  endpoints(names: readonly string[]): readonly NamedEndpoint[] {
    return names.flatMap((name, index) => {
      const endpoint = parseEndpoint(name);
      if (typeof endpoint !== 'string') return [{ name, ...endpoint }];
      this.broken(`spec.endpoints[${index}] ${JSON.stringify(name)} ${endpoint}`);
      return [];
    });
  }

  /** The content of a field as text; undefined after a validation error. */
  async text(reference: ContentRef | undefined, field: string): Promise<string | undefined> {
    if (reference?.content !== undefined && reference.content !== '') {
      return Buffer.from(reference.content, 'base64').toString('utf8');
    }
    const secret = reference?.secretReference;
    if (secret === undefined) {
      this.#missing.push(`${field} is not set: set content or secretReference`);
      return undefined;
    }
    if (!secret.name || !secret.namespace) {
      this.#missing.push(`${field}.secretReference names no Secret: set name and namespace`);
      return undefined;
    }
    const value = await this.#read({ namespace: secret.namespace, name: secret.name, key: secret.keyPath });
    if (value === undefined || value.length === 0) {
      const where = `Secret ${secret.namespace}/${secret.name}, key ${JSON.stringify(secret.keyPath)}`;
      this.#missing.push(
        `${field} refers to ${where}, which does not exist or is empty: create it or correct the reference`,
      );
      return undefined;
    }
    return Buffer.from(value).toString('utf8');
  }

  /**
   * A user or a password: the text without one trailing line break, which `echo` and editors leave in Secrets. Undefined after a
   * validation error, which includes empty texts and control characters.
   */
  async word(reference: ContentRef | undefined, field: string): Promise<string | undefined> {
    const word = (await this.text(reference, field))?.replace(/\r?\n$/, '');
    if (word === undefined) return undefined;
    if (word === '') this.#missing.push(`${field} is empty: set its value`);
    else if (!/^[^\p{Cc}\ufffd]+$/u.test(word)) {
      this.broken(
        `${field} contains a line break, another control character or bytes that are not UTF-8: use one line of text`,
      );
    } else return word;
    return undefined;
  }

  /** The certificates of a PEM bundle, in its order; undefined after a validation error. */
  certificates(pem: string | undefined, field: string): readonly X509Certificate[] | undefined {
    return pem === undefined ? undefined : this.#parsed(() => parseCertificates(pem, field));
  }

  /** A private key in PKCS#8, PKCS#1 or SEC1 PEM; undefined after a validation error. */
  privateKey(pem: string | undefined, field: string): KeyObject | undefined {
    return pem === undefined ? undefined : this.#parsed(() => parsePrivateKey(pem, field));
  }

  /** A certificate with its chain, and its key; undefined after a validation error. */
  pair(
    certificatePem: string | undefined,
    keyPem: string | undefined,
    fields: { readonly certificate: string; readonly key: string },
  ): Credential | undefined {
    const certificates = this.certificates(certificatePem, fields.certificate);
    const key = this.privateKey(keyPem, fields.key);
    const leaf = certificates?.[0];
    if (certificates === undefined || leaf === undefined || key === undefined) return undefined;
    if (!leaf.checkPrivateKey(key)) {
      this.broken(
        `${fields.key} does not belong to the first certificate in ${fields.certificate}: use a matching pair`,
      );
      return undefined;
    }
    return { certificate: certificateBundle(certificates), key: pkcs8(key) };
  }

  /** The CA of a bundle that a private key belongs to, with that key; undefined after a validation error. */
  signer(
    authorities: readonly X509Certificate[] | undefined,
    keyPem: string | undefined,
    fields: { readonly certificate: string; readonly key: string },
  ): Credential | undefined {
    const key = this.privateKey(keyPem, fields.key);
    if (authorities === undefined || key === undefined) return undefined;
    const own = authorities.find((certificate) => certificate.checkPrivateKey(key));
    if (own === undefined) {
      this.broken(`${fields.key} belongs to no certificate in ${fields.certificate}: use the key of that CA`);
      return undefined;
    }
    if (!own.ca) {
      this.broken(
        `${fields.certificate} is not a CA certificate (basicConstraints CA is false): use the CA that signs clients`,
      );
      return undefined;
    }
    return { certificate: certificateBundle([own]), key: pkcs8(key) };
  }

  /** Records a validation error of the content. */
  broken(invalid: string): void {
    this.#broken.push(invalid);
  }

  #parsed<T>(parse: () => T): T | undefined {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      this.broken(error.message);
      return undefined;
    }
  }

  /** Throws `StoreError` (CredentialsMissing before CredentialsInvalid) with all validation errors, if there are any. */
  finish(): void {
    const errors = [...this.#missing, ...this.#broken];
    if (errors.length === 0) return;
    throw new StoreError(this.#missing.length > 0 ? 'CredentialsMissing' : 'CredentialsInvalid', errors.join('; '));
  }
}

/** Certificates as one PEM text, in their order. */
export function certificateBundle(certificates: readonly X509Certificate[]): string {
  return certificates.map((certificate) => `${certificate.toString().trim()}\n`).join('');
}

/** A private key as PKCS#8 PEM, converted from any accepted form. */
export function pkcs8(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
