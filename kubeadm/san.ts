import { InvalidInputError } from './invalid-input-error.ts';
import { canonicalIp } from './networks.ts';

const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const subdomain = new RegExp(`^${label}(?:\\.${label})*$`);
const wildcard = new RegExp(`^\\*\\.${label}(?:\\.${label})*$`);

/** Subject alternative names by kind, without duplicates, in the order first met; addresses in canonical form. */
export interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** Whether `text` is a DNS-1123 subdomain of at most 253 characters. */
export function isDnsName(text: string): boolean {
  return text.length <= 253 && subdomain.test(text);
}

/** Whether `text` is a wildcard name `*.example.org` of at most 253 characters. */
export function isWildcardName(text: string): boolean {
  return text.length <= 253 && wildcard.test(text);
}

/**
 * Sorts names into DNS names and IP addresses by kubeadm's rule: each is an IP address, a DNS-1123 subdomain or a wildcard name.
 * Throws `InvalidInputError` naming `field` and the entry's index.
 */
export function alternativeNames(names: readonly string[], field = 'certSANs'): AlternativeNames {
  const dnsNames = new Set<string>();
  const ipAddresses = new Set<string>();
  names.forEach((name, index) => {
    const ip = canonicalIp(name);
    if (ip !== undefined) ipAddresses.add(ip);
    else if (isDnsName(name) || isWildcardName(name)) dnsNames.add(name);
    else {
      throw new InvalidInputError({
        field: `${field}[${index}]`,
        value: name,
        reason: 'is neither an IP address nor a DNS name',
        remedy:
          'use an IPv4 or IPv6 address, a lower-case DNS name such as api.example.org, or a wildcard such as *.example.org',
      });
    }
  });
  return { dnsNames: [...dnsNames], ipAddresses: [...ipAddresses] };
}
