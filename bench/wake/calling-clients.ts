import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { runCommand } from '../../e2e/cluster/machines/run-command.ts';
import { throughRouter } from '../../e2e/framework/network/through-router.ts';
import type { TenantStage } from '../../e2e/framework/tenant-stage.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import type { ClientName } from './wake-rows.ts';

/** A tenant with what programs need to call it. */
export interface CalledTenant {
  /** The path of a kubeconfig. */
  readonly kubeconfig: string;
  /** What curl is started with. */
  readonly curl: readonly string[];
}

/** Runs programs as their users do, and knows by their output that they were answered. */
export class CallingClients {
  readonly #cluster: ManagementCluster;
  readonly #helm: string;
  readonly #home: string;

  private constructor(cluster: ManagementCluster, helm: string, home: string) {
    this.#cluster = cluster;
    this.#helm = helm;
    this.#home = home;
  }

  static async open(cluster: ManagementCluster): Promise<CallingClients> {
    const { helm } = await resolveTools(['helm'], {
      progress: (line) => {
        cluster.harness.progress('tools', line);
      },
    });
    const home = path.join(cluster.harness.folder, 'wake-clients');
    await mkdir(home, { recursive: true });
    return new CallingClients(cluster, helm, home);
  }

  /** Writes the files that the programs read. With a router, the host name of the tenant leads to that. */
  async prepare(stage: TenantStage, name: string, router?: string): Promise<CalledTenant> {
    const text = await stage.kubeconfig(name);
    const { server, ca = '', clientCert = '', clientKey = '' } = parseKubeconfig(text);
    const at = (file: string): string => path.join(this.#home, `${name}-${file}`);
    const files = {
      kubeconfig: router === undefined ? text : throughRouter(text, router),
      ...{ 'ca.crt': ca, 'client.crt': clientCert, 'client.key': clientKey },
    };
    for (const [file, content] of Object.entries(files)) await writeFile(at(file), content, { mode: 0o600 });
    const { hostname, port } = new URL(server);
    const shownPort = port === '' ? '443' : port;
    return {
      kubeconfig: at('kubeconfig'),
      curl: [
        ...['--silent', '--show-error', '--fail', '--cacert', at('ca.crt')],
        ...['--cert', at('client.crt'), '--key', at('client.key')],
        ...(router === undefined ? [] : ['--connect-to', `${hostname}:${shownPort}:${router}:${shownPort}`]),
        `https://${hostname}:${shownPort}/readyz`,
      ],
    };
  }

  /** @throws Error when the program fails, or says something else than a control plane that answers. */
  async call(client: ClientName, tenant: CalledTenant): Promise<void> {
    const [expected, said] = await this.#run(client, tenant);
    if (!said.includes(expected)) throw new Error(`${client} said ${said.slice(0, 300)} in place of ${expected}`);
  }

  async #run(
    client: ClientName,
    { kubeconfig, curl }: CalledTenant,
  ): Promise<readonly [expected: string, said: string]> {
    switch (client) {
      case 'kubectl': {
        const command = ['--kubeconfig', kubeconfig, 'get', 'namespaces', '--output', 'name'];
        return ['namespace/kube-system', (await this.#cluster.kubectl(command)).stdout];
      }
      case 'helm': {
        const env = { HOME: this.#home, PATH: '/usr/local/bin:/usr/bin:/bin' };
        const command = ['list', '--kubeconfig', kubeconfig, '--namespace', 'kube-system'];
        return ['NAMESPACE', (await runCommand(this.#helm, command, { env })).stdout];
      }
      case 'curl':
        return ['ok', (await runCommand('curl', curl)).stdout];
    }
  }
}
