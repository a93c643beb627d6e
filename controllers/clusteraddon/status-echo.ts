import type { ClusterAddonStatus } from '../../api/clusterstack/cluster-addon.ts';
import { lostFields } from '../../runtime/definition-outdated.ts';

type Fields = Partial<Record<string, unknown>>;

/**
 * Whether the API server keeps what one visit leaves in the status for the next, which follows at once. A definition that is older than
 * the manager drops fields that it does not know: then the next visit would do the same again, and so on without a pause.
 */
export class StatusEcho {
  /** What is dropped once may not be needed: only what is told again, before anything comes to rest, makes a circle. */
  #dropped: ReadonlySet<string> = new Set();
  #lost: Partial<ClusterAddonStatus> = {};

  /** Fields that do not stay though visits go on from them, with what they should be. */
  get lost(): Partial<ClusterAddonStatus> {
    return this.#lost;
  }

  /** What was told in a visit that is followed at once, and what the API server has of it. */
  heard(told: Partial<ClusterAddonStatus>, stored: ClusterAddonStatus | undefined): void {
    const all = Object.entries(told);
    const dropped = all.filter(
      ([name, field]) => lostFields(field, (stored as Fields | undefined)?.[name], name).length > 0,
    );
    this.#lost = Object.fromEntries(dropped.filter(([name]) => this.#dropped.has(name)));
    this.#dropped = new Set([...this.#dropped, ...dropped.map(([name]) => name)]);
  }

  /** Visits come to rest. */
  reset(): void {
    this.#dropped = new Set();
    this.#lost = {};
  }
}
