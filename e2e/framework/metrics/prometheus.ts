import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { stringify } from 'yaml';

import type { Harness } from '../../cluster/harness.ts';
import { isAlive } from '../../cluster/machines/process-identity.ts';
import type { ProcessIdentity } from '../../cluster/machines/process-identity.ts';
import { startBackground } from '../../cluster/machines/start-background.ts';
import { toolEnvironment } from '../../tools/tool-environment.ts';
import { debianProgram } from '../../tools/debian-program.ts';
import { deadlineIn } from '../deadline-in.ts';
import { minutes } from '../minutes.ts';

/** One series of an answer. */
export interface PrometheusSample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

/** What Prometheus does. */
export interface PrometheusOptions {
  /** It ends with this harness, and its files are in its folder. */
  readonly harness: Harness;
  /** Is shown to what it scrapes. */
  readonly token: string;
  /** Content of its rule file. */
  readonly rules: object;
}

/** Its configuration file. */
interface PrometheusConfig {
  readonly scrape_configs: readonly object[];
}

/** Prometheus as Debian builds it, on this host; it scrapes and evaluates every second. */
export class Prometheus implements AsyncDisposable {
  readonly #server: ProcessIdentity;
  readonly #folder: string;
  readonly #url: string;
  readonly #config: PrometheusConfig;

  constructor(server: ProcessIdentity, url: string, { folder, config }: { folder: string; config: PrometheusConfig }) {
    this.#server = server;
    this.#folder = folder;
    this.#url = url;
    this.#config = config;
  }

  static async start({ harness, token, rules }: PrometheusOptions): Promise<Prometheus> {
    const name = `prometheus-${process.pid}`;
    const folder = path.join(harness.folder, name);
    await mkdir(folder);
    const program = await debianProgram(
      { name: 'prometheus', program: 'usr/bin/prometheus' },
      toolEnvironment().cacheFolder,
    );
    const port = await freePort();
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: [
        {
          job_name: 'steward',
          scheme: 'https',
          tls_config: { insecure_skip_verify: true },
          authorization: { credentials: token },
          file_sd_configs: [{ files: ['targets.json'], refresh_interval: '1s' }],
        },
      ],
    };
    await writeFile(path.join(folder, 'rules.yaml'), stringify(rules));
    await writeFile(path.join(folder, 'targets.json'), '[]');
    await writeFile(path.join(folder, 'prometheus.yaml'), stringify(config));
    const { process: server, log } = await startBackground(harness, name, [
      program,
      `--config.file=${path.join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${path.join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    const prometheus = new Prometheus(server, `http://127.0.0.1:${port}`, { folder, config });
    for (const deadline = deadlineIn(minutes); !(await prometheus.#isReady());) {
      const isGone = !(await isAlive(server)) || Date.now() > deadline;
      if (isGone) throw new Error(`Prometheus does not serve:\n${await readFile(log, 'utf8')}`);
      await pause(100);
    }
    return prometheus;
  }

  /** Scrapes these addresses from now on, as `host:port`, and no others. */
  async scrape(addresses: readonly string[]): Promise<void> {
    const file = path.join(this.#folder, 'targets.json');
    await writeFile(`${file}.new`, JSON.stringify([{ targets: addresses }]));
    await rename(`${file}.new`, file);
  }

  /** Scrapes also what these scrape configurations say from now on, in place of those that were given before. */
  async scrapeAlso(jobs: readonly object[]): Promise<void> {
    const config = { ...this.#config, scrape_configs: [...this.#config.scrape_configs, ...jobs] };
    await writeFile(path.join(this.#folder, 'prometheus.yaml'), stringify(config));
    process.kill(this.#server.pid, 'SIGHUP');
  }

  /** Keeps a file for a scrape configuration, and returns where it is. */
  async keep(name: string, content: string | Uint8Array): Promise<string> {
    const file = path.join(this.#folder, name);
    await writeFile(file, content, { mode: 0o600 });
    return file;
  }

  /** What an expression of PromQL gives now. */
  async query(expression: string): Promise<readonly PrometheusSample[]> {
    const body = new URLSearchParams({ query: expression });
    const answer = await fetch(`${this.#url}/api/v1/query`, { method: 'POST', body });
    const { status, data, error } = (await answer.json()) as {
      status: string;
      data?: { result: readonly PrometheusSample[] };
      error?: string;
    };
    if (status !== 'success') throw new Error(`${expression}: ${error ?? answer.statusText}`);
    return data?.result ?? [];
  }

  /** The alerts that fire, each as its name and the object that it names. */
  async firing(): Promise<readonly string[]> {
    const samples = await this.query('ALERTS{alertstate="firing"}');
    return samples
      .map(({ metric: { alertname = '', name = '', secret } }) => [alertname, secret ?? name].join(' ').trim())
      .toSorted();
  }

  /**
   * Waits until exactly these alerts fire; returns what fires at the end of the patience otherwise. An alert about the last five minutes
   * fires for that long after one slow answer.
   */
  async fires(alerts: readonly string[]): Promise<readonly string[]> {
    const wanted = JSON.stringify(alerts.toSorted());
    for (const deadline = deadlineIn(6 * minutes); ;) {
      const found = await this.firing();
      if (JSON.stringify(found) === wanted || Date.now() > deadline) return found;
      await pause(500);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (await isAlive(this.#server)) process.kill(this.#server.pid, 'SIGTERM');
    for (const deadline = deadlineIn(minutes); (await isAlive(this.#server)) && Date.now() < deadline;) await pause(50);
  }

  async #isReady(): Promise<boolean> {
    return fetch(`${this.#url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

/** A port of this host at which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
