import { connect } from 'node:net';

/**
 * Says something to an endpoint as `host:port`, or nothing, and waits until the connection is closed.
 * @throws Error when nobody is there, or the connection stays open for 10 s.
 */
export async function knock(endpoint: string, text: string): Promise<void> {
  const [host = '', port = ''] = endpoint.split(':');
  await new Promise<void>((resolve, reject) => {
    let isOpen = false;
    const socket = connect({ host, port: Number(port) }, () => {
      isOpen = true;
      socket.end(text);
    });
    const timer = setTimeout(() => {
      reject(new Error(`${endpoint} does not close a connection without a hello`));
      socket.destroy();
    }, 10_000);
    socket.on('error', (error) => {
      // Whoever closes it may do so with a reset.
      if (!isOpen) reject(error);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
    socket.resume();
  });
}
