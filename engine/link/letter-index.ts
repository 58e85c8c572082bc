/** Where the letters of a store are, by tenant, and whose go when there are too many. */
import type { SegmentFile } from '../../disk/segment-file.ts'

export interface LetterPlace {
  readonly tenantId: string
  /** When it was buried, Unix ms. */
  readonly time: number
  readonly segment: SegmentFile
  readonly offset: number
  readonly bytes: number
}

interface TenantLetters {
  /** Oldest first. */
  readonly places: Map<number, LetterPlace>
  bytes: number
}

export class LetterIndex {
  private readonly tenantOf = new Map<number, string>()
  private readonly tenants = new Map<string, TenantLetters>()
  /** Of the letters that are there: what their files hold besides is not counted. */
  private allBytes = 0

  get count(): number {
    return this.tenantOf.size
  }

  get(id: number): LetterPlace | undefined {
    return this.tenants.get(this.tenantOf.get(id) ?? '')?.places.get(id)
  }

  has(id: number): boolean {
    return this.tenantOf.has(id)
  }

  /** A letter that is there keeps its age: it was only written again. */
  set(id: number, place: LetterPlace): void {
    const known = this.get(id)
    if (known !== undefined && known.tenantId !== place.tenantId) this.delete(id)
    let tenant = this.tenants.get(place.tenantId)
    if (tenant === undefined) this.tenants.set(place.tenantId, (tenant = { places: new Map(), bytes: 0 }))
    const grown = place.bytes - (tenant.places.get(id)?.bytes ?? 0)
    tenant.places.set(id, place)
    tenant.bytes += grown
    this.allBytes += grown
    this.tenantOf.set(id, place.tenantId)
  }

  delete(id: number): void {
    const tenantId = this.tenantOf.get(id)
    const tenant = tenantId === undefined ? undefined : this.tenants.get(tenantId)
    const place = tenant?.places.get(id)
    if (tenantId === undefined || tenant === undefined || place === undefined) return
    this.tenantOf.delete(id)
    tenant.places.delete(id)
    tenant.bytes -= place.bytes
    this.allBytes -= place.bytes
    if (tenant.places.size === 0) this.tenants.delete(tenantId)
  }

  /** Ascending; of one tenant, or of all. */
  idsAfter(after: number, tenantId: string | undefined): number[] {
    const ids = tenantId === undefined ? this.tenantOf.keys() : (this.tenants.get(tenantId)?.places.keys() ?? [])
    return [...ids].filter((id) => id > after).sort((a, b) => a - b)
  }

  /** The letters that stand in a file. */
  in(segment: SegmentFile): [id: number, place: LetterPlace][] {
    const found: [number, LetterPlace][] = []
    for (const { places } of this.tenants.values()) {
      for (const [id, place] of places) if (place.segment === segment) found.push([id, place])
    }
    return found
  }

  holds(segment: SegmentFile): boolean {
    for (const { places } of this.tenants.values()) {
      for (const place of places.values()) if (place.segment === segment) return true
    }
    return false
  }

  /** After a start: letters that were moved to a newer file stand behind younger ones there. */
  sortByTime(): void {
    for (const { places } of this.tenants.values()) {
      const sorted = [...places].sort(([, a], [, b]) => a.time - b.time)
      places.clear()
      for (const [id, place] of sorted) places.set(id, place)
    }
  }

  /**
   * Drops letters until there are no more than `most`: always the oldest of the tenant that holds the most, which is one beyond its share,
   * since not all can hold more than the average.
   */
  dropBeyond(most: { readonly count: number; readonly bytes: number }): number[] {
    const dropped: number[] = []
    while (this.count > most.count) this.dropOldest(dropped, ({ places }) => places.size)
    while (this.allBytes > most.bytes) this.dropOldest(dropped, ({ bytes }) => bytes)
    return dropped
  }

  private dropOldest(dropped: number[], sizeOf: (tenant: TenantLetters) => number): void {
    let largest: TenantLetters | undefined
    let largestSize = 0
    for (const tenant of this.tenants.values()) {
      const size = sizeOf(tenant)
      if (size <= largestSize) continue
      largest = tenant
      largestSize = size
    }
    for (const id of largest?.places.keys() ?? []) {
      this.delete(id)
      dropped.push(id)
      return
    }
    throw new Error('no letter is there to be dropped')
  }
}
