import type { X509Certificate } from 'node:crypto';
import { canonicalIp } from '../networks.ts';

/**
 * The names of the SAN extension as Node prints them, addresses in canonical form; entries that Node quotes match none of our
 * names.
 */
export function certificateNames(certificate: X509Certificate): ReadonlySet<string> {
  const entries = (certificate.subjectAltName ?? '').split(', ').map((entry) => {
    const ip = /^IP Address:(.*)$/.exec(entry)?.[1];
    return ip === undefined ? entry.replace(/^DNS:/, '') : (canonicalIp(ip) ?? ip);
  });
  return new Set(entries);
}
