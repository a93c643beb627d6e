import { inspect } from 'node:util';
import { readActivatorSettings, startActivator } from '../../../cmd/activator/activator.ts';
import { serveUntilSignal } from '../../../cmd/activator/serve-until-signal.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { loadKubeconfigFile } from '../../../runtime/client/load-connection.ts';
import { createWinstonLogger } from '../../../runtime/observe/winston-logger.ts';

/**
 * An activator that listens on one address of this host, so that there can be several. Its arguments are the path of a kubeconfig, the
 * namespace of the manager, that address, and the address of its pages.
 */
const [kubeconfig = '', namespace = '', host = '', pages = ''] = process.argv.slice(2);
try {
  const cluster = openCluster(loadKubeconfigFile(kubeconfig), { name: 'management' });
  const settings = readActivatorSettings([`--pod-namespace=${namespace}`, `--health-probe-bind-address=${pages}`], {});
  const log = createWinstonLogger({ level: 'info', format: 'json', stream: process.stdout, now: () => new Date() });
  await serveUntilSignal(() => startActivator(cluster, settings, log, host), {
    clock: systemClock,
    log,
    signals: process,
  });
  process.exit(0);
} catch (error) {
  console.error(inspect(error));
  process.exitCode = 1;
}
