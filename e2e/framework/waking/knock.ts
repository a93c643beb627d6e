import { connect } from 'node:net';

/** Says something to an endpoint as `host:port`, or nothing, and waits until the connection is closed. */
export async function knock(endpoint: string, text: string): Promise<void> {
  const [host = '', port = ''] = endpoint.split(':');
  await new Promise<void>((resolve) => {
    const socket = connect({ host, port: Number(port) }, () => socket.end(text));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      resolve();
    });
    socket.resume();
  });
}
