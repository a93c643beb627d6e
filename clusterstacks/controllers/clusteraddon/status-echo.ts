import type { ClusterAddonStatus } from '../../api/cluster-addon.ts';
import { lostFields } from '../../../runtime/reconcile/definition-outdated.ts';

type Fields = Partial<Record<string, unknown>>;

/**
 * Whether the API server stores what one reconcile writes into the status for the next, which follows at once. If the
 * CustomResourceDefinition is older than the manager, it drops unknown fields: then the next reconcile would do the same again, without a
 * pause.
 */
export class StatusEcho {
  /** A field that is dropped once may not be needed; only one that is written again before the object settles makes an endless loop. */
  #dropped: ReadonlySet<string> = new Set();
  #lost: Partial<ClusterAddonStatus> = {};

  /** Fields that are dropped although later reconciles depend on them, with the values that they should have. */
  get lost(): Partial<ClusterAddonStatus> {
    return this.#lost;
  }

  /** What a reconcile wrote that is followed at once, and what the API server stored of it. */
  compare(sent: Partial<ClusterAddonStatus>, stored: ClusterAddonStatus | undefined): void {
    const all = Object.entries(sent);
    const dropped = all.filter(
      ([name, field]) => lostFields(field, (stored as Fields | undefined)?.[name], name).length > 0,
    );
    this.#lost = Object.fromEntries(dropped.filter(([name]) => this.#dropped.has(name)));
    this.#dropped = new Set([...this.#dropped, ...dropped.map(([name]) => name)]);
  }

  /** The object has settled. */
  reset(): void {
    this.#dropped = new Set();
    this.#lost = {};
  }
}
