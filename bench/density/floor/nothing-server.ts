import { createServer } from 'node:http2';
import type { Http2Server, ServerHttp2Stream } from 'node:http2';

import { methods } from '../load/etcd-messages.ts';
import { framed } from '../load/message-frames.ts';

/** A notice follows as often as in the quick start of etcd. */
const noticeMs = 5_000;

/** A header, the field 1, with a revision of 1, its field 3; and that a transaction succeeded, the field 2. */
const header = Buffer.from([0x0a, 0x02, 0x18, 0x01]);
const succeeded = Buffer.concat([header, Buffer.from([0x10, 0x01])]);

/** Answers everything with the same, and keeps nothing: what is left is the client's own time. */
export function nothingServer(): Http2Server {
  const server = createServer();
  server.on('stream', (stream, headers) => {
    serve(stream, String(headers[':path']));
  });
  return server;
}

function serve(stream: ServerHttp2Stream, path: string): void {
  // Whoever asked has gone.
  stream.on('error', () => undefined);
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.once('wantTrailers', () => {
    stream.sendTrailers({ 'grpc-status': '0' });
  });
  stream.resume();
  if (path !== methods.watch.path) {
    stream.once('end', () => stream.end(framed(path === methods.txn.path ? succeeded : header)));
    return;
  }
  const notices = setInterval(() => stream.write(framed(header)), noticeMs);
  stream.once('close', () => {
    clearInterval(notices);
  });
}
