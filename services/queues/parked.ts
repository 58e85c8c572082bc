/** Parked lanes of one tenant, or of all for the system administrator. Those of other tenants do not exist for the caller. */
import type { Page, PageQuery } from '../../model/entities.ts'
import type { ParkingControl } from '../../engine/parking/control.ts'
import type { ParkedLaneView } from '../../engine/parking/parked-list.ts'
import { ServiceErrors } from '../errors.ts'
import type { ParkedLaneService } from './parked-lane-service.ts'

/** Beyond it nobody looks page by page. */
const MAX_OFFSET = 1_000_000

export class ParkedLanes implements ParkedLaneService {
  private readonly control: ParkingControl

  constructor(control: ParkingControl) {
    this.control = control
  }

  async page(tenantId: string | undefined, { pageSize, page }: PageQuery): Promise<Page<ParkedLaneView>> {
    const limit = Math.min(pageSize, 1000)
    const offset = Math.min(page * limit, MAX_OFFSET)
    const { lanes, total } = await this.control.list({ tenantId, offset, limit })
    return {
      data: lanes,
      totalElements: total,
      totalPages: Math.ceil(total / limit),
      hasNext: offset + lanes.length < total,
    }
  }

  async retryNow(tenantId: string | undefined, id: string): Promise<void> {
    if (!(await this.control.retryNow(id, tenantId))) throw ServiceErrors.PARKED_LANE_GONE()
  }

  async giveUp(tenantId: string | undefined, id: string): Promise<void> {
    if (!(await this.control.giveUp(id, tenantId))) throw ServiceErrors.PARKED_LANE_GONE()
  }
}
