import { connect } from 'node:net';

import type { HostileHello } from '../../../testing/builders/hostile-hello.ts';

/** Where a tenant is called. */
export interface HelloTarget {
  readonly host: string;
  readonly port: number;
}

/** What became of a hello: `closed` is as it should be. */
export type HelloFate = 'closed' | 'refused' | 'answered' | 'unclosed';

/** The activator gives a hello three seconds. */
const closedWithinMs = 10_000;

/** Between two bytes of a slow one. */
const byteMs = 100;

/** Opens a connection, says a hello and waits until the other side closes. */
export function sayHello(target: HelloTarget, { kind, bytes }: HostileHello): Promise<HelloFate> {
  return new Promise((resolve) => {
    const socket = connect(target);
    let isOpen = false;
    let fate: HelloFate | undefined;
    let slow: NodeJS.Timeout | undefined;
    const limit = setTimeout(() => {
      fate ??= isOpen ? 'unclosed' : 'refused';
      socket.destroy();
    }, closedWithinMs);
    socket.once('connect', () => {
      isOpen = true;
      if (kind !== 'slow') {
        socket.write(bytes);
        return;
      }
      let at = 0;
      slow = setInterval(() => {
        socket.write(bytes.subarray(at, at + 1));
        at += 1;
      }, byteMs);
    });
    socket.on('data', () => {
      fate ??= 'answered';
    });
    // A connection may be closed in the middle of what is said.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      clearTimeout(limit);
      clearInterval(slow);
      resolve(fate ?? (isOpen ? 'closed' : 'refused'));
    });
  });
}
