import { attachManagementCluster } from '../cluster/management-cluster.ts';
import { InfrastructureProvider } from './provider.ts';

/** Runs the infrastructure provider for one harness until a signal ends it: `node e2e/infrastructure/main.ts <harness>`. */
async function main([harness]: readonly string[]): Promise<void> {
  if (harness === undefined) throw new Error('usage: node e2e/infrastructure/main.ts <harness>');
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stop.abort();
    });
  }
  const provider = new InfrastructureProvider(await attachManagementCluster(harness), {
    signal: stop.signal,
    onError: console.error,
    onStep: (machine, step) => {
      console.log(`${new Date().toISOString()} ${machine}: ${step}`);
    },
  });
  await provider.run();
  process.exit(0);
}

await main(process.argv.slice(2));
