/** What people may ask of parked lanes, wherever in the cluster these are. */
import type { Erased } from '../../model/erased.ts'
import type { ParkedPage, ParkedQuery } from './parked-list.ts'

/** A process that has all lanes itself answers at once. */
export interface ParkingControl {
  list(query: ParkedQuery): ParkedPage | Promise<ParkedPage>
  /** Tries the lane now. `tenantId`: only where it is this tenant's; undefined: whosever it is. False where there is none such. */
  retryNow(id: string, tenantId: string | undefined): boolean | Promise<boolean>
  /** Makes dead letters of the whole lane; what is in process ends first. As `retryNow`. */
  giveUp(id: string, tenantId: string | undefined): boolean | Promise<boolean>
  /** Takes what is parked no more out of the files too. */
  eraseRemoved(): Promise<Erased>
}

/** Of a process that has no lanes, and knows of nobody who has. */
export const NO_LANES: ParkingControl = {
  list: () => ({ lanes: [], total: 0 }),
  retryNow: () => false,
  giveUp: () => false,
  eraseRemoved: () => Promise.resolve({ isGone: true }),
}
