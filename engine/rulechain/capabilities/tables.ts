/** Tables that an operator made for a tenant, to be filled by its rule chains and read by other programs. */
export interface CustomTableTarget {
  /** Without the prefix that all have: letters, digits and `_`. */
  readonly name: string
  readonly columns: readonly string[]
  /** Rows are removed after it; 0 keeps them. */
  readonly ttlSeconds: number
}

/** A value for each column of the target, in its order. */
export type CustomTableRow = readonly (string | null)[]

export interface CustomTable {
  /**
   * Puts the rows in the place of those with the same primary key. Resolves when they are committed, with an error for each that the table does not take;
   * of several with one key the last counts.
   */
  write(rows: readonly CustomTableRow[]): Promise<readonly (Error | undefined)[]>
}

export interface NodeTables {
  /** A table of the node's tenant and of no other. Rejects where there is none that can take such rows. */
  open(target: CustomTableTarget): Promise<CustomTable>
}
