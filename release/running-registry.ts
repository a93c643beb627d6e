import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';

import { resolveTools } from '../e2e/tools/resolve.ts';

/** The pinned registry program on a port of this machine, its content in a folder. */
export class RunningRegistry implements AsyncDisposable {
  /** `<address>:<port>`. */
  readonly host: string;
  readonly #process: ChildProcess;

  private constructor(host: string, process: ChildProcess) {
    this.host = host;
    this.#process = process;
  }

  /**
   * Resolves when it listens.
   * @param users lines of an htpasswd file (bcrypt); without them anyone may push.
   * @param address of this machine to listen on.
   */
  static async start(folder: string, users?: string, address = '127.0.0.1'): Promise<RunningRegistry> {
    const { registry } = await resolveTools(['registry']);
    await mkdir(folder, { recursive: true });
    const passwords = join(folder, 'htpasswd');
    if (users !== undefined) await writeFile(passwords, users, { mode: 0o600 });
    const configuration = {
      version: '0.1',
      log: { level: 'info', formatter: 'json' },
      storage: { filesystem: { rootdirectory: join(folder, 'content') } },
      http: { addr: `${address}:0`, secret: 'of-this-run' },
      ...(users !== undefined && { auth: { htpasswd: { realm: 'release', path: passwords } } }),
    };
    const file = join(folder, 'config.yaml');
    await writeFile(file, stringify(configuration));
    const child = spawn(registry, ['serve', file], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { HOME: folder, PATH: '/usr/bin:/bin', OTEL_TRACES_EXPORTER: 'none' },
    });
    return new RunningRegistry(await listeningHost(child), child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('close', resolve));
    this.#process.kill('SIGKILL');
    await ended;
  }
}

async function listeningHost(child: ChildProcess): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-8000);
      const [, host] = /listening on (\d+\.\d+\.\d+\.\d+:\d+)/.exec(said) ?? [];
      if (host !== undefined) resolve(host);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      reject(new Error(`the registry exited with ${code ?? 'a signal'} before it listened: ${said}`));
    });
  });
}
