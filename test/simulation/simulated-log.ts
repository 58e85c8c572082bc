/** The link as the outbox sees it: what is stored, in its order, after a while; or refused, and not stored. */
import type { Clock } from '../../model/clock.ts'
import type { Message } from '../../model/message.ts'
import type { SeededRandom } from '../../engine/actor/testkit.ts'
import { RecordingLink } from '../../engine/device/testkit.ts'
import { LinkErrors } from '../../engine/link/errors.ts'
import type { Link, PublishBound, PublishReceipt } from '../../engine/link/link.ts'
import type { RunClock } from './run-clock.ts'

export class SimulatedLog {
  refusals = 0
  readonly stored: Message[] = []
  private readonly clock: Clock
  private readonly random: SeededRandom

  constructor(clock: Clock, random: SeededRandom) {
    this.clock = clock
    this.random = random
  }

  /** As a process with this clock sees it. */
  connect(clock: RunClock): Link & PublishBound {
    let arrivesAtMs = 0
    const inFlight = new Set<PublishReceipt>()
    const publish = (message: Message, receipt: PublishReceipt): void => {
      const now = this.clock.monotonic()
      arrivesAtMs = Math.max(arrivesAtMs, now + this.random.next() * 20)
      inFlight.add(receipt)
      if (this.random.chance(this.refusals)) clock.soon(refuseAll)
      this.clock.after(arrivesAtMs - now, () => {
        // What was on its way when its process died may be stored or not.
        if (!inFlight.delete(receipt) || (!clock.isAlive && this.random.chance(0.5))) return
        this.stored.push(message)
        clock.arrive(() => receipt.stored())
      })
    }
    /** As the link does: with a frame goes all that waits behind it. */
    const refuseAll = (): void => {
      const refused = [...inFlight]
      inFlight.clear()
      for (const receipt of refused) receipt.refused(LinkErrors.BROKER_AWAY({ reason: 'away' }))
    }
    return Object.assign(new RecordingLink(), { publish, checkFits: () => undefined })
  }
}
