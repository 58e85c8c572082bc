/** What people may ask of parked lanes, wherever in the cluster these are. */
import type { Erased } from '../../model/erased.ts'
import type { Parking } from './parking.ts'
import type { ParkedPage, ParkedQuery } from './parked-list.ts'

export interface ParkingControl {
  list(query: ParkedQuery): Promise<ParkedPage>
  /** Tries the lane now. `tenantId`: only where it is this tenant's; undefined: whosever it is. False where there is none such. */
  retryNow(id: string, tenantId: string | undefined): Promise<boolean>
  /** Makes dead letters of the whole lane. As `retryNow`. */
  giveUp(id: string, tenantId: string | undefined): Promise<boolean>
  /** Takes what is parked no more out of the files too. */
  eraseRemoved(): Promise<Erased>
}

/** Of a process that has all lanes itself. */
export function localControl(parking: Parking): ParkingControl {
  return {
    list: (query) => Promise.resolve(parking.list(query)),
    retryNow: (id, tenantId) => Promise.resolve(parking.retryNow(id, tenantId)),
    giveUp: (id, tenantId) => Promise.resolve(parking.giveUp(id, tenantId)),
    eraseRemoved: () => parking.eraseRemoved(),
  }
}

/** Of a process that has no lanes, and knows of nobody who has. */
export const NO_LANES: ParkingControl = {
  list: () => Promise.resolve({ lanes: [], total: 0 }),
  retryNow: () => Promise.resolve(false),
  giveUp: () => Promise.resolve(false),
  eraseRemoved: () => Promise.resolve({ isGone: true }),
}
