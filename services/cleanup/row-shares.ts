/**
 * Which tenants may have come to the number of rows that each may have, by what this process wrote for them: only theirs are counted, as a
 * count looks at every row.
 */

/** Others write too: a tenant is counted again when this process filled this part of its room. */
const OWN_PART = 1 / 8

/** Counted by one sweep, whose statement names them. */
const TENANTS_AT_ONCE = 500

export interface TenantRows {
  readonly tenantId: string
  readonly rows: number
}

interface Share {
  written: number
  /** Left when its rows were counted; none where they never were. */
  room: number
}

export class RowShares {
  private readonly most: number
  private readonly shares = new Map<string, Share>()
  /** What was there before this process is counted once. */
  private isCounted = false

  constructor(most: number) {
    this.most = most
  }

  noted(tenantId: string, rows: number): void {
    const share = this.shares.get(tenantId)
    if (share === undefined) this.shares.set(tenantId, { written: rows, room: 0 })
    else share.written += rows
  }

  /** Whose rows are to be counted. */
  due(): readonly string[] {
    const due: string[] = []
    for (const [tenantId, { written, room }] of this.shares)
      if (written > 0 && written >= room * OWN_PART) due.push(tenantId)
    return due
  }

  /** Removes at most `atOnce` rows of each tenant that has too many; whether there are more. */
  async cut(
    atOnce: number,
    rowsOf: (tenantIds: readonly string[] | undefined) => Promise<readonly TenantRows[]>,
    removeOldest: (tenantId: string, rows: number) => Promise<unknown>,
  ): Promise<boolean> {
    const due = this.due()
    const asked = this.isCounted ? due.slice(0, TENANTS_AT_ONCE) : undefined
    if (asked?.length === 0) return false
    let isMore = asked !== undefined && asked.length < due.length
    const found = await rowsOf(asked)
    // Who has none is not among them.
    for (const tenantId of asked ?? due) this.counted(tenantId, 0)
    for (const { tenantId, rows } of found) {
      const removed = Math.min(Math.max(0, rows - this.most), atOnce)
      if (removed > 0) await removeOldest(tenantId, removed)
      this.counted(tenantId, rows - removed)
      if (rows - removed <= this.most) continue
      // Counted by the next sweep.
      this.noted(tenantId, 1)
      isMore = true
    }
    this.isCounted = true
    return isMore
  }

  counted(tenantId: string, rows: number): void {
    this.shares.set(tenantId, { written: 0, room: Math.max(0, this.most - rows) })
  }
}
