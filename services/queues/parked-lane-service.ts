/** Lanes that wait for a retry, as a tenant sees them. */
import type { ParkedLaneView } from '../../engine/parking/parked-list.ts'
import type { Page, PageQuery } from '../../model/entities.ts'

export interface ParkedLaneService {
  /** Of a tenant, or of all where `tenantId` is undefined. */
  page(tenantId: string | undefined, query: PageQuery): Promise<Page<ParkedLaneView>>
  /** Tries the lane now. Throws PARKED_LANE_GONE (404), also where it is another tenant's. */
  retryNow(tenantId: string | undefined, id: string): Promise<void>
  /** Moves the whole lane to the dead letters. Throws as `retryNow`. */
  giveUp(tenantId: string | undefined, id: string): Promise<void>
}

export type { ParkedLaneView }
