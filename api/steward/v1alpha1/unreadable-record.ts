/** A retained record that Steward cannot have written. Where the retained data is remains unknown. */
export class UnreadableRecord {
  /** What is wrong with the record, without its content. */
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}
