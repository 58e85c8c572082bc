/**
 * Fan-out of committed changes. Lists of listeners are copied when one comes or goes, not when a change is published: a
 * publish costs one map look-up where nobody listens, and listeners may leave in the middle of it.
 */
import type { EntityId } from '../../model/entity-id.ts'
import type { Change, ChangeFeed, ChangeKind, ChangeListener, ChangeOf } from './change.ts'

interface Registration {
  readonly listener: ChangeListener
  active: boolean
}

const NOBODY: readonly Registration[] = []

export class InProcessChangeFeed implements ChangeFeed {
  private readonly everywhere = new Map<ChangeKind, readonly Registration[]>()
  /** By the entity's UUID, which is unique over all types. */
  private readonly byEntity = new Map<string, readonly Registration[]>()
  private readonly report: (error: unknown) => void

  /** `report` hears of a listener that threw; the other listeners hear the change all the same. */
  constructor(report: (error: unknown) => void) {
    this.report = report
  }

  publish(change: Change): void {
    this.tell(this.everywhere.get(change.kind) ?? NOBODY, change)
    this.tell(this.byEntity.get(change.entity.id) ?? NOBODY, change)
  }

  listenToAll<Kind extends ChangeKind>(kinds: readonly Kind[], listener: (change: ChangeOf<Kind>) => void): () => void {
    const registration: Registration = {
      listener: (change) => {
        if (isOneOf<Kind>(change, kinds)) listener(change)
      },
      active: true,
    }
    for (const kind of kinds) add(this.everywhere, kind, registration)
    return () => {
      registration.active = false
      for (const kind of kinds) remove(this.everywhere, kind, registration)
    }
  }

  listen(entity: EntityId, listener: ChangeListener): () => void {
    const registration: Registration = { listener, active: true }
    add(this.byEntity, entity.id, registration)
    return () => {
      registration.active = false
      remove(this.byEntity, entity.id, registration)
    }
  }

  settled(): Promise<void> {
    return Promise.resolve()
  }

  /** Nothing is missed within one process. */
  onGap(_listener: (since: number) => void): () => void {
    return () => undefined
  }

  hasListeners(entity: EntityId, kind: ChangeKind): boolean {
    return this.everywhere.has(kind) || this.byEntity.has(entity.id)
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

function isOneOf<Kind extends ChangeKind>(change: Change, kinds: readonly ChangeKind[]): change is ChangeOf<Kind> {
  return kinds.includes(change.kind)
}

function add<Key>(lists: Map<Key, readonly Registration[]>, key: Key, registration: Registration): void {
  lists.set(key, [...(lists.get(key) ?? NOBODY), registration])
}

function remove<Key>(lists: Map<Key, readonly Registration[]>, key: Key, registration: Registration): void {
  const left = (lists.get(key) ?? NOBODY).filter((other) => other !== registration)
  if (left.length === 0) lists.delete(key)
  else lists.set(key, left)
}

export function createChangeFeed(report: (error: unknown) => void): ChangeFeed {
  return new InProcessChangeFeed(report)
}
