/** Callers of a service that all tenants share, such as the system's mail server: a tenant has a part of the places. */
import type { Clock } from '../../model/clock.ts'
import { CallRoom, type RoomLimits } from './call-room.ts'
import { OutboundErrors } from './errors.ts'

export class SharedTurns {
  private readonly room: CallRoom
  private readonly clock: Clock
  private readonly timeoutMs: number

  constructor(clock: Clock, timeoutMs: number, limits: RoomLimits) {
    this.room = new CallRoom(limits)
    this.clock = clock
    this.timeoutMs = timeoutMs
  }

  /** Throws `TIMEOUT` where no place is free in time (`ms`), `CALL_TOO_BIG`, `TENANT_FULL`. */
  async inTurn<Result>(
    tenantId: string,
    bytes: number,
    run: () => Promise<Result>,
    ms = this.timeoutMs,
  ): Promise<Result> {
    const abort = new AbortController()
    const timer = this.clock.after(ms, () => abort.abort(OutboundErrors.TIMEOUT({ ms })))
    try {
      const place = await this.room.enter(tenantId, bytes, abort.signal)
      try {
        return await run()
      } finally {
        place.leave()
      }
    } finally {
      timer.cancel()
    }
  }
}
