/**
 * Fan-out of committed changes. Lists of listeners are copied when one comes or goes, not when a change is published: a
 * publish costs one map look-up where nobody listens, and listeners may leave in the middle of it.
 */
import type { EntityId } from '../../model/entity-id.ts'
import type { Change, ChangeFeed, ChangeListener } from './change.ts'

interface Registration {
  readonly listener: ChangeListener
  active: boolean
}

const NOBODY: readonly Registration[] = []

export class InProcessChangeFeed implements ChangeFeed {
  private everywhere: readonly Registration[] = NOBODY
  /** By the entity's UUID, which is unique over all types. */
  private readonly byEntity = new Map<string, readonly Registration[]>()
  private readonly report: (error: unknown) => void

  /** `report` hears of a listener that threw; the other listeners hear the change all the same. */
  constructor(report: (error: unknown) => void) {
    this.report = report
  }

  publish(change: Change): void {
    this.tell(this.everywhere, change)
    this.tell(this.byEntity.get(change.entity.id) ?? NOBODY, change)
  }

  listenToAll(listener: ChangeListener): () => void {
    const registration: Registration = { listener, active: true }
    this.everywhere = [...this.everywhere, registration]
    return () => {
      registration.active = false
      this.everywhere = this.everywhere.filter((other) => other !== registration)
    }
  }

  listen(entity: EntityId, listener: ChangeListener): () => void {
    const registration: Registration = { listener, active: true }
    this.byEntity.set(entity.id, [...(this.byEntity.get(entity.id) ?? NOBODY), registration])
    return () => {
      if (!registration.active) return
      registration.active = false
      const left = (this.byEntity.get(entity.id) ?? NOBODY).filter((other) => other !== registration)
      if (left.length === 0) this.byEntity.delete(entity.id)
      else this.byEntity.set(entity.id, left)
    }
  }

  hasListeners(entity: EntityId): boolean {
    return this.everywhere.length > 0 || this.byEntity.has(entity.id)
  }

  private tell(registrations: readonly Registration[], change: Change): void {
    for (const registration of registrations) {
      if (!registration.active) continue
      try {
        registration.listener(change)
      } catch (error) {
        this.report(error)
      }
    }
  }
}

export function createChangeFeed(report: (error: unknown) => void): ChangeFeed {
  return new InProcessChangeFeed(report)
}
