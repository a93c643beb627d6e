import { X509Certificate } from 'node:crypto';

const pem = /-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----\n?/g;
const base64 = /[A-Za-z0-9+/]{160,}={0,2}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const duration = /\b\d+\.\d s\b/g;
const hash = /\b[0-9a-f]{32,128}\b/g;
const uid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const dayMs = 86_400_000;

/** A text without UIDs. */
export const withoutUids = (text: string): string => text.replaceAll(uid, '<uid>');

/** Descriptions of certificates: most are the same in all runs. */
const described = new Map<string, string>();

/**
 * A text without what differs from run to run: times, hashes, keys. Certificates become what they certify, and which of the given CAs have
 * signed them.
 */
export function plainText(text: string, authorities: ReadonlyMap<string, X509Certificate>): string {
  return text
    .replaceAll(pem, (block, label: string) =>
      label === 'CERTIFICATE' ? `<certificate ${certificateText(block, authorities)}>` : `<${label.toLowerCase()}>`,
    )
    .replaceAll(base64, (block) => {
      const inner = Buffer.from(block, 'base64').toString();
      return inner.includes('-----BEGIN ') ? plainText(inner, authorities) : block;
    })
    .replaceAll(time, '<time>')
    .replaceAll(uid, '<uid>')
    .replaceAll(duration, '<duration>')
    .replaceAll(hash, '<hash>');
}

function certificateText(block: string, authorities: ReadonlyMap<string, X509Certificate>): string {
  const id = [block, ...[...authorities].map(([name, { fingerprint }]) => `${name} ${fingerprint}`)].join('\n');
  const known = described.get(id);
  if (known !== undefined) return known;
  const certificate = new X509Certificate(block);
  const { subject, issuer, subjectAltName = '', validFromDate, validToDate } = certificate;
  const days = Math.round((validToDate.getTime() - validFromDate.getTime()) / dayMs);
  const signers = [...authorities].flatMap(([name, authority]) =>
    certificate.issuer === authority.subject && certificate.verify(authority.publicKey) ? [name] : [],
  );
  const parts = [
    subject,
    `for ${subjectAltName}`,
    `by ${issuer}`,
    `in ${signers.join(' and ') || 'no Secret'}`,
    `${days} days`,
  ];
  const text = parts.join(', ').replaceAll('\n', ' ');
  described.set(id, text);
  return text;
}
