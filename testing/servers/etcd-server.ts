import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { answersOk } from './answers-ok.ts';
import { freePorts } from './free-ports.ts';
import { clientPair, loopbackPair, serverCa } from './server-certificates.ts';
import { serverFolder } from './server-folder.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';

const run = promisify(execFile);

/** What to start. */
export interface EtcdOptions {
  /** A pinned release, or the first of a minor; by default the default release. */
  readonly release?: string;
  /** Serves TLS only and requires client certificates. */
  readonly tls?: boolean;
  /** One by default. */
  readonly members?: number;
  /** Turns authentication on, with the user `root` known by its certificate; needs `tls`. */
  readonly auth?: boolean;
  /** The CA of servers and clients; a new one by default. */
  readonly ca?: KeyPair;
  /** Flags of etcd without the dashes, besides ours. */
  readonly flags?: Readonly<Record<string, string>>;
}

/** What a client needs to reach an etcd with TLS. */
export interface EtcdTls {
  readonly ca: KeyPair;
  /** The user `root`. */
  readonly root: KeyPair;
}

/** Real etcd processes on 127.0.0.1. */
export interface EtcdServer extends AsyncDisposable {
  /** With scheme, one of each member. */
  readonly endpoints: readonly string[];
  /** Its files. */
  readonly folder: string;
  /** Absent without TLS. */
  readonly tls?: EtcdTls;
  /** Runs etcdctl as root and returns what it prints. */
  control(...words: readonly string[]): Promise<string>;
  /** SIGKILL for one member; its data stay. */
  kill(member?: number): Promise<void>;
  /** Starts a killed member again with its data and waits until it serves. */
  restart(member?: number): Promise<void>;
  /** Ends a member as the kubelet does, starts another release with its data and waits until it serves. */
  replace(member: number, release: string): Promise<void>;
  /** SIGKILL for all members, and their files are removed. */
  stop(): Promise<void>;
}

interface Member {
  readonly name: string;
  readonly client: string;
  readonly peer: string;
}

interface Etcd {
  readonly folder: string;
  readonly program: string;
  readonly members: readonly Member[];
  readonly tls?: EtcdTls;
  readonly flags: Readonly<Record<string, string>>;
}

const file = {
  ca: 'ca.crt',
  certificate: 'server.crt',
  key: 'server.key',
  rootCertificate: 'root.crt',
  rootKey: 'root.key',
} as const;

const planMembers = async (count: number, scheme: string): Promise<readonly Member[]> => {
  const ports = await freePorts(2 * count);
  return Array.from({ length: count }, (_, index) => ({
    name: `member-${index}`,
    client: `${scheme}://127.0.0.1:${ports[2 * index] ?? 0}`,
    peer: `${scheme}://127.0.0.1:${ports[2 * index + 1] ?? 0}`,
  }));
};

const writeTls = async (folder: string, given?: KeyPair): Promise<EtcdTls> => {
  const ca = given ?? (await serverCa('etcd-ca'));
  const [server, root] = await Promise.all([loopbackPair(ca, 'etcd-server'), clientPair(ca, 'root')]);
  const write = (name: string, text: string) => writeFile(join(folder, name), text, { mode: 0o600 });
  await Promise.all([
    write(file.ca, ca.certificate),
    write(file.certificate, server.certificate),
    write(file.key, server.key),
    write(file.rootCertificate, root.certificate),
    write(file.rootKey, root.key),
  ]);
  return { ca, root };
};

const memberArguments = ({ folder, members, tls, flags }: Etcd, member: Member): readonly string[] => {
  const trust = (prefix: string): readonly string[] => [
    `--${prefix}client-cert-auth`,
    `--${prefix}trusted-ca-file=${join(folder, file.ca)}`,
    `--${prefix}cert-file=${join(folder, file.certificate)}`,
    `--${prefix}key-file=${join(folder, file.key)}`,
  ];
  return [
    `--name=${member.name}`,
    `--data-dir=${join(folder, member.name)}`,
    `--listen-client-urls=${member.client}`,
    `--advertise-client-urls=${member.client}`,
    `--listen-peer-urls=${member.peer}`,
    `--initial-advertise-peer-urls=${member.peer}`,
    `--initial-cluster=${members.map(({ name, peer }) => `${name}=${peer}`).join(',')}`,
    ...(tls === undefined ? [] : [...trust(''), ...trust('peer-')]),
    // Nothing here outlives the test, so nothing needs to reach the disk.
    '--unsafe-no-fsync',
    '--log-level=warn',
    ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
  ];
};

const startMember = async (etcd: Etcd, member: Member, program = etcd.program): Promise<ServerProcess> => {
  await mkdir(join(etcd.folder, member.name), { recursive: true, mode: 0o700 });
  return startServerProcess({
    program,
    programArguments: memberArguments(etcd, member),
    log: join(etcd.folder, `${member.name}.log`),
  });
};

const untilServing = async ({ tls }: Etcd, member: Member, process: ServerProcess): Promise<void> => {
  const credentials =
    tls === undefined ? {} : { ca: tls.ca.certificate, cert: tls.root.certificate, key: tls.root.key };
  await process.until(() => answersOk(`${member.client}/readyz`, credentials), 60_000);
};

const controlArguments = ({ folder, members, tls }: Etcd): readonly string[] => [
  `--endpoints=${members.map(({ client }) => client).join(',')}`,
  ...(tls === undefined
    ? []
    : [
        `--cacert=${join(folder, file.ca)}`,
        `--cert=${join(folder, file.rootCertificate)}`,
        `--key=${join(folder, file.rootKey)}`,
      ]),
];

/**
 * Starts etcd on free loopback ports and waits until every member serves. The processes die with this one; stopping or
 * disposing of it kills them and removes their files. Throws with the remedy when no pinned etcd can be had.
 */
export const startEtcd = async (options: EtcdOptions = {}): Promise<EtcdServer> => {
  const { tls: secure = false, members: count = 1, auth = false, release, flags = {} } = options;
  if (auth && !secure) throw new Error('etcd authentication knows users by their certificates here: ask for tls, too');
  const tools = await resolveTools(['etcd', 'etcdctl'], { etcd: release });
  const folder = await serverFolder();
  const processes = new Map<number, ServerProcess>();
  const stop = async (): Promise<void> => {
    await Promise.all([...processes.values()].map((process) => process.kill()));
    await folder[Symbol.asyncDispose]();
  };
  try {
    const members = await planMembers(count, secure ? 'https' : 'http');
    const tls = secure ? await writeTls(folder.path, options.ca) : undefined;
    const etcd: Etcd = { folder: folder.path, program: tools.etcd, members, tls, flags };
    const control = async (...words: readonly string[]): Promise<string> =>
      (await run(tools.etcdctl, [...controlArguments(etcd), ...words], { maxBuffer: 1 << 30 })).stdout;
    const start = async (index: number, program?: string): Promise<void> => {
      const member = members[index];
      if (member === undefined)
        throw new Error(`There are ${count} members, counted from 0; there is no member ${index}`);
      const process = await startMember(etcd, member, program);
      processes.set(index, process);
      await untilServing(etcd, member, process);
    };
    // A member serves only when a majority is there, so all start before any is waited for.
    await Promise.all(members.map((_, index) => start(index)));
    if (auth) {
      await control('user', 'add', 'root', '--no-password');
      await control('user', 'grant-role', 'root', 'root');
      await control('auth', 'enable');
    }
    return {
      endpoints: members.map(({ client }) => client),
      folder: folder.path,
      tls,
      control,
      kill: async (member = 0) => processes.get(member)?.kill(),
      restart: async (member = 0) => {
        await processes.get(member)?.kill();
        await start(member);
      },
      replace: async (member, wanted) => {
        const { etcd: program } = await resolveTools(['etcd'], { etcd: wanted });
        await processes.get(member)?.terminate();
        await start(member, program);
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
