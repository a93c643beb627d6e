import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { operatorKeys } from '../../stores/nats/operator.ts';
import type { OperatorKeys } from '../../stores/nats/operator.ts';
import { accountServerConfig, loginServerConfig } from '../../stores/nats/server-config.ts';
import type { NatsServerPlan } from '../../stores/nats/server-config.ts';
import { answersOk } from './answers-ok.ts';
import { freePorts } from './free-ports.ts';
import { clientPair, loopbackPair, serverCa } from './server-certificates.ts';
import { serverFolder } from './server-folder.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';

/** The tools that are NATS servers: the newest, and the oldest that a shared store may run. */
export const natsReleases = ['nats-server', 'nats-server-2.12.12'] as const;

/** What to start. */
export interface NatsOptions {
  /** The newest by default. */
  readonly release?: (typeof natsReleases)[number];
  /** `accounts`: an operator and a JWT resolver. A user and a password: one login. */
  readonly auth: 'accounts' | { readonly user: string; readonly password: string };
  /** Serves TLS only; `verify` also requires clients' certificates. */
  readonly tls?: 'server' | 'verify';
  /** In one cluster; one by default. */
  readonly servers?: number;
  /** Limit of the file store; 4GB by default. */
  readonly storage?: string;
  /** Gets the operator's keys before any configuration is written. */
  readonly prepare?: (keys: OperatorKeys) => void;
  /** Changes the text of the configuration file. */
  readonly edit?: (config: string) => string;
}

/** What a client needs to reach a NATS with TLS. */
export interface NatsTls {
  readonly ca: KeyPair;
  readonly client: KeyPair;
}

/** Real nats-server processes on 127.0.0.1. */
export interface NatsServer extends AsyncDisposable {
  /** `host:port`, one of each server. */
  readonly endpoints: readonly string[];
  /** Their files. */
  readonly folder: string;
  /** Of `accounts`. */
  readonly keys: OperatorKeys;
  /** Absent without TLS. */
  readonly tls?: NatsTls;
  /** What the servers logged, one file of each. */
  readonly logs: readonly string[];
  /** SIGKILL for one server; its data stay. */
  kill(server?: number): Promise<void>;
  /** Starts a killed server again with its data and waits until it serves. */
  restart(server?: number): Promise<void>;
}

interface Place {
  readonly folder: string;
  readonly log: string;
  readonly config: string;
  readonly monitor: string;
}

async function writeTls(folder: string): Promise<NatsTls> {
  const ca = await serverCa('nats-ca');
  const [server, client] = await Promise.all([loopbackPair(ca, 'nats'), clientPair(ca, 'steward')]);
  const write = (name: string, text: string) => writeFile(join(folder, name), text, { mode: 0o600 });
  await Promise.all([
    write('ca.crt', ca.certificate),
    write('tls.crt', server.certificate),
    write('tls.key', server.key),
  ]);
  return { ca, client };
}

/**
 * Starts nats-server on free loopback ports and waits until every server is healthy. The processes die with this one;
 * disposing kills them and removes their files. Throws with the end of a log when one does not start.
 */
export async function startNats(options: NatsOptions): Promise<NatsServer> {
  const { auth, release = 'nats-server', servers: count = 1, storage = '4GB', edit = (config) => config } = options;
  const program = (await resolveTools([release]))[release];
  const folder = await serverFolder();
  const processes = new Map<number, ServerProcess>();
  const keys = operatorKeys(randomBytes(32));
  options.prepare?.(keys);
  const stop = async (): Promise<void> => {
    await Promise.all([...processes.values()].map((process) => process.kill()));
    await folder[Symbol.asyncDispose]();
  };
  try {
    const tls = options.tls === undefined ? undefined : await writeTls(folder.path);
    const ports = await freePorts(3 * count);
    const at = (index: number): string => `127.0.0.1:${ports[index] ?? 0}`;
    const routes = Array.from({ length: count }, (_, index) => at(3 * index + 2));
    const places: Place[] = [];
    for (let index = 0; index < count; index += 1) {
      const plan: NatsServerPlan = {
        name: `nats-${index}`,
        listen: at(3 * index),
        monitor: at(3 * index + 1),
        folder: join(folder.path, `data-${index}`),
        storage,
        ...(tls && {
          tls: {
            certificate: join(folder.path, 'tls.crt'),
            key: join(folder.path, 'tls.key'),
            ...(options.tls === 'verify' && { ca: join(folder.path, 'ca.crt') }),
          },
        }),
        ...(count > 1 && { cluster: { listen: at(3 * index + 2), routes } }),
      };
      const config = join(folder.path, `nats-${index}.conf`);
      const text = auth === 'accounts' ? accountServerConfig(plan, keys) : loginServerConfig(plan, auth);
      await writeFile(config, edit(text), { mode: 0o600 });
      places.push({
        folder: plan.folder,
        log: join(folder.path, `nats-${index}.log`),
        config,
        monitor: at(3 * index + 1),
      });
    }
    const start = async (index: number): Promise<void> => {
      const place = places[index];
      if (place === undefined)
        throw new Error(`There are ${count} servers, counted from 0; there is no server ${index}`);
      const process = await startServerProcess({
        program,
        programArguments: ['--config', place.config],
        log: place.log,
      });
      processes.set(index, process);
      await process.until(() => answersOk(`http://${place.monitor}/healthz`), 30_000);
    };
    // A server of a cluster is healthy only when a majority is there, so all start before any is waited for.
    await Promise.all(places.map((_, index) => start(index)));
    return {
      endpoints: places.map((_, index) => at(3 * index)),
      folder: folder.path,
      keys,
      tls,
      logs: places.map(({ log }) => log),
      kill: async (server = 0) => processes.get(server)?.kill(),
      restart: async (server = 0) => {
        await processes.get(server)?.kill();
        await start(server);
      },
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
