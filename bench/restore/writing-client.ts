import { KubernetesClient } from '../../e2e/cluster/kubernetes-client.ts';
import { HistoryWriter } from './history-writer.ts';
import type { HistoryWrite } from './written-history.ts';

/** What the process is asked to do, once. It says `begun`, ends the writing at the message `stop`, and answers with the history. */
export interface WritingOrder {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly perSecond: number;
}

let writer: HistoryWriter | undefined;

process.on('message', (message: WritingOrder | 'stop') => {
  if (message === 'stop') {
    writer?.stop();
    return;
  }
  writer = new HistoryWriter(new KubernetesClient(message.kubeconfig).connection, message);
  const writing = writer.write();
  process.send?.('begun');
  writing.then(
    (history: readonly HistoryWrite[]) => process.send?.(history),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
// Nobody wants to know what it wrote anymore.
process.on('disconnect', () => process.exit(0));
