import { InvalidInputError } from '../invalid-input-error.ts';
import { parseCertificates } from './certificate-chain.ts';

/** In a kubeconfig that Steward has written. All of it would be parsed for nothing: this is asked in every reconcile. */
const clientCertificate = /^\s*client-certificate-data: "?([A-Za-z0-9+/=]+)"?$/gm;

/**
 * When the first certificate among the values of a Secret expires: PEM certificates, and client certificates of
 * kubeconfigs. Undefined without one. What cannot be parsed is left out: the phase that uses it says what is wrong with it.
 */
export function certificateExpiry(data: Readonly<Record<string, string>>): Date | undefined {
  const times = Object.values(data).flatMap((value) => [value, ...clientsIn(value)].flatMap(timesIn));
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

function clientsIn(value: string): readonly string[] {
  return [...value.matchAll(clientCertificate)].map(([, text = '']) => Buffer.from(text, 'base64').toString('utf8'));
}

function timesIn(pem: string): readonly number[] {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) return [];
  try {
    return parseCertificates(pem, 'certificate').map(({ validToDate }) => validToDate.getTime());
  } catch (error) {
    if (error instanceof InvalidInputError) return [];
    throw error;
  }
}
