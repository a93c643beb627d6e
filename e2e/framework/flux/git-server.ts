import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { runCommand } from '../../cluster/machines/run-command.ts';
import { ensurePackages } from '../../tools/debian-packages.ts';
import { logStep } from '../log.ts';

const repository = 'fleet.git';
const branch = 'main';

/** Everything that is set for a program of git: this host's own configuration of git must not matter. */
const environment = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

/** One repository that is cloned over HTTP, served by git's own backend, with a work tree beside it. */
export class GitServer implements AsyncDisposable {
  /** Where it is cloned from. */
  readonly url: string;
  readonly #server: Server;
  readonly #work: string;

  private constructor(server: Server, url: string, work: string) {
    this.#server = server;
    this.url = url;
    this.#work = work;
  }

  /** @param address of this host to listen on. */
  static async start(folder: string, address: string): Promise<GitServer> {
    await ensurePackages(['git'], (line) => {
      logStep('git', line);
    });
    const work = path.join(folder, 'work');
    await mkdir(work, { recursive: true });
    await git(folder, 'init', '--quiet', '--bare', `--initial-branch=${branch}`, repository);
    await git(work, 'init', '--quiet', `--initial-branch=${branch}`);
    const server = createServer((request, response) => {
      answer(folder, request, response);
    });
    server.listen(0, address);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new GitServer(server, `http://${address}:${port}/${repository}`, work);
  }

  /**
   * Writes files, or removes those that are undefined, in one commit that is pushed.
   * @returns what Flux calls this revision.
   */
  async commit(message: string, files: Readonly<Record<string, string | undefined>>): Promise<string> {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(this.#work, name);
      await mkdir(path.dirname(file), { recursive: true });
      if (text === undefined) await rm(file);
      else await writeFile(file, text);
    }
    await git(this.#work, 'add', '--all');
    await git(this.#work, 'commit', '--quiet', '--message', message);
    await git(this.#work, 'push', '--quiet', path.join('..', repository), branch);
    return `${branch}@sha1:${await git(this.#work, 'rev-parse', 'HEAD')}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

async function git(cwd: string, ...words: readonly string[]): Promise<string> {
  return (await runCommand('git', words, { cwd, env: environment })).stdout.trim();
}

/** Answers by `git http-backend`, a program of the Common Gateway Interface. */
function answer(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  const header = (name: string): string => String(request.headers[name] ?? '');
  const backend = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...environment,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: header('git-protocol'),
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: header('content-type'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
    },
  });
  backend.on('error', (error) => response.destroy(error));
  // It may end without reading what it was sent.
  backend.stdin.on('error', () => undefined);
  request.pipe(backend.stdin);
  let head = Buffer.alloc(0);
  const onHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    backend.stdout.off('data', onHead);
    const lines = head.subarray(0, end).toString().split('\r\n');
    const fields = lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]);
    const [, status = '200'] = fields.find(([name]) => name === 'Status') ?? [];
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(fields.filter(([name]) => name !== 'Status')));
    response.write(head.subarray(end + 4));
    backend.stdout.pipe(response);
  };
  backend.stdout.on('data', onHead);
}
