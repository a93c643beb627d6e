import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** Serves a built site at 127.0.0.1 below a base, until the process ends. */
export async function serveFolder(folder: string, base: string, port: number): Promise<void> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const inside = pathname.startsWith(base)
      ? path.posix.normalize(`/${decodeURI(pathname.slice(base.length))}`)
      : '/404.html';
    const asked = path.join(folder, inside);
    const file = existsSync(asked) && statSync(asked).isDirectory() ? path.join(asked, 'index.html') : asked;
    const found = existsSync(file);
    response.writeHead(found ? 200 : 404, { 'content-type': types[path.extname(file)] ?? 'application/octet-stream' });
    createReadStream(found ? file : path.join(folder, '404.html')).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  console.log(`http://127.0.0.1:${port}${base}`);
}
