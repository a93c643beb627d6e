import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import type { Server } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issue, issueCa } from '../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { lifetimeFrom } from '../../kubeadm/pki/lifetime.ts';
import { tlsTarget } from './tls-target.ts';

const options = { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(new Date(), 3_600_000) } as const;
const authority = { commonName: 'root', ca: true, usages: [] } as const;

let root: KeyPair;
let between: KeyPair;
let server: Server;

beforeAll(async () => {
  root = await issueCa(authority, options);
  between = await issue({ ...authority, commonName: 'between' }, root, options);
  const leaf = { commonName: 'server', usages: ['serverAuth'], ipAddresses: ['127.0.0.1'] } as const;
  const { certificate, key } = await issue(leaf, between, options);
  server = createServer({ cert: certificate, key }, (socket) => socket.end());
  // A client that does not trust the server disconnects.
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(async () => {
  server.close();
  await once(server, 'close');
});

/** Connects with one CA; resolves when the server is trusted. */
async function meet(ca: string): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const target = tlsTarget({ server: `https://127.0.0.1:${port}`, ca });
  const socket = connect(target);
  try {
    await once(socket, 'secureConnect');
  } finally {
    socket.destroy();
  }
}

describe('A connection with a CA', () => {
  test('that was signed by another CA trusts what it signs, like Go clients', async () => {
    await expect(meet(between.certificate)).resolves.toBeUndefined();
  });

  test('that did not sign the server’s certificate trusts nothing', async () => {
    const other = await issue({ ...authority, commonName: 'between' }, root, options);
    await expect(meet(other.certificate)).rejects.toThrow();
    await expect(meet((await issueCa(authority, options)).certificate)).rejects.toThrow();
  });
});
