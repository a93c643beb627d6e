import { definitionOutdatedText } from '../../../runtime/reconcile/definition-outdated.ts';
import type { Blocker } from './stage-error.ts';
import { lookAgain } from './stage-error.ts';

/** The API server does not keep these fields of a ClusterAddon (`status.inventory`). */
export function definitionOutdated(fields: readonly string[]): Blocker {
  const message = definitionOutdatedText('ClusterAddon', fields);
  return { type: 'Ready', reason: 'DefinitionOutdated', message, afterMs: lookAgain.soon };
}
