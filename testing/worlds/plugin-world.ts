import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import type { Connection } from '../../runtime/client/connection.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Clock } from '../../runtime/clock.ts';
import { runPlugin } from '../../cmd/plugin/program.ts';
import type { ExitCode } from '../../cmd/plugin/frame/exit-codes.ts';
import type { CredentialProgram, World } from '../../cmd/plugin/frame/world.ts';
import { FakeCluster } from '../fake/fake-cluster.ts';

/** What one run of the plugin did. */
export interface PluginRun {
  readonly code: ExitCode;
  readonly out: string;
  readonly notes: readonly string[];
}

/** What a test says of the surroundings of the plugin; the rest is a cluster in memory behind a kubeconfig. */
export interface PluginWorldOptions {
  /** The kubeconfig; by default one whose context `test` is in the namespace `tenants`. */
  readonly kubeconfig?: string;
  readonly management?: FakeCluster;
  readonly tenant?: FakeCluster;
  readonly environment?: Readonly<Record<string, string>>;
  readonly colors?: boolean;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** What a person answers to questions; without it, nobody can be asked. */
  readonly answer?: boolean;
  readonly credentials?: (program: CredentialProgram) => string;
}

const kubeconfigText = `apiVersion: v1
kind: Config
current-context: test
clusters: [{ name: management, cluster: { server: "https://management.test" } }]
users: [{ name: person, user: { token: t } }]
contexts: [{ name: test, context: { cluster: management, user: person, namespace: tenants } }]
`;

/** The surroundings of the plugin, in memory but for a folder with a kubeconfig. */
export class PluginWorld implements AsyncDisposable {
  readonly management: FakeCluster;
  readonly tenant: FakeCluster;
  readonly folder: string;
  /** How each cluster was reached, in order. */
  readonly connections: (readonly [name: string, connection: Connection])[] = [];
  /** Called with each line on the standard error, before the next one: what happens in the cluster meanwhile. */
  onNote: ((line: string) => Promise<void>) | undefined;
  readonly #options: PluginWorldOptions;

  private constructor(folder: string, options: PluginWorldOptions) {
    this.folder = folder;
    this.#options = options;
    this.management = options.management ?? new FakeCluster();
    this.tenant = options.tenant ?? new FakeCluster();
  }

  static async create(options: PluginWorldOptions = {}): Promise<PluginWorld> {
    const folder = await mkdtemp(join(tmpdir(), 'steward-plugin-'));
    await writeFile(join(folder, 'config'), options.kubeconfig ?? kubeconfigText);
    return new PluginWorld(folder, options);
  }

  /** Runs a command line; words are separated by spaces. */
  async run(commandLine: string): Promise<PluginRun> {
    let out = '';
    const notes: string[] = [];
    let happening: Promise<void> = Promise.resolve();
    const { environment = {}, colors = false, signal = new AbortController().signal } = this.#options;
    const { answer, clock = systemClock, credentials } = this.#options;
    const world: World = {
      environment: { KUBECONFIG: join(this.folder, 'config'), ...environment },
      home: this.folder,
      out: (text) => {
        out += text;
      },
      note: (line) => {
        notes.push(line);
        happening = happening.then(() => this.onNote?.(line));
      },
      colors,
      interactive: answer !== undefined,
      confirm: (question) => {
        notes.push(question);
        return Promise.resolve(answer === true);
      },
      clock,
      random: (octets) => randomBytes(octets),
      signal,
      openCluster: (connection, name) => {
        this.connections.push([name, connection]);
        return staysOpen(name === 'management' ? this.management : this.tenant);
      },
      runCredentialProgram: (program) => {
        if (credentials === undefined) throw new Error('this test has no credential program');
        return Promise.resolve(credentials(program));
      },
    };
    const words = commandLine.split(' ').filter((word) => word !== '');
    const code = await runPlugin(words, world);
    await happening;
    return { code, out, notes };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The same cluster, which the plugin may close without an effect on the test. */
function staysOpen(cluster: Cluster): Cluster {
  return new Proxy(cluster, {
    get: (target, name) => {
      if (name === 'close') return () => Promise.resolve();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
