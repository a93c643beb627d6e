import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { InvalidInputError } from '../invalid-input-error.ts';
import { readCertificateRequest } from './certificate-request.ts';

/** A request that another program makes; `extra` is put into OpenSSL's configuration. */
function request(subject: string, names: string, extra = ''): string {
  const directory = mkdtempSync(join(tmpdir(), 'csr-'));
  try {
    const config = [
      '[req]',
      'distinguished_name=dn',
      'attributes=attributes',
      ...(names === '' && extra === '' ? [] : ['req_extensions=ext']),
      'prompt=no',
      '[dn]',
      subject,
      '[attributes]',
      ...(extra.startsWith('challenge') ? [extra] : []),
      '[ext]',
      ...(names === '' ? [] : [`subjectAltName=${names}`]),
      ...(extra.startsWith('challenge') ? [] : [extra]),
    ];
    writeFileSync(join(directory, 'c'), config.join('\n'));
    const args = ['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    return execFileSync('openssl', [...args, '-config', 'c', '-keyout', 'k'], {
      cwd: directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const subject = 'O=system:nodes\nCN=system:node:worker-1';
const names = 'DNS:worker-1,IP:192.0.2.9,IP:fd00:0:0::9';
const good = request(subject, names);

function refusal(pem: string): string {
  try {
    return JSON.stringify(readCertificateRequest(pem));
  } catch (error) {
    if (error instanceof InvalidInputError) return error.message;
    throw error;
  }
}

describe('A certificate request', () => {
  test('of a kubelet is parsed: subject, names and addresses', () => {
    expect(readCertificateRequest(good)).toEqual({
      commonName: 'system:node:worker-1',
      organizations: ['system:nodes'],
      dnsNames: ['worker-1'],
      ipAddresses: ['192.0.2.9', 'fd00::9'],
    });
  });

  test.each([
    ['two common names', request('0.CN=system:node:a\n1.CN=system:node:b\nO=system:nodes', names), 'parts other than'],
    ['a part beside CN and O', request(`${subject}\nOU=x`, names), 'parts other than'],
    ['two values in one part', request('O=system:nodes\n+CN=system:node:a', names), 'parts other than'],
    ['no common name', request('O=system:nodes', names), 'parts other than'],
    ['another part in place of the common name', request('O=system:nodes\nOU=x', names), 'parts other than'],
    ['no names at all', request(subject, ''), 'attributes other than'],
    ['a password', request(subject, names, 'challengePassword=abcd'), 'attributes other than'],
    ['a further extension', request(subject, names, 'basicConstraints=CA:TRUE'), 'extensions other than'],
    ['another extension', request(subject, '', 'basicConstraints=CA:TRUE'), 'extensions other than'],
    ['a URI', request(subject, `${names},URI:spiffe://x`), 'neither DNS names nor'],
    ['an e-mail address', request(subject, `${names},email:a@b.example`), 'neither DNS names nor'],
    ['two blocks', `${good}${good}`, 'not a single certificate request'],
    ['something before the block', `x\n${good}`, 'not a single certificate request'],
    ['headers in the block', good.replace('-----\n', '-----\nA: b\n\n'), 'not a single certificate request'],
    ['another block', good.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'), 'not a single certificate request'],
    ['rubbish', '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----', 'cannot be decoded'],
    ['more than anybody needs', good.replace('\n', '\n'.repeat(9000)), 'longer than'],
  ])('with %s is refused', (_what, pem, expected) => {
    expect(refusal(pem)).toContain(expected);
  });

  test('of any bytes is parsed or refused, without another error', () => {
    const der = Buffer.from(good.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
    fc.assert(
      fc.property(fc.nat(der.length - 1), fc.nat(255), (at, value) => {
        const changed = Buffer.from(der);
        changed[at] = value;
        const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${changed.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
        expect(typeof refusal(pem)).toBe('string');
      }),
      { numRuns: 300 },
    );
  });
});
