import { join } from 'node:path';
import { freePorts } from '../free-ports.ts';
import { startServerProcess } from '../server-process.ts';

/** How an activator is started. */
export interface ActivatorProcessOptions {
  readonly kubeconfigPath: string;
  /** That of the manager. */
  readonly namespace: string;
  /** The address at which it listens for tenants. */
  readonly host: string;
  /** The file that its outputs are appended to. */
  readonly log: string;
}

/** An activator as a process of its own. */
export interface ActivatorProcess extends AsyncDisposable {
  readonly host: string;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  /** SIGTERM, and waits until it is gone. May be sent again meanwhile. */
  terminate(): Promise<void>;
  /** Whether it says that it is ready. */
  isReady(): Promise<boolean>;
  /** One of its metrics, such as `steward_activator_held_connections`. */
  metric(name: string): Promise<number>;
}

const secondsToStart = 60;

/** Starts an activator and waits until it listens on the ports of its table. */
export async function startActivatorProcess(options: ActivatorProcessOptions): Promise<ActivatorProcess> {
  const { kubeconfigPath, namespace, host, log } = options;
  const [port = 0] = await freePorts(1);
  const pages = `127.0.0.1:${port}`;
  const started = await startServerProcess({
    program: process.execPath,
    programArguments: [join(import.meta.dirname, 'main.ts'), kubeconfigPath, namespace, host, pages],
    log,
  });
  const isReady = (): Promise<boolean> =>
    fetch(`http://${pages}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await started.until(isReady, secondsToStart * 1000);
  return {
    host,
    kill: () => started.kill(),
    terminate: () => started.terminate(),
    isReady,
    metric: async (name) => {
      const text = await (await fetch(`http://${pages}/metrics`)).text();
      const line = text.split('\n').find((each) => each.startsWith(`${name} `));
      if (line === undefined) throw new Error(`the activator has no metric ${name}`);
      return Number(line.slice(name.length));
    },
    [Symbol.asyncDispose]: () => started.kill(),
  };
}
