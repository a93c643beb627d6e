/** What ends the state that a reason of a condition describes. */
export interface Remedy {
  /** What a person does, in sentences. */
  readonly text: string;
  /**
   * Commands that show more, or that repair it. `<namespace>` and `<name>` stand for those of the object, `<datastore>` for the name of the
   * DataStore of a control plane, `<cluster>` for that of its Cluster.
   */
  readonly commands?: readonly string[];
  /** True if it ends without a person. */
  readonly passes: boolean;
}

/** The healthy state: there is nothing to do. */
export const healthy: Remedy = { text: 'Nothing.', passes: true };

/** Somebody has to do something. */
export function toDo(text: string, ...commands: readonly string[]): Remedy {
  return { text, passes: false, ...(commands.length > 0 && { commands }) };
}

/** It ends by itself; the text says when, and what to check if it does not. */
export function passing(text: string, ...commands: readonly string[]): Remedy {
  return { ...toDo(text, ...commands), passes: true };
}
