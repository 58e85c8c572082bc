/** For tests: a store that dies at one of its durable steps, found by counting them. What happens after that does not reach the disk. */
import type { EntityStore } from '../../storage/entities/entity-store.ts'

export class Killed extends Error {}

export interface KilledStore {
  readonly store: EntityStore
  readonly isDead: boolean
  /** Steps count from now on: what a start writes is no part of the change. */
  arm(): void
}

/** `before`: the step is never made; `after`: it is, and nobody hears of it. */
export type KillPoint = { readonly step: number; readonly when: 'before' | 'after' }

export function killedAt(inner: EntityStore, point: KillPoint): KilledStore {
  let [step, isDead, isArmed] = [0, false, false]
  const die = (): never => {
    isDead = true
    throw new Killed(`killed ${point.when} step ${point.step}`)
  }
  const store: EntityStore = {
    ...inner,
    async write(statements) {
      if (isDead) throw new Killed('dead')
      const isLast = isArmed && ++step === point.step
      if (isLast && point.when === 'before') die()
      const written = await inner.write(statements)
      return isLast ? die() : written
    },
    close: () => Promise.resolve(),
  }
  return {
    store,
    arm: () => void (isArmed = true),
    get isDead() {
      return isDead
    },
  }
}

/** Every place in turn, until `run` comes through without a kill. Answers how many steps there are. */
export async function atEveryStep(
  store: EntityStore,
  run: (killed: KilledStore, point: KillPoint) => Promise<void>,
): Promise<number> {
  for (let step = 1; ; step++) {
    for (const when of ['before', 'after'] as const) {
      const point = { step, when }
      const killed = killedAt(store, point)
      await run(killed, point)
      if (!killed.isDead) return step - 1
    }
  }
}
