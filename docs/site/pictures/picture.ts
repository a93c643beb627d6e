/** A point, in the picture's units: to the right, and down. */
export type Point = readonly [x: number, y: number];

/** An area with a name in its upper left corner. */
export interface Area {
  readonly at: Point;
  readonly size: Point;
  readonly name: string;
  /** Dashed: it is there only if something requires it. */
  readonly optional?: true;
}

/** A box with centered lines; the first one is emphasized. */
export interface Box {
  readonly at: Point;
  readonly size: Point;
  readonly lines: readonly string[];
  readonly optional?: true;
}

/** A line with a head at its last point. */
export interface Arrow {
  readonly through: readonly Point[];
  readonly both?: true;
  readonly label?: { readonly at: Point; readonly lines: readonly string[] };
}

/** What a picture of the documentation shows; draw-picture.ts draws it. */
export interface Picture {
  /** Its file is docs/pictures/<name>.svg. */
  readonly name: string;
  readonly title: string;
  /** For those who do not see it. */
  readonly description: string;
  readonly size: Point;
  readonly areas: readonly Area[];
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
}
